//go:build kube136

package upstream

import (
	"errors"

	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"kubectl-dra.test/internal/cases"
)

// Minor and Version of Kubernetes that the libraries belong to. The staging modules have the same numbers.
const (
	Minor   = 36
	Version = "1.36.6"
)

// structuredFeatures mirrors AllocatorFeatures: DRAListTypeAttributes reaches selectors only.
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

func celFeatures(consumableCapacity, listTypeAttributes bool) cel.Features {
	return cel.Features{EnableConsumableCapacity: consumableCapacity, EnableListTypeAttributes: listTypeAttributes}
}
