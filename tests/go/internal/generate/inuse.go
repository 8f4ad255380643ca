package generate

import (
	"fmt"
	"maps"
	"slices"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kubectl-dra.test/internal/features"
)

// takePlanned is how often a device in use is one that a claim to allocate was planned with.
const takePlanned = 0.12

// buildInUse allocates devices to claims of other Pods.
func (w *world) buildInUse() {
	var whole, shares []device
	for _, d := range devicesOf(w.pools) {
		if w.taken[d.id()] && !d.shared() && !w.chance(takePlanned) {
			continue
		}
		if d.shared() {
			shares = append(shares, d)
			if !w.chance(0.1) {
				continue
			}
		}
		whole = append(whole, d)
	}
	var results []resourceapi.DeviceRequestAllocationResult
	if w.want[features.DevicesInUse] {
		for _, d := range some(w.rng, whole, w.between(1, 3)) {
			if w.draw(d) || w.chance(0.2) {
				// Drivers change what they publish, so overdrawn counters do occur.
				results = append(results, resultFor(d))
			}
		}
	}
	if w.want[features.AdminInUse] && len(whole)+len(shares) > 0 {
		result := resultFor(pick(w.rng, append(whole, shares...)...))
		result.AdminAccess = ptr.To(true)
		results = append(results, result)
	}
	if w.want[features.SharesInUse] {
		for range w.between(1, 3) {
			if len(shares) > 0 {
				results = append(results, w.shareOf(pick(w.rng, shares...)))
			}
		}
	}
	if w.want[features.UnpublishedInUse] {
		for range w.between(1, 2) {
			results = append(results, w.unpublished())
		}
	}
	for len(results) > 0 {
		count := min(len(results), w.between(1, 2))
		w.addInUse(results[:count])
		results = results[count:]
	}
}

func resultFor(d device) resourceapi.DeviceRequestAllocationResult {
	return resourceapi.DeviceRequestAllocationResult{
		Request: "req-0", Driver: d.pool.driver, Pool: d.pool.name, Device: d.Name,
	}
}

// shareOf returns one share of a device, with what it consumes of the capacity.
func (w *world) shareOf(d device) resourceapi.DeviceRequestAllocationResult {
	result := resultFor(d)
	share := types.UID(fmt.Sprintf("%08x-1111-4111-8111-%012x", w.Uint32(), w.names))
	w.names++
	result.ShareID = &share
	for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
		if result.ConsumedCapacity == nil {
			result.ConsumedCapacity = map[resourceapi.QualifiedName]resource.Quantity{}
		}
		capacity := d.Capacity[name]
		consumed := quantity("1")
		switch {
		case name == memoryCapacity:
			consumed = pick(w.rng, quantity("1Gi"), quantity("2Gi"), quantity("4Gi"), capacity.Value)
		case capacity.RequestPolicy != nil:
			consumed = capacity.RequestPolicy.Default.DeepCopy()
		}
		result.ConsumedCapacity[name] = consumed
	}
	return result
}

// unpublished returns a device that no slice has.
func (w *world) unpublished() resourceapi.DeviceRequestAllocationResult {
	result := resultFor(pick(w.rng, devicesOf(w.pools)...))
	switch w.IntN(3) {
	case 0:
		result.Device = "gone"
	case 1:
		result.Pool = "gone"
	default:
		result.Driver = "gone.example.com"
	}
	if w.chance(0.2) {
		share := types.UID(fmt.Sprintf("%08x-2222-4222-8222-%012x", w.Uint32(), w.names))
		w.names++
		result.ShareID = &share
		result.ConsumedCapacity = map[resourceapi.QualifiedName]resource.Quantity{memoryCapacity: quantity("1Gi")}
	}
	return result
}

func (w *world) addInUse(results []resourceapi.DeviceRequestAllocationResult) {
	w.names++
	claim := &resourceapi.ResourceClaim{
		ObjectMeta: w.claimMeta(fmt.Sprintf("allocated-%d", w.names)),
		Spec: resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{Requests: []resourceapi.DeviceRequest{{
			Name: "req-0",
			Exactly: &resourceapi.ExactDeviceRequest{
				DeviceClassName: anyClass,
				AllocationMode:  resourceapi.DeviceAllocationModeExactCount,
				Count:           int64(len(results)),
			},
		}}}},
		Status: resourceapi.ResourceClaimStatus{Allocation: &resourceapi.AllocationResult{
			Devices: resourceapi.DeviceAllocationResult{Results: results},
		}},
	}
	claim.Namespace = "default"
	for _, result := range results {
		if ptr.Deref(result.AdminAccess, false) {
			claim.Namespace = "admin"
			claim.Spec.Devices.Requests[0].Exactly.AdminAccess = ptr.To(true)
		}
	}
	w.inUse = append(w.inUse, claim)
}
