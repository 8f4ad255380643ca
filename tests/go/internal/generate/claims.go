package generate

import (
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"kubectl-dra.test/internal/features"
)

// buildPending makes the claims to allocate.
func (w *world) buildPending() {
	if w.want[features.AdminAccess] {
		// Admin access takes a namespace with a label; all claims of a Pod are in the same one.
		w.namespace = "admin"
	}
	count := 1
	if w.want[features.SeveralClaims] {
		count = w.between(2, 3)
	}
	for i := range count {
		claim := &resourceapi.ResourceClaim{
			ObjectMeta: w.claimMeta(fmt.Sprintf("claim-%d", i)),
			Spec:       resourceapi.ResourceClaimSpec{Devices: w.newClaim(i == 0)},
		}
		w.pending = append(w.pending, claim)
	}
	if w.chance(0.2) {
		w.pending = shuffled(w.rng, w.pending)
	}
	if w.chance(0.1) {
		// A claim of another Pod, which does not matter.
		w.bystander = &resourceapi.ResourceClaim{
			ObjectMeta: w.claimMeta("another"),
			Spec:       resourceapi.ResourceClaimSpec{Devices: w.newClaim(false)},
		}
	}
}

// newClaim makes a claim. The first one of a case has everything that is wanted, the others some of it.
func (w *world) newClaim(first bool) resourceapi.DeviceClaim {
	wants := func(f features.Feature, others float64) bool {
		return w.want[f] && (first || w.chance(others))
	}
	count := 1
	if wants(features.SeveralRequests, 0.4) {
		count = 2 + w.weighted(0.5, 0.3, 0.2)
	}
	rule := w.drawConstraint(
		wants(features.MatchAttribute, 0.4), wants(features.DistinctAttribute, 0.4),
		wants(features.DerivedAttributes, 0.4),
	)
	var claim resourceapi.DeviceClaim
	if !first && w.chance(0.04) {
		// A claim without requests is valid and always satisfied.
		return claim
	}
	special := w.IntN(count)
	names := []string{"req-0", "req-1", "req-2", "req-3"}
	if w.chance(0.15) {
		names = shuffled(w.rng, names)
	}
	for i := range count {
		isSpecial := i == special
		shape := requestShape{
			all:         wants(features.AllMode, 0.4) && isSpecial,
			prioritized: wants(features.PrioritizedList, 0.4) && (isSpecial != w.want[features.AllMode] || w.chance(0.3)),
			admin:       wants(features.AdminAccess, 0.3) && (isSpecial || w.chance(0.2)),
			capacity:    wants(features.CapacityRequests, 0.5) && (isSpecial || w.chance(0.5)),
			selectors:   wants(features.RequestSelectors, 0.7) && (isSpecial || w.chance(0.6)),
		}
		if w.profile == allAlternatives {
			shape.all, shape.prioritized = true, w.chance(0.8)
		}
		claim.Requests = append(claim.Requests, w.newRequest(names[i], shape, rule))
	}
	w.addConstraints(&claim, rule)
	if wants(features.ClaimConfig, 0.3) {
		w.addConfig(&claim)
	}
	return claim
}

// requestShape is what a request is meant to use.
type requestShape struct {
	all, prioritized, admin, capacity, selectors bool
}

func (w *world) newRequest(name string, shape requestShape, rule *constraintRule) resourceapi.DeviceRequest {
	request := resourceapi.DeviceRequest{Name: name}
	if !shape.prioritized {
		request.Exactly = exactly(w.planRequest("", shape, rule, true))
		if shape.admin {
			request.Exactly.AdminAccess = ptr.To(true)
			// A fresh object does not need to be free for this.
		} else if w.want[features.AdminAccess] && w.chance(0.1) {
			request.Exactly.AdminAccess = ptr.To(false)
		}
		return request
	}
	shape.admin = false
	count := w.between(1, 3)
	for i := range count {
		// The last alternative is the one that was planned, the others compete with the rest.
		planned := i == count-1
		attempt := shape
		attempt.all = shape.all && (planned || w.chance(0.3) || w.profile == allAlternatives && w.chance(0.7))
		attempt.selectors = shape.selectors || w.chance(0.3)
		sub := w.planRequest(fmt.Sprintf("sub-%d", i), attempt, rule, planned)
		request.FirstAvailable = append(request.FirstAvailable, sub)
	}
	return request
}

func exactly(sub resourceapi.DeviceSubRequest) *resourceapi.ExactDeviceRequest {
	return &resourceapi.ExactDeviceRequest{
		DeviceClassName:   sub.DeviceClassName,
		Selectors:         sub.Selectors,
		AllocationMode:    sub.AllocationMode,
		Count:             sub.Count,
		Tolerations:       sub.Tolerations,
		Capacity:          sub.Capacity,
		DerivedAttributes: sub.DerivedAttributes,
	}
}

// planRequest picks devices and writes a request that they satisfy. With take, the devices are
// reserved for it, without they may be anybody's.
func (w *world) planRequest(name string, shape requestShape, rule *constraintRule, take bool) resourceapi.DeviceSubRequest {
	count := 1 + w.weighted(0.55, 0.3, 0.1, 0.05)
	if w.profile == limits && w.chance(0.7) {
		count = w.between(6, 18)
	}
	if w.profile == sharedCount {
		count = w.between(2, 3)
	}
	if shape.admin {
		take = false
	}
	planned := w.plan(count, shape, rule, take)
	request := resourceapi.DeviceSubRequest{
		Name:           name,
		AllocationMode: resourceapi.DeviceAllocationModeExactCount,
		Count:          int64(max(1, len(planned))),
	}
	if len(planned) == 0 {
		// Nothing is left that would do. Ask anyway.
		planned = []device{pick(w.rng, devicesOf(w.pools)...)}
		request.Count = int64(count)
	} else if w.chance(0.05) {
		request.Count++
	}
	if w.profile == limits && !take && !shape.admin && w.chance(0.7) {
		// An alternative that may be too much together with the other requests.
		request.Count = int64(w.between(14, 32))
	}
	if w.profile != limits && !take && !shape.admin && w.chance(0.4) {
		// An alternative that is more than there is to have, mostly.
		request.Count += int64(w.between(1, 3))
	}
	if shape.all {
		request.AllocationMode, request.Count = resourceapi.DeviceAllocationModeAll, 0
	}
	request.DeviceClassName = w.classFor(planned)
	if shape.selectors {
		for range w.between(1, 2) {
			request.Selectors = append(request.Selectors, selectorsOf(w.expressionFor(planned))...)
		}
	} else if shape.all && w.chance(0.5) {
		request.Selectors = selectorsOf(w.expressionFor(planned))
	}
	request.Tolerations = w.tolerations(planned)
	if shape.capacity {
		request.Capacity = w.capacityRequests(planned)
	}
	return request
}

// plan picks up to count devices that a request could get: reachable, not taken, in line with the
// constraint. It returns fewer if there are not enough.
func (w *world) plan(count int, shape requestShape, rule *constraintRule, take bool) []device {
	var candidates []device
	for _, d := range devicesOf(w.pools) {
		free := !take || !w.taken[d.id()] || d.shared()
		if d.reachable && !d.pool.broken && free && w.usable(d) {
			candidates = append(candidates, d)
		}
	}
	candidates = rule.narrow(w, candidates)
	if len(candidates) == 0 {
		return nil
	}
	if w.chance(0.75) || w.profile == nodeLocal {
		// Most requests are about one kind of device.
		driver := pick(w.rng, candidates...).pool.driver
		candidates = filter(candidates, func(d device) bool { return d.pool.driver == driver })
	}
	if shape.all {
		// All devices of a kind: those that share a value with some device.
		model := pick(w.rng, candidates...)
		count = 3
		candidates = filter(candidates, func(d device) bool { return d.pool == model.pool })
	}
	var planned []device
	for _, d := range some(w.rng, candidates, len(candidates)) {
		if len(planned) == count {
			break
		}
		if w.chance(0.35) && len(candidates) > count || take && !w.draw(d) {
			continue
		}
		planned = append(planned, d)
		if take {
			w.taken[d.id()] = true
			rule.use(d)
		}
	}
	return planned
}

// usable rules out devices that the gates or the node forbid.
func (w *world) usable(d device) bool {
	if len(d.BindingConditions) > 0 && !w.gates.DeviceBindingAndStatus {
		return false
	}
	if len(d.ConsumesCounters) > 0 && !w.gates.PartitionableDevices {
		return false
	}
	if len(d.slice.Spec.SkipNodeOperations) > 0 {
		return w.gates.OptionalNodeOperations && len(w.nodes[0].Status.DeclaredFeatures) > 0
	}
	return true
}

func filter(devices []device, keep func(device) bool) []device {
	var out []device
	for _, d := range devices {
		if keep(d) {
			out = append(out, d)
		}
	}
	return out
}

// addConfig adds configurations for all, some or one alternative of the requests.
func (w *world) addConfig(claim *resourceapi.DeviceClaim) {
	for range w.between(1, 2) {
		config := resourceapi.DeviceClaimConfiguration{DeviceConfiguration: w.configuration()}
		if w.chance(0.7) {
			config.Requests = w.requestNames(claim)
		}
		claim.Config = append(claim.Config, config)
	}
}

// requestNames returns names of some requests, of alternatives in the form request/subrequest.
func (w *world) requestNames(claim *resourceapi.DeviceClaim) []string {
	var names []string
	for _, request := range some(w.rng, claim.Requests, w.between(1, len(claim.Requests))) {
		if len(request.FirstAvailable) == 0 || w.chance(0.4) {
			names = append(names, request.Name)
			continue
		}
		for _, sub := range some(w.rng, request.FirstAvailable, w.between(1, len(request.FirstAvailable))) {
			names = append(names, request.Name+"/"+sub.Name)
		}
	}
	return names
}
