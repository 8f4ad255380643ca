package generate

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kubectl-dra.test/internal/features"
)

const (
	gpuDriver = "gpu.example.com"
	nicDriver = "nic.example.com"
)

// pool is a resource pool in the making.
type pool struct {
	driver, name string
	features     features.Set
	generation   int64
	// broken pools are incomplete or invalid, their devices cannot be allocated one by one.
	broken bool
	// slices of the newest generation, slices with counters included.
	slices []*resourceapi.ResourceSlice
	// stale slices belong to an older generation.
	stale []*resourceapi.ResourceSlice
	// missing is how many slices the pool has that nobody published.
	missing int
	// counters is what the counter sets of the pool hold.
	counters map[counterID]int64
	// unit is appended to the amounts of counters.
	unit    string
	devices int
}

// deviceID names a device like the allocator does.
type deviceID struct{ driver, pool, device string }

// device is a device together with where it is published.
type device struct {
	*resourceapi.Device
	pool      *pool
	slice     *resourceapi.ResourceSlice
	reachable bool
}

func (d device) id() deviceID { return deviceID{d.pool.driver, d.pool.name, d.Name} }

func (d device) shared() bool { return ptr.Deref(d.AllowMultipleAllocations, false) }

// published returns all slices of the pool with the final number of slices filled in.
func (p *pool) published() []*resourceapi.ResourceSlice {
	for _, slice := range p.slices {
		slice.Spec.Pool.ResourceSliceCount = int64(len(p.slices) + p.missing)
	}
	return append(append([]*resourceapi.ResourceSlice(nil), p.slices...), p.stale...)
}

// poolFeatures are decided for each pool on its own.
var poolFeatures = []features.Feature{
	features.ListAttributes, features.SharedCounters, features.MultiHostPool,
	features.PerDeviceNodeSelection, features.NodeSelectorSlice, features.AllNodesSlice,
	features.SharedDevices, features.PolicyDefault, features.PolicyRange, features.PolicyValues,
	features.FractionalRange, features.CompatibilityGroups, features.OptionalNodeOperations,
	features.BindingConditions, features.SliceTaints, features.OldGeneration,
	features.IncompletePool, features.InvalidPool,
}

func (w *world) buildPools() {
	count := 1 + w.weighted(0.25, 0.4, 0.25, 0.1)
	if w.want[features.IncompletePool] || w.want[features.InvalidPool] {
		// There should be something left to allocate from.
		count = max(count, 2)
	}
	if w.profile == nodeLocal {
		count = w.between(1, 2)
	} else if w.profile == counterTwins {
		count = max(count, 2)
	}
	names := shuffled(w.rng, []string{"pool-1", "pool-2", "pool-10", "rack-a/node-1", "rack-a.b", "rack-a-b", target, "z"})
	for i := range count {
		p := &pool{
			driver:     gpuDriver,
			name:       names[i],
			features:   features.Set{},
			generation: int64(w.between(0, 3)),
			counters:   map[counterID]int64{},
			unit:       pick(w.rng, "", "", "Gi"),
		}
		if w.profile != nodeLocal && w.chance(0.08) {
			// Amounts are kept as decimal digits, which older releases change while they count.
			p.unit = "000000Gi"
		}
		if i > 0 && (w.chance(0.4) || w.profile == nodeLocal) {
			p.driver = nicDriver
			if w.chance(0.2) && !w.poolExists(p.driver, w.pools[0].name) {
				// Pools of different drivers may have the same name.
				p.name = w.pools[0].name
			}
		}
		if i == 1 && w.profile == counterTwins {
			p.driver, p.name = nicDriver, w.pools[0].name
		}
		w.pools = append(w.pools, p)
	}
	for _, f := range poolFeatures {
		if !w.want[f] {
			continue
		}
		others := 0.3
		if f == features.IncompletePool || f == features.InvalidPool {
			others = 0
		}
		at := w.IntN(count)
		for i, p := range w.pools {
			twin := w.profile == counterTwins && f == features.SharedCounters && i < 2
			if i == at || w.chance(others) || twin {
				p.features[f] = true
				for _, needed := range needs[f] {
					p.features[needed] = true
				}
			}
		}
	}
	for _, p := range w.pools {
		w.fillPool(p)
	}
	if w.chance(0.3) {
		w.addStrangers()
	}
	if w.profile == limits {
		w.addMany()
	}
}

func (w *world) poolExists(driver, name string) bool {
	return slices.ContainsFunc(w.pools, func(p *pool) bool { return p.driver == driver && p.name == name })
}

func (w *world) fillPool(p *pool) {
	if p.features[features.SharedCounters] {
		w.addCounterSlices(p)
	}
	count := w.between(1, 2)
	if p.features[features.MultiHostPool] {
		count = w.between(2, 3)
	}
	if w.profile == nodeLocal {
		count = 1
	}
	for i := range count {
		slice := w.newSlice(p, i)
		deviceCount := w.between(1, 4)
		if w.profile == nodeLocal {
			deviceCount = w.between(2, 8)
		}
		if p.features[features.MultiHostPool] && i > 0 {
			deviceCount = w.between(1, 2)
		}
		for range deviceCount {
			slice.Spec.Devices = append(slice.Spec.Devices, w.newDevice(p, slice))
		}
		if w.chance(0.2) {
			slice.Spec.Devices = shuffled(w.rng, slice.Spec.Devices)
		}
		p.slices = append(p.slices, slice)
	}
	w.breakPool(p)
	if p.features[features.OldGeneration] {
		w.addStale(p)
	}
}

// newSlice returns an empty slice of the pool's newest generation. The first one is for the target.
func (w *world) newSlice(p *pool, index int) *resourceapi.ResourceSlice {
	w.names++
	slice := &resourceapi.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{
			// The order of names differs from the order of creation.
			Name: fmt.Sprintf("slice-%c%d", 'a'+rune(w.IntN(4)), w.names),
			UID:  w.uid(),
		},
		Spec: resourceapi.ResourceSliceSpec{
			Driver: p.driver,
			Pool:   resourceapi.ResourcePool{Name: p.name, Generation: p.generation},
		},
	}
	w.place(p, slice, index)
	if p.features[features.OptionalNodeOperations] && w.chance(0.7) {
		slice.Spec.SkipNodeOperations = pick(w.rng,
			[]resourceapi.SkipNodeOperation{resourceapi.SkipNodeOperationAll},
			[]resourceapi.SkipNodeOperation{resourceapi.SkipNodeOperationNodeUnprepareResources},
			[]resourceapi.SkipNodeOperation{resourceapi.SkipNodeOperationNodePrepareResources, resourceapi.SkipNodeOperationNodeUnprepareResources},
		)
	}
	return slice
}

// place decides which nodes can reach a slice.
func (w *world) place(p *pool, slice *resourceapi.ResourceSlice, index int) {
	if w.trap == trapSelectorTerms && w.chance(0.9) {
		slice.Spec.PerDeviceNodeSelection = ptr.To(true)
		return
	}
	var ways []features.Feature
	for _, f := range []features.Feature{features.PerDeviceNodeSelection, features.NodeSelectorSlice, features.AllNodesSlice} {
		if p.features[f] {
			ways = append(ways, f)
		}
	}
	multiHost := p.features[features.MultiHostPool]
	if len(ways) == 0 || multiHost && len(ways) < 3 && w.chance(0.4) {
		name := target
		if multiHost && index > 0 {
			name = w.nodes[1].Name
		}
		slice.Spec.NodeName = &name
		return
	}
	switch pick(w.rng, ways...) {
	case features.PerDeviceNodeSelection:
		slice.Spec.PerDeviceNodeSelection = ptr.To(true)
	case features.NodeSelectorSlice:
		slice.Spec.NodeSelector, _ = w.nodeSelector()
	default:
		slice.Spec.AllNodes = ptr.To(true)
	}
}

// onlyFor makes a slice local to a node.
func onlyFor(slice *resourceapi.ResourceSlice, node string) {
	slice.Spec.NodeSelector, slice.Spec.AllNodes, slice.Spec.PerDeviceNodeSelection = nil, nil, nil
	slice.Spec.NodeName = &node
}

// placeDevice does the same for a device of a slice that leaves it to its devices.
func (w *world) placeDevice(p *pool, d *resourceapi.Device) {
	name := target
	if p.features[features.MultiHostPool] && w.chance(0.4) || w.chance(0.15) {
		name = w.nodes[1].Name
	}
	switch w.IntN(3) {
	case 0:
		d.NodeName = &name
	case 1:
		d.NodeSelector, _ = w.nodeSelector()
	default:
		d.AllNodes = ptr.To(true)
	}
}

// reaches tells whether the target can use a device. A rough answer is enough: it only guides
// the planning of claims.
func reaches(slice *resourceapi.ResourceSlice, d *resourceapi.Device) bool {
	nodeName, selector := slice.Spec.NodeName, slice.Spec.NodeSelector
	if ptr.Deref(slice.Spec.PerDeviceNodeSelection, false) {
		nodeName, selector = d.NodeName, d.NodeSelector
	}
	switch {
	case nodeName != nil:
		return *nodeName == target
	case selector != nil:
		return matchesTarget(selector)
	}
	return true
}

// matchesTarget judges the requirements of world.requirement.
func matchesTarget(selector *v1.NodeSelector) bool {
	term := selector.NodeSelectorTerms[0]
	if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
		return false
	}
	for _, r := range term.MatchFields {
		if r.Operator != v1.NodeSelectorOpIn {
			return false
		}
	}
	for _, r := range term.MatchExpressions {
		switch r.Operator {
		case v1.NodeSelectorOpIn:
			if r.Values[len(r.Values)-1] != "zone-a" {
				return false
			}
		case v1.NodeSelectorOpExists:
			if r.Key != rackLabel {
				return false
			}
		case v1.NodeSelectorOpDoesNotExist:
			if r.Key == rackLabel {
				return false
			}
		case v1.NodeSelectorOpGt:
			if r.Values[0] != "0" {
				return false
			}
		}
	}
	return true
}

// devicesOf returns the devices of the pools in the order of the slices.
func devicesOf(pools []*pool) []device {
	var out []device
	for _, p := range pools {
		for _, slice := range p.slices {
			for i := range slice.Spec.Devices {
				d := &slice.Spec.Devices[i]
				out = append(out, device{Device: d, pool: p, slice: slice, reachable: reaches(slice, d)})
			}
		}
	}
	return out
}

// addMany adds a pool with about as many devices as fit into a claim. They are all alike.
func (w *world) addMany() {
	p := &pool{driver: gpuDriver, name: "many", features: features.Set{}, counters: map[counterID]int64{}}
	slice := w.newSlice(p, 0)
	onlyFor(slice, target)
	for i := range w.between(16, 44) {
		slice.Spec.Devices = append(slice.Spec.Devices, resourceapi.Device{Name: fmt.Sprintf("dev-%d", i)})
	}
	p.slices = append(p.slices, slice)
	w.pools = append(w.pools, p)
}

// addStrangers adds a pool that only another node can reach.
func (w *world) addStrangers() {
	p := &pool{
		driver:   pick(w.rng, gpuDriver, nicDriver),
		name:     w.nodes[1].Name,
		features: features.Set{},
		counters: map[counterID]int64{},
	}
	slice := w.newSlice(p, 0)
	onlyFor(slice, w.nodes[1].Name)
	for range w.between(1, 2) {
		slice.Spec.Devices = append(slice.Spec.Devices, w.newDevice(p, slice))
	}
	p.slices = append(p.slices, slice)
	w.pools = append(w.pools, p)
}
