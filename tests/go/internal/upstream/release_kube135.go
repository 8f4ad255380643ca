//go:build kube135

package upstream

import (
	"errors"

	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"kubectl-dra.test/internal/cases"
)

// Minor and Version of Kubernetes that the libraries belong to. The staging modules have the same numbers.
const (
	Minor   = 35
	Version = "1.35.10"
)

// structuredFeatures mirrors AllocatorFeatures.
func structuredFeatures(c *cases.Case) structured.Features {
	f := c.Features
	return structured.Features{
		AdminAccess:            f.AdminAccess,
		ConsumableCapacity:     f.ConsumableCapacity,
		DeviceBindingAndStatus: f.DeviceBindingAndStatus,
		DeviceTaints:           f.DeviceTaints,
		PartitionableDevices:   f.PartitionableDevices,
		PrioritizedList:        f.PrioritizedList,
	}
}

func failedOnNode(err error) bool { return errors.Is(err, structured.ErrFailedAllocationOnNode) }

func celFeatures(consumableCapacity, _ bool) cel.Features {
	return cel.Features{EnableConsumableCapacity: consumableCapacity}
}
