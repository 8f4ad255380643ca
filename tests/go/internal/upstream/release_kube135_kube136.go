//go:build kube135 || kube136

package upstream

import (
	"errors"

	"k8s.io/dynamic-resource-allocation/structured"

	"kubectl-dra.test/internal/cases"
)

// structuredFeatures mirrors AllocatorFeatures. That of 1.36 gives DRAListTypeAttributes to selectors only.
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
