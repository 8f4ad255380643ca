//go:build older

// Package stored brings the objects of a case into the form in which the API server of an older
// release stores them: without the fields that it does not know, and without those whose gate is
// off, which its strategies drop (pkg/registry/resource/*/strategy.go, pkg/api/resourceclaimspec).
//
// What such a server would refuse because of that is changed by the least that it takes: the
// result is what somebody would have created on that release in the first place.
package stored

import (
	"encoding/json"
	"fmt"
	"slices"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"kubectl-dra.test/internal/cases"
)

// beta are the gates that are on by default in a release. Objects written with them stay when the
// scheduler turns one off; for all others the API server's gate is like the scheduler's.
var beta = map[int][]string{
	34: {"DRAAdminAccess", "DRAPrioritizedList", "DRAResourceClaimDeviceStatus"},
	35: {"DRAAdminAccess", "DRAPrioritizedList", "DRAResourceClaimDeviceStatus"},
	36: {
		"DRAAdminAccess", "DRAConsumableCapacity", "DRADeviceBindingConditions", "DRADeviceTaints",
		"DRAPartitionableDevices", "DRAPrioritizedList", "DRAResourceClaimDeviceStatus",
	},
}

// Gates are those that a case sets.
var Gates = []string{
	"DRAAdminAccess", "DRAConsumableCapacity", "DRADeviceBindingConditions", "DRADeviceTaintRules",
	"DRADeviceTaints", "DRAPartitionableDevices", "DRAPrioritizedList", "DRAResourceClaimDeviceStatus",
}

// Reduce changes a case into one for the release. A case for the newest release gets the default
// gates, less those that it has off.
func Reduce(c *cases.Case, minor int, version string) (*cases.Objects, error) {
	if c.Release == nil {
		c.Release = &cases.Release{Minor: minor, Gates: defaults(minor, c.Features)}
	}
	if c.Release.Minor != minor {
		return nil, fmt.Errorf("the case is for Kubernetes 1.%d, this is 1.%d", c.Release.Minor, minor)
	}
	c.Release.Version, c.Expect, c.Work, c.Covers = version, nil, nil, nil
	gates := c.Release.Gates
	c.Features = cases.OfGates(gates)
	stores := func(gate string) bool { return gates[gate] || slices.Contains(beta[minor], gate) }
	for i, raw := range c.Objects {
		known, err := withoutLists(raw)
		if err != nil {
			return nil, err
		}
		c.Objects[i] = known
	}
	// Decoding drops what the types of the release do not have.
	objects, err := cases.DecodeObjects(c.Objects)
	if err != nil {
		return nil, err
	}
	if minor == 34 {
		moveCounters(objects)
	}
	for _, slice := range objects.Slices {
		reduceSlice(slice, stores)
	}
	objects.Slices = slices.DeleteFunc(objects.Slices, unreachable)
	for _, claim := range objects.Claims {
		if minor > 34 && !stores("DRADeviceTaints") {
			dropTolerations(&claim.Spec.Devices)
		}
		if !stores("DRAConsumableCapacity") {
			dropCapacity(claim, minor)
		}
	}
	return objects, encode(c, objects)
}

func defaults(minor int, features cases.Features) map[string]bool {
	gates := map[string]bool{}
	for _, gate := range Gates {
		gates[gate] = slices.Contains(beta[minor], gate)
	}
	for gate, on := range map[string]bool{
		// DRAAdminAccess is locked in 1.36.
		"DRAAdminAccess":             features.AdminAccess || minor == 36,
		"DRAConsumableCapacity":      features.ConsumableCapacity,
		"DRADeviceBindingConditions": features.DeviceBindingAndStatus,
		"DRADeviceTaints":            features.DeviceTaints,
		"DRAPartitionableDevices":    features.PartitionableDevices,
		"DRAPrioritizedList":         features.PrioritizedList,
	} {
		gates[gate] = gates[gate] && on
	}
	return gates
}

// withoutLists removes attributes that are lists from a slice: none of the releases stores them by
// default, and each refuses an attribute without a value.
func withoutLists(raw json.RawMessage) (json.RawMessage, error) {
	var slice map[string]any
	if err := json.Unmarshal(raw, &slice); err != nil {
		return nil, err
	}
	if slice["kind"] != "ResourceSlice" {
		return raw, nil
	}
	spec, _ := slice["spec"].(map[string]any)
	devices, _ := spec["devices"].([]any)
	for _, device := range devices {
		device, _ := device.(map[string]any)
		attributes, _ := device["attributes"].(map[string]any)
		for name, value := range attributes {
			value, _ := value.(map[string]any)
			scalar := false
			for _, field := range []string{"bool", "int", "string", "version"} {
				scalar = scalar || value[field] != nil
			}
			if !scalar {
				delete(attributes, name)
			}
		}
	}
	return json.Marshal(slice)
}

// moveCounters puts counter sets into the slices whose devices draw on them, as the API of 1.34
// has it. Slices that have nothing but counters go.
func moveCounters(objects *cases.Objects) {
	type set struct{ driver, pool, name string }
	sets := map[set]resourceapi.CounterSet{}
	for _, slice := range objects.Slices {
		for _, counters := range slice.Spec.SharedCounters {
			sets[set{slice.Spec.Driver, slice.Spec.Pool.Name, counters.Name}] = counters
		}
	}
	gone := map[string]int64{}
	objects.Slices = slices.DeleteFunc(objects.Slices, func(slice *resourceapi.ResourceSlice) bool {
		empty := len(slice.Spec.SharedCounters) > 0 && len(slice.Spec.Devices) == 0
		if empty {
			gone[poolOf(slice)]++
		}
		slice.Spec.SharedCounters = nil
		return empty
	})
	for _, slice := range objects.Slices {
		slice.Spec.Pool.ResourceSliceCount = max(1, slice.Spec.Pool.ResourceSliceCount-gone[poolOf(slice)])
		used := map[string]bool{}
		for _, device := range slice.Spec.Devices {
			for _, consumption := range device.ConsumesCounters {
				counters, known := sets[set{slice.Spec.Driver, slice.Spec.Pool.Name, consumption.CounterSet}]
				if known && !used[counters.Name] {
					used[counters.Name] = true
					slice.Spec.SharedCounters = append(slice.Spec.SharedCounters, *counters.DeepCopy())
				}
			}
		}
	}
}

// poolOf names the generation of a pool that a slice belongs to.
func poolOf(slice *resourceapi.ResourceSlice) string {
	return fmt.Sprintf("%s/%s#%d", slice.Spec.Driver, slice.Spec.Pool.Name, slice.Spec.Pool.Generation)
}

func reduceSlice(slice *resourceapi.ResourceSlice, stores func(string) bool) {
	spec := &slice.Spec
	if !stores("DRAPartitionableDevices") {
		spec.SharedCounters, spec.PerDeviceNodeSelection = nil, nil
	}
	for i := range spec.Devices {
		device := &spec.Devices[i]
		if !stores("DRAPartitionableDevices") {
			device.ConsumesCounters, device.NodeName, device.NodeSelector, device.AllNodes = nil, nil, nil, nil
		}
		if !stores("DRADeviceTaints") {
			device.Taints = nil
		}
		if !stores("DRADeviceBindingConditions") {
			device.BindingConditions, device.BindingFailureConditions, device.BindsToNode = nil, nil, nil
		}
		if !stores("DRAConsumableCapacity") {
			device.AllowMultipleAllocations = nil
			for name, capacity := range device.Capacity {
				capacity.RequestPolicy = nil
				device.Capacity[name] = capacity
			}
		}
	}
}

// unreachable is a slice that leaves the nodes to its devices, on a server that does not.
func unreachable(slice *resourceapi.ResourceSlice) bool {
	spec := &slice.Spec
	return spec.NodeName == nil && spec.NodeSelector == nil && !ptr.Deref(spec.AllNodes, false) && !ptr.Deref(spec.PerDeviceNodeSelection, false)
}

func dropTolerations(claim *resourceapi.DeviceClaim) {
	for i := range claim.Requests {
		request := &claim.Requests[i]
		if request.Exactly != nil {
			request.Exactly.Tolerations = nil
		}
		for j := range request.FirstAvailable {
			request.FirstAvailable[j].Tolerations = nil
		}
	}
}

func dropCapacity(claim *resourceapi.ResourceClaim, minor int) {
	devices := &claim.Spec.Devices
	for i := range devices.Requests {
		request := &devices.Requests[i]
		if request.Exactly != nil {
			request.Exactly.Capacity = nil
		}
		for j := range request.FirstAvailable {
			request.FirstAvailable[j].Capacity = nil
		}
	}
	if minor > 34 {
		// 1.34 means to drop distinctAttribute too, but changes a copy.
		devices.Constraints = slices.DeleteFunc(devices.Constraints, func(c resourceapi.DeviceConstraint) bool {
			return c.DistinctAttribute != nil
		})
	}
	if claim.Status.Allocation == nil {
		return
	}
	for i := range claim.Status.Allocation.Devices.Results {
		result := &claim.Status.Allocation.Devices.Results[i]
		result.ShareID, result.ConsumedCapacity = nil, nil
	}
}

func encode(c *cases.Case, objects *cases.Objects) error {
	c.Objects = nil
	for _, list := range [][]any{
		anys(objects.Nodes), anys(objects.Classes), anys(objects.Slices), anys(objects.Rules), anys(objects.Claims),
	} {
		for _, object := range list {
			raw, err := cases.EncodeObject(object)
			if err != nil {
				return err
			}
			c.Objects = append(c.Objects, raw)
		}
	}
	return nil
}

func anys[T any](list []T) []any {
	var out []any
	for _, one := range list {
		out = append(out, one)
	}
	return out
}
