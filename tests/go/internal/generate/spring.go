package generate

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

// springTrap puts the flaw of the case into its objects. The traps that are missing here consist
// of a gate or of features that are wanted together.
func (w *world) springTrap() {
	switch w.trap {
	case trapMissingClass:
		*w.anyRequest().class() = "missing"
	case trapTooMany:
		w.askTooMany()
	case trapCELRuntime:
		w.addFailing(pick(w.rng,
			`device.attributes["gpu.example.com"].absent == "x"`,
			`device.attributes[device.driver].absent`,
			`device.capacity[device.driver].absent.isGreaterThan(quantity("1"))`,
			`device.attributes[device.driver].?numa.orValue(0) / 0 == 1`,
			`device.attributes[device.driver].model > 3`,
			`[1, 2][device.attributes[device.driver].?index.orValue(7) + 2] == 1`,
			`semver(device.driver).major() == 1`,
		))
	case trapDerivedRuntime:
		w.changeDerived(pick(w.rng,
			`device.attributes[device.driver].absent`,
			`device.capacity[device.driver].absent.isGreaterThan(quantity("1"))`,
			`int(device.driver)`,
		))
	case trapHugeCapacity:
		w.askCapacity(w.hugeFor)
	case trapNegativeCapacity:
		w.askCapacity(negativeFor)
	case trapNodeSelector:
		w.breakNodeSelector()
	case trapSelectorTerms:
		w.addSelectorTerms()
	case trapAllConstraint:
		w.constrainAll()
	default:
		if w.trap.foreign() {
			w.springForeignTrap()
		}
	}
}

// anyRequest returns one of the requests of the claims to allocate, of a prioritized list one of
// the alternatives.
func (w *world) anyRequest() requestRef { return pick(w.rng, w.requests()...) }

// requestRef is a request or an alternative of one.
type requestRef struct {
	exactly *resourceapi.ExactDeviceRequest
	sub     *resourceapi.DeviceSubRequest
}

// claimWithRequests returns the first claim to allocate that asks for something.
func (w *world) claimWithRequests() *resourceapi.DeviceClaim {
	at := slices.IndexFunc(w.pending, func(c *resourceapi.ResourceClaim) bool { return len(c.Spec.Devices.Requests) > 0 })
	return &w.pending[at].Spec.Devices
}

func (w *world) requests() []requestRef {
	var out []requestRef
	for _, claim := range w.pending {
		for i := range claim.Spec.Devices.Requests {
			request := &claim.Spec.Devices.Requests[i]
			if request.Exactly != nil {
				out = append(out, requestRef{exactly: request.Exactly})
			}
			for j := range request.FirstAvailable {
				out = append(out, requestRef{sub: &request.FirstAvailable[j]})
			}
		}
	}
	return out
}

func (r requestRef) class() *string {
	if r.exactly != nil {
		return &r.exactly.DeviceClassName
	}
	return &r.sub.DeviceClassName
}

func (r requestRef) selectors() *[]resourceapi.DeviceSelector {
	if r.exactly != nil {
		return &r.exactly.Selectors
	}
	return &r.sub.Selectors
}

func (r requestRef) mode() (*resourceapi.DeviceAllocationMode, *int64) {
	if r.exactly != nil {
		return &r.exactly.AllocationMode, &r.exactly.Count
	}
	return &r.sub.AllocationMode, &r.sub.Count
}

func (r requestRef) capacity() **resourceapi.CapacityRequirements {
	if r.exactly != nil {
		return &r.exactly.Capacity
	}
	return &r.sub.Capacity
}

func (r requestRef) derived() []resourceapi.DeviceDerivedAttribute {
	if r.exactly != nil {
		return r.exactly.DerivedAttributes
	}
	return r.sub.DerivedAttributes
}

// askTooMany asks for more than the 32 devices that fit into one claim, alone or in sum.
func (w *world) askTooMany() {
	claim := w.claimWithRequests()
	requests := claim.Requests
	first := int64(pick(w.rng, 33, 40, 100, 1<<40))
	if len(requests) > 1 && w.chance(0.6) {
		first = 17
	}
	for i := range requests {
		request := &requests[i]
		if request.Exactly != nil {
			request.Exactly.AllocationMode, request.Exactly.Count = resourceapi.DeviceAllocationModeExactCount, first
		}
		for j := range request.FirstAvailable {
			// The limit applies to the alternative with the fewest devices.
			sub := &request.FirstAvailable[j]
			sub.AllocationMode, sub.Count = resourceapi.DeviceAllocationModeExactCount, first+int64(j)
		}
	}
}

// addFailing appends a selector that cannot be compiled or evaluated. It is reached only by
// devices that pass the selectors before it.
func (w *world) addFailing(expression string) {
	request := w.anyRequest()
	if w.chance(0.7) {
		selectors := request.selectors()
		*selectors = append(*selectors, selectorsOf(expression)...)
		return
	}
	name := *request.class()
	for _, class := range w.classes {
		if class.Name == name {
			class.Spec.Selectors = append(class.Spec.Selectors, selectorsOf(expression)...)
		}
	}
}

func (w *world) changeDerived(expression string) {
	all, changed := w.chance(0.5), false
	for _, request := range w.requests() {
		for i := range request.derived() {
			if all || !changed {
				request.derived()[i].Expression = expression
				changed = true
			}
		}
	}
	if !changed {
		w.trap = noTrap
	}
}

// askCapacity adds an amount to a request that asks for capacity which exists.
func (w *world) askCapacity(amountFor func(resourceapi.DeviceCapacity) *resource.Quantity) {
	for _, d := range shuffled(w.rng, devicesOf(w.pools)) {
		if !d.reachable || d.pool.broken {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
			amount := amountFor(d.Capacity[name])
			if amount == nil {
				continue
			}
			// One capacity alone: with two flawed ones, the order of a Go map decides which of
			// them the error names.
			capacity := w.anyRequest().capacity()
			*capacity = &resourceapi.CapacityRequirements{Requests: map[resourceapi.QualifiedName]resource.Quantity{name: *amount}}
			return
		}
	}
}

// hugeFor returns an amount that rounding up to a step of the range cannot represent.
func (w *world) hugeFor(capacity resourceapi.DeviceCapacity) *resource.Quantity {
	if capacity.RequestPolicy == nil || capacity.RequestPolicy.ValidRange == nil || capacity.RequestPolicy.ValidRange.Step == nil {
		return nil
	}
	huge := pick(w.rng, "10E", "9223372036854775807", "9300P", "1e30")
	return ptr.To(resource.MustParse(huge))
}

// negativeFor returns a negative amount where no policy replaces it by a valid one.
func negativeFor(capacity resourceapi.DeviceCapacity) *resource.Quantity {
	policy := capacity.RequestPolicy
	if policy != nil && (policy.ValidRange != nil || len(policy.ValidValues) > 0) {
		return nil
	}
	return ptr.To(resource.MustParse("-1Gi"))
}

// breakNodeSelector makes a node selector unparsable in the way that API validation lets through:
// the operators Gt and Lt need a number.
func (w *world) breakNodeSelector() {
	term := v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{
		Key: rackLabel, Operator: pick(w.rng, v1.NodeSelectorOpGt, v1.NodeSelectorOpLt), Values: []string{"high"},
	}}}
	for _, p := range w.pools {
		for _, slice := range p.slices {
			if slice.Spec.NodeSelector != nil {
				slice.Spec.NodeSelector = selectorOf(term)
				return
			}
		}
	}
	for _, d := range devicesOf(w.pools) {
		if d.NodeSelector != nil {
			d.NodeSelector = selectorOf(term)
			return
		}
	}
}

// addSelectorTerms gives the node selectors of devices a second term. API validation refuses that
// for a slice, but not for its devices, and createNodeSelector in allocator_incubating.go gives up
// on it after the search.
func (w *world) addSelectorTerms() {
	for _, d := range devicesOf(w.pools) {
		if !ptr.Deref(d.slice.Spec.PerDeviceNodeSelection, false) || w.chance(0.2) {
			continue
		}
		d.NodeName, d.AllNodes = nil, nil
		d.NodeSelector = selectorOf(w.requirement(true))
		d.NodeSelector.NodeSelectorTerms = append(d.NodeSelector.NodeSelectorTerms, w.requirement(w.chance(0.5)))
	}
}

// constrainAll asks for all devices and ties them to an attribute that they do not have in common.
func (w *world) constrainAll() {
	claim := w.claimWithRequests()
	request := &claim.Requests[0]
	request.FirstAvailable = nil
	request.Exactly = &resourceapi.ExactDeviceRequest{
		DeviceClassName: pick(w.rng, anyClass, driverClass(w.pools[0].driver)),
		AllocationMode:  resourceapi.DeviceAllocationModeAll,
		Tolerations:     []resourceapi.DeviceToleration{{Operator: resourceapi.DeviceTolerationOpExists}},
	}
	attribute := pick[resourceapi.FullyQualifiedName](w.rng, gpuDriver+"/index", nicDriver+"/index", "other.example.com/absent")
	claim.Constraints = []resourceapi.DeviceConstraint{{MatchAttribute: &attribute}}
	// Names of alternatives that are gone may not be referred to, nor may derived attributes stay
	// without a constraint on them.
	claim.Config = nil
	for i := range claim.Requests {
		request := &claim.Requests[i]
		if request.Exactly != nil {
			request.Exactly.DerivedAttributes = nil
		}
		for j := range request.FirstAvailable {
			request.FirstAvailable[j].DerivedAttributes = nil
		}
	}
}
