package generate

import (
	"fmt"
	"maps"
	"slices"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"kubectl-dra.test/internal/features"
)

const (
	memoryCapacity      resourceapi.QualifiedName = "memory"
	coresCapacity       resourceapi.QualifiedName = "cores"
	connectionsCapacity resourceapi.QualifiedName = "connections"
)

func quantity(format string, args ...any) resource.Quantity {
	return resource.MustParse(fmt.Sprintf(format, args...))
}

func quantityRef(format string, args ...any) *resource.Quantity {
	return ptr.To(quantity(format, args...))
}

// addCapacity gives a device its capacities and decides whether it can be shared. Only shared
// devices may have request policies.
func (w *world) addCapacity(p *pool, d *resourceapi.Device) {
	memory := 16
	if w.chance(w.variety) {
		memory = pick(w.rng, 8, 16, 40)
	}
	shared := p.features[features.SharedDevices] && w.chance(0.65)
	if !w.chance(0.1) {
		d.Capacity[memoryCapacity] = resourceapi.DeviceCapacity{Value: quantity("%dGi", memory)}
	}
	if w.chance(0.25) || p.features[features.FractionalRange] {
		d.Capacity[coresCapacity] = resourceapi.DeviceCapacity{Value: quantity("%d", w.between(2, 4))}
	}
	if !shared {
		if w.chance(0.1) {
			d.AllowMultipleAllocations = ptr.To(false)
		}
		return
	}
	d.AllowMultipleAllocations = ptr.To(true)
	if w.chance(0.15) {
		d.Capacity[connectionsCapacity] = resourceapi.DeviceCapacity{Value: quantity("%d", w.between(1, 3))}
	}
	w.addPolicies(p, d, memory)
	if len(d.Capacity) > 0 && w.chance(0.04) {
		// Without any capacity a device can be shared without limit.
		clear(d.Capacity)
	}
}

func (w *world) addPolicies(p *pool, d *resourceapi.Device, memory int) {
	var policies []func(int) *resourceapi.CapacityRequestPolicy
	if p.features[features.PolicyDefault] {
		policies = append(policies, w.defaultPolicy)
	}
	if p.features[features.PolicyRange] {
		policies = append(policies, w.rangePolicy)
	}
	if p.features[features.PolicyValues] {
		policies = append(policies, w.valuesPolicy)
	}
	if capacity, ok := d.Capacity[memoryCapacity]; ok && len(policies) > 0 && w.chance(0.85) {
		capacity.RequestPolicy = pick(w.rng, policies...)(memory)
		d.Capacity[memoryCapacity] = capacity
	}
	if capacity, ok := d.Capacity[coresCapacity]; ok && p.features[features.FractionalRange] && w.chance(0.85) {
		capacity.RequestPolicy = w.fractionalPolicy(capacity.Value.Value())
		d.Capacity[coresCapacity] = capacity
	}
}

func (w *world) defaultPolicy(memory int) *resourceapi.CapacityRequestPolicy {
	return &resourceapi.CapacityRequestPolicy{Default: quantityRef("%dGi", w.between(1, memory/2))}
}

// rangePolicy keeps the default and the maximum on the steps of the range, as the API demands.
func (w *world) rangePolicy(memory int) *resourceapi.CapacityRequestPolicy {
	low, step := w.between(1, 2), w.between(1, 3)
	steps := (memory - low) / step
	// What an amount is written with decides how one that was rounded is written.
	amount := pick(w.rng, "%dGi", "%dGi", "%dGi", "%dGi", "%dG")
	policy := &resourceapi.CapacityRequestPolicy{
		Default:    quantityRef(amount, low+step*w.between(0, min(2, steps))),
		ValidRange: &resourceapi.CapacityRequestPolicyRange{Min: quantityRef(amount, low)},
	}
	if w.chance(0.8) {
		policy.ValidRange.Step = quantityRef(amount, step)
	}
	if w.chance(0.5) {
		policy.ValidRange.Max = quantityRef(amount, low+step*w.between(min(2, steps), steps))
	}
	return policy
}

func (w *world) valuesPolicy(memory int) *resourceapi.CapacityRequestPolicy {
	values := some(w.rng, []int{1, 2, 3, 4, 6, 8}, w.between(1, 4))
	policy := &resourceapi.CapacityRequestPolicy{Default: quantityRef("%dGi", pick(w.rng, values...))}
	for _, value := range values {
		policy.ValidValues = append(policy.ValidValues, quantity("%dGi", value))
	}
	return policy
}

// fractionalPolicy is about parts of a core. Amounts are in milli-cores.
func (w *world) fractionalPolicy(cores int64) *resourceapi.CapacityRequestPolicy {
	step := int64(pick(w.rng, 100, 250, 500))
	low := step * int64(w.between(1, 2))
	steps := (cores*1000 - low) / step
	policy := &resourceapi.CapacityRequestPolicy{
		Default:    quantityRef("%dm", low+step*int64(w.between(0, 2))),
		ValidRange: &resourceapi.CapacityRequestPolicyRange{Min: quantityRef("%dm", low), Step: quantityRef("%dm", step)},
	}
	if w.chance(0.5) {
		policy.ValidRange.Max = quantityRef("%dm", low+step*(2+w.Int64N(max(1, steps-2))))
	}
	return policy
}

// capacityRequests asks for some of the capacity that all planned devices have.
func (w *world) capacityRequests(planned []device) *resourceapi.CapacityRequirements {
	requests := map[resourceapi.QualifiedName]resource.Quantity{}
	for _, name := range slices.Sorted(maps.Keys(planned[0].Capacity)) {
		smallest := planned[0].Capacity[name].Value
		for _, d := range planned {
			capacity, ok := d.Capacity[name]
			if !ok {
				smallest = resource.Quantity{}
				break
			}
			if capacity.Value.Cmp(smallest) < 0 {
				smallest = capacity.Value
			}
		}
		if smallest.IsZero() || !w.chance(0.75) {
			continue
		}
		switch name {
		case memoryCapacity:
			requests[name] = pick(w.rng, quantity("1Gi"), quantity("2Gi"), quantity("3Gi"), quantity("2500Mi"), quantity("1.5Gi"), quantity("4G"), quantity("6Gi"), smallest)
		case coresCapacity:
			requests[name] = pick(w.rng, quantity("1"), quantity("500m"), quantity("300m"), quantity("0.75"), quantity("1500m"), smallest)
		default:
			requests[name] = quantity("1")
		}
	}
	if w.chance(0.04) {
		// Only a literal key finds a capacity.
		requests[resourceapi.QualifiedName(planned[0].pool.driver)+"/memory"] = quantity("1Gi")
	}
	if len(requests) == 0 {
		return nil
	}
	return &resourceapi.CapacityRequirements{Requests: requests}
}
