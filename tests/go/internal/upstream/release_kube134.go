//go:build kube134

package upstream

import (
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"kubectl-dra.test/internal/cases"
)

// Minor and Version of Kubernetes that the libraries belong to. The staging modules have the same numbers.
const (
	Minor   = 34
	Version = "1.34.13"
)

// structuredFeatures mirrors what the plugin passes in PreFilter: each of the two gates of binding conditions by itself.
func structuredFeatures(c *cases.Case) structured.Features {
	f := c.Features
	return structured.Features{
		AdminAccess:          f.AdminAccess,
		ConsumableCapacity:   f.ConsumableCapacity,
		DeviceBinding:        c.Release.Gates["DRADeviceBindingConditions"],
		DeviceStatus:         c.Release.Gates["DRAResourceClaimDeviceStatus"],
		DeviceTaints:         f.DeviceTaints,
		PartitionableDevices: f.PartitionableDevices,
		PrioritizedList:      f.PrioritizedList,
	}
}

// failedOnNode is false: the library has no such error, each one ends the attempt.
func failedOnNode(error) bool { return false }

func celFeatures(consumableCapacity, _ bool) cel.Features {
	return cel.Features{EnableConsumableCapacity: consumableCapacity}
}
