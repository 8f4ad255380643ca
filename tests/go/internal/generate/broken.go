package generate

import (
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"kubectl-dra.test/internal/features"
)

// breakPool makes a pool incomplete or contradictory where that is wanted.
func (w *world) breakPool(p *pool) {
	if p.features[features.IncompletePool] {
		p.missing = w.between(1, 2)
		p.broken = true
		if w.trap == trapAllIncomplete {
			w.bringToTarget(p)
		}
	}
	if p.features[features.InvalidPool] {
		w.contradict(p)
		p.broken = true
		if w.trap == trapAllInvalid {
			w.bringToTarget(p)
		}
	}
}

// bringToTarget makes sure that the target sees the pool.
func (w *world) bringToTarget(p *pool) {
	for _, slice := range p.slices {
		if slice.Spec.NodeName != nil {
			slice.Spec.NodeName = ptr.To(target)
		}
	}
}

// contradict makes a pool invalid in one of the ways that buildPool in pools_incubating.go checks.
func (w *world) contradict(p *pool) {
	var first *resourceapi.ResourceSlice
	for _, slice := range p.slices {
		if len(slice.Spec.Devices) > 0 {
			first = slice
			break
		}
	}
	if len(p.counters) > 0 && w.chance(0.5) {
		d := &first.Spec.Devices[0]
		counters := map[string]resourceapi.Counter{unitsCounter: {Value: p.amount(1)}}
		set := "set-0"
		switch w.IntN(3) {
		case 0:
			set = "set-9"
		case 1:
			counters = map[string]resourceapi.Counter{"unknown": {Value: p.amount(1)}}
		default:
			again := w.newSlice(p, 0)
			again.Spec = resourceapi.ResourceSliceSpec{
				Driver:         p.driver,
				Pool:           again.Spec.Pool,
				AllNodes:       ptr.To(true),
				SharedCounters: []resourceapi.CounterSet{{Name: "set-0", Counters: counters}},
			}
			p.slices = append(p.slices, again)
		}
		d.ConsumesCounters = []resourceapi.DeviceCounterConsumption{{CounterSet: set, Counters: counters}}
		return
	}
	// Two slices of a pool may not have the same device, nothing but convention prevents it. Both
	// have to be visible on the node for that to be noticed.
	twin := w.newSlice(p, 0)
	twin.Spec.NodeName, twin.Spec.NodeSelector = first.Spec.NodeName, first.Spec.NodeSelector
	twin.Spec.AllNodes, twin.Spec.PerDeviceNodeSelection = first.Spec.AllNodes, first.Spec.PerDeviceNodeSelection
	twin.Spec.Devices = []resourceapi.Device{*first.Spec.Devices[0].DeepCopy()}
	p.slices = append(p.slices, twin)
}

// addStale leaves a slice of an older generation behind, or only slices for another node are new.
func (w *world) addStale(p *pool) {
	p.generation += int64(w.between(1, 2))
	var current []*resourceapi.ResourceSlice
	for _, slice := range p.slices {
		if w.chance(0.35) {
			old := slice.DeepCopy()
			w.names++
			old.Name += "-old"
			old.UID = w.uid()
			old.Spec.Pool.ResourceSliceCount = int64(w.between(1, 2))
			for i := range old.Spec.Devices {
				if w.chance(0.3) {
					old.Spec.Devices[i].Name += "-old"
				}
			}
			p.stale = append(p.stale, old)
		}
		slice.Spec.Pool.Generation = p.generation
		current = append(current, slice)
	}
	if len(p.stale) == 0 {
		old := p.slices[0].DeepCopy()
		old.Name += "-old"
		old.UID = w.uid()
		old.Spec.Pool.Generation = p.generation - 1
		old.Spec.Pool.ResourceSliceCount = 1
		p.stale = append(p.stale, old)
	}
	p.slices = current
	if w.chance(0.15) {
		// The driver has begun to publish the next generation on another node: what the target
		// can see is obsolete.
		ahead := w.newSlice(p, 0)
		ahead.Spec.Pool.Generation = p.generation + 1
		ahead.Spec.Pool.ResourceSliceCount = int64(len(p.slices))
		onlyFor(ahead, w.nodes[1].Name)
		p.stale = append(p.stale, ahead)
		p.broken = true
	}
}
