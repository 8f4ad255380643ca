package features

import (
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"kubectl-dra.test/internal/cases"
)

// Of finds the features of a case.
func Of(c *cases.Case, objects *cases.Objects) Set {
	found := Set{}
	gates := c.Features
	found.add(GatesOff, gatesOff(gates))
	pending := sets.New(c.Claims...)
	found.add(SeveralClaims, len(c.Claims) > 1)
	classes := sets.New[string]()
	for _, claim := range objects.Claims {
		if pending.Has(claim.Namespace + "/" + claim.Name) {
			found.addClaim(claim, gates, classes)
		}
	}
	for _, class := range objects.Classes {
		found.add(ClassConfig, classes.Has(class.Name) && len(class.Spec.Config) > 0)
	}
	found.add(TaintRules, gates.DeviceTaints && len(objects.Rules) > 0)
	current := found.addPools(objects.Slices, gates)
	for _, slice := range current {
		found.addSlice(slice, gates)
	}
	found.addUse(objects.Claims, objects.Slices)
	return found
}

func gatesOff(f cases.Features) bool {
	defaults := cases.DefaultFeatures()
	return defaults.AdminAccess && !f.AdminAccess ||
		defaults.ConsumableCapacity && !f.ConsumableCapacity ||
		defaults.DeviceBindingAndStatus && !f.DeviceBindingAndStatus ||
		defaults.DeviceTaints && !f.DeviceTaints ||
		defaults.PartitionableDevices && !f.PartitionableDevices ||
		defaults.PrioritizedList && !f.PrioritizedList
}

func (s Set) addClaim(claim *resourceapi.ResourceClaim, gates cases.Features, classes sets.Set[string]) {
	spec := &claim.Spec.Devices
	s.add(SeveralRequests, len(spec.Requests) > 1)
	s.add(ClaimConfig, len(spec.Config) > 0)
	for _, constraint := range spec.Constraints {
		s.add(MatchAttribute, constraint.MatchAttribute != nil)
		s.add(DistinctAttribute, constraint.DistinctAttribute != nil)
	}
	for _, request := range spec.Requests {
		s.add(PrioritizedList, len(request.FirstAvailable) > 0)
		if exactly := request.Exactly; exactly != nil {
			s.add(AdminAccess, ptr.Deref(exactly.AdminAccess, false))
			s.addRequest(&resourceapi.DeviceSubRequest{
				DeviceClassName:   exactly.DeviceClassName,
				Selectors:         exactly.Selectors,
				AllocationMode:    exactly.AllocationMode,
				Tolerations:       exactly.Tolerations,
				Capacity:          exactly.Capacity,
				DerivedAttributes: exactly.DerivedAttributes,
			}, gates, classes)
		}
		for i := range request.FirstAvailable {
			s.addRequest(&request.FirstAvailable[i], gates, classes)
		}
	}
}

func (s Set) addRequest(request *resourceapi.DeviceSubRequest, gates cases.Features, classes sets.Set[string]) {
	classes.Insert(request.DeviceClassName)
	s.add(ExactCount, request.AllocationMode == resourceapi.DeviceAllocationModeExactCount)
	s.add(AllMode, request.AllocationMode == resourceapi.DeviceAllocationModeAll)
	s.add(RequestSelectors, len(request.Selectors) > 0)
	s.add(Tolerations, len(request.Tolerations) > 0)
	s.add(CapacityRequests, request.Capacity != nil && len(request.Capacity.Requests) > 0)
	s.add(DerivedAttributes, gates.DerivedAttributes && len(request.DerivedAttributes) > 0)
}

type poolKey struct{ driver, pool string }

// addPools looks at pools as a whole and returns the slices of their newest generations.
func (s Set) addPools(all []*resourceapi.ResourceSlice, gates cases.Features) []*resourceapi.ResourceSlice {
	newest := map[poolKey]int64{}
	for _, slice := range all {
		key := poolKey{slice.Spec.Driver, slice.Spec.Pool.Name}
		if generation, ok := newest[key]; !ok || slice.Spec.Pool.Generation > generation {
			newest[key] = slice.Spec.Pool.Generation
		}
	}
	pools := map[poolKey][]*resourceapi.ResourceSlice{}
	var current []*resourceapi.ResourceSlice
	for _, slice := range all {
		key := poolKey{slice.Spec.Driver, slice.Spec.Pool.Name}
		if slice.Spec.Pool.Generation < newest[key] {
			s[OldGeneration] = true
			continue
		}
		pools[key] = append(pools[key], slice)
		current = append(current, slice)
	}
	for _, slices := range pools {
		s.add(IncompletePool, int64(len(slices)) != slices[0].Spec.Pool.ResourceSliceCount)
		s.add(InvalidPool, isInvalid(slices, gates.PartitionableDevices))
		s.add(MultiHostPool, isMultiHost(slices))
	}
	return current
}

func isMultiHost(slices []*resourceapi.ResourceSlice) bool {
	nodes := sets.New[string]()
	for _, slice := range slices {
		if slice.Spec.NodeName != nil {
			nodes.Insert(*slice.Spec.NodeName)
		}
		for _, device := range slice.Spec.Devices {
			if device.NodeName != nil {
				nodes.Insert(*device.NodeName)
			}
		}
		if slice.Spec.NodeSelector != nil || ptr.Deref(slice.Spec.AllNodes, false) {
			nodes.Insert("*")
		}
	}
	return nodes.Len() > 1
}

// isInvalid finds the same contradictions as buildPool in pools_incubating.go, over all slices of
// the pool instead of those for one node.
func isInvalid(slices []*resourceapi.ResourceSlice, partitionable bool) bool {
	devices := sets.New[string]()
	counterSets := map[string]sets.Set[string]{}
	for _, slice := range slices {
		for _, device := range slice.Spec.Devices {
			if devices.Has(device.Name) {
				return true
			}
			devices.Insert(device.Name)
		}
		for _, counterSet := range slice.Spec.SharedCounters {
			if counterSets[counterSet.Name] != nil {
				return true
			}
			counterSets[counterSet.Name] = sets.KeySet(counterSet.Counters)
		}
	}
	if !partitionable {
		return false
	}
	for _, slice := range slices {
		for _, device := range slice.Spec.Devices {
			for _, consumption := range device.ConsumesCounters {
				counters := counterSets[consumption.CounterSet]
				if counters == nil || !counters.IsSuperset(sets.KeySet(consumption.Counters)) {
					return true
				}
			}
		}
	}
	return false
}

func (s Set) addSlice(slice *resourceapi.ResourceSlice, gates cases.Features) {
	spec := &slice.Spec
	s.add(PerDeviceNodeSelection, ptr.Deref(spec.PerDeviceNodeSelection, false))
	s.add(NodeSelectorSlice, spec.NodeSelector != nil)
	s.add(AllNodesSlice, ptr.Deref(spec.AllNodes, false))
	s.add(OptionalNodeOperations, gates.OptionalNodeOperations && len(spec.SkipNodeOperations) > 0)
	for i := range spec.Devices {
		s.addDevice(&spec.Devices[i], gates)
	}
}

func (s Set) addDevice(device *resourceapi.Device, gates cases.Features) {
	s.add(SharedCounters, len(device.ConsumesCounters) > 0)
	s.add(BindingConditions, len(device.BindingConditions) > 0)
	s.add(SliceTaints, len(device.Taints) > 0)
	s.add(SharedDevices, ptr.Deref(device.AllowMultipleAllocations, false))
	for _, consumption := range device.ConsumesCounters {
		s.add(CompatibilityGroups, gates.CompatibilityGroups && len(consumption.CompatibilityGroups) > 0)
	}
	for _, attribute := range device.Attributes {
		isList := attribute.IntValues != nil || attribute.BoolValues != nil ||
			attribute.StringValues != nil || attribute.VersionValues != nil
		s.add(ListAttributes, gates.ListTypeAttributes && isList)
	}
	for _, capacity := range device.Capacity {
		policy := capacity.RequestPolicy
		if policy == nil {
			continue
		}
		s.add(PolicyRange, policy.ValidRange != nil)
		s.add(PolicyValues, len(policy.ValidValues) > 0)
		s.add(PolicyDefault, policy.ValidRange == nil && len(policy.ValidValues) == 0 && policy.Default != nil)
		s.add(FractionalRange, policy.ValidRange != nil && isFractional(policy.ValidRange))
	}
}

func isFractional(r *resourceapi.CapacityRequestPolicyRange) bool {
	return r.Min != nil && strings.HasSuffix(r.Min.String(), "m") ||
		r.Max != nil && strings.HasSuffix(r.Max.String(), "m") ||
		r.Step != nil && strings.HasSuffix(r.Step.String(), "m")
}

func (s Set) addUse(claims []*resourceapi.ResourceClaim, slices []*resourceapi.ResourceSlice) {
	type deviceKey struct{ driver, pool, device string }
	published := sets.New[deviceKey]()
	for _, slice := range slices {
		for _, device := range slice.Spec.Devices {
			published.Insert(deviceKey{slice.Spec.Driver, slice.Spec.Pool.Name, device.Name})
		}
	}
	for _, claim := range claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			if !published.Has(deviceKey{result.Driver, result.Pool, result.Device}) {
				s[UnpublishedInUse] = true
				continue
			}
			switch {
			case ptr.Deref(result.AdminAccess, false):
				s[AdminInUse] = true
			case result.ShareID != nil:
				s[SharesInUse] = true
			default:
				s[DevicesInUse] = true
			}
		}
	}
}
