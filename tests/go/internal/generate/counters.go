package generate

import (
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"kubectl-dra.test/internal/features"
)

// counterID names one counter of a pool.
type counterID struct {
	pool         *pool
	set, counter string
}

const (
	unitsCounter = "units"
	slotsCounter = "slots"
)

// addCounterSlices publishes one or two counter sets, each standing for a physical device that is
// cut into partitions. Counters have slices of their own, the API does not allow them beside devices.
func (w *world) addCounterSlices(p *pool) {
	setCount := w.between(1, 2)
	var sets []resourceapi.CounterSet
	for i := range setCount {
		name := fmt.Sprintf("set-%d", i)
		amounts := map[string]int64{unitsCounter: int64(pick(w.rng, 4, 4, 7, 8))}
		if w.chance(0.35) {
			amounts[slotsCounter] = int64(w.between(2, 4))
		}
		set := resourceapi.CounterSet{Name: name, Counters: map[string]resourceapi.Counter{}}
		for counter, amount := range amounts {
			p.counters[counterID{p, name, counter}] = amount
			set.Counters[counter] = resourceapi.Counter{Value: p.amount(amount)}
		}
		sets = append(sets, set)
	}
	perSlice := len(sets)
	if w.chance(0.3) {
		perSlice = 1
	}
	for len(sets) > 0 {
		slice := w.newSlice(p, 0)
		slice.Spec.SkipNodeOperations = nil
		if ptr.Deref(slice.Spec.PerDeviceNodeSelection, false) || p.features[features.MultiHostPool] && w.chance(0.5) {
			// Counters need not be published for the nodes of the devices.
			onlyFor(slice, pick(w.rng, target, w.nodes[1].Name))
		}
		slice.Spec.SharedCounters = sets[:perSlice]
		sets = sets[perSlice:]
		p.slices = append(p.slices, slice)
	}
}

// amount formats a number of counter units.
func (p *pool) amount(n int64) resource.Quantity {
	return resource.MustParse(fmt.Sprint(n, p.unit))
}

// addConsumption turns a device into a partition of one counter set, sometimes of two.
func (w *world) addConsumption(p *pool, d *resourceapi.Device) {
	sets := w.counterSets(p)
	size := int64(pick(w.rng, 1, 1, 2, 2, 4))
	var groups []string
	if p.features[features.CompatibilityGroups] && w.chance(0.75) {
		groups = some(w.rng, []string{"x", "y", "z"}, w.between(1, 2))
	}
	count := 1
	if len(sets) > 1 && w.chance(0.25) {
		count = 2
	}
	for _, set := range some(w.rng, sets, count) {
		consumption := resourceapi.DeviceCounterConsumption{
			CounterSet:          set,
			Counters:            map[string]resourceapi.Counter{},
			CompatibilityGroups: groups,
		}
		for _, counter := range []string{unitsCounter, slotsCounter} {
			if _, ok := p.counters[counterID{p, set, counter}]; !ok {
				continue
			}
			amount := size
			if counter == slotsCounter {
				amount = int64(w.between(0, 1))
			}
			consumption.Counters[counter] = resourceapi.Counter{Value: p.amount(amount)}
		}
		d.ConsumesCounters = append(d.ConsumesCounters, consumption)
	}
}

func (w *world) counterSets(p *pool) []string {
	var sets []string
	for i := range 2 {
		name := fmt.Sprintf("set-%d", i)
		if _, ok := p.counters[counterID{p, name, unitsCounter}]; ok {
			sets = append(sets, name)
		}
	}
	return sets
}

// draw books the counters of a planned device, or returns false if they do not suffice.
func (w *world) draw(d device) bool {
	consumed := map[counterID]int64{}
	for _, consumption := range d.ConsumesCounters {
		for name, counter := range consumption.Counters {
			id := counterID{d.pool, consumption.CounterSet, name}
			// All amounts of a pool have the same unit.
			whole := d.pool.amount(1)
			consumed[id] = counter.Value.Value() / whole.Value()
			if w.drawn[id]+consumed[id] > d.pool.counters[id] {
				return false
			}
		}
	}
	for id, amount := range consumed {
		w.drawn[id] += amount
	}
	return true
}
