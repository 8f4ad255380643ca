package generate

import (
	"fmt"
	"maps"
	"slices"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"kubectl-dra.test/internal/features"
)

const (
	// busAttribute is published by the drivers of all kinds, under the name of a third party.
	busAttribute = "topology.example.com/bus"
	// linksAttribute is a list where the feature is wanted and a string elsewhere.
	linksAttribute = "topology.example.com/links"
	// missingShare is how often a device lacks an attribute that others have. It keeps plain
	// selectors from failing on nearly every cluster.
	missingShare = 0.06
)

var models = []string{"a100", "h100", "l4"}

// newDevice returns a device that fits the features of its pool.
func (w *world) newDevice(p *pool, slice *resourceapi.ResourceSlice) resourceapi.Device {
	d := resourceapi.Device{
		Name:       fmt.Sprintf("dev-%d", p.devices),
		Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{},
		Capacity:   map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{},
	}
	p.devices++
	w.addAttributes(p, &d)
	w.addCapacity(p, &d)
	if p.features[features.SharedCounters] && w.chance(0.85) {
		w.addConsumption(p, &d)
	}
	if p.features[features.BindingConditions] && w.chance(0.6) {
		d.BindingConditions = some(w.rng, []string{"example.com/attached", "example.com/ready"}, w.between(1, 2))
		d.BindingFailureConditions = []string{"example.com/failed"}
	}
	if w.chance(0.06) {
		d.BindsToNode = ptr.To(w.chance(0.8))
	}
	if p.features[features.SliceTaints] && w.chance(0.45) {
		for range w.between(1, 2) {
			d.Taints = append(d.Taints, w.newTaint())
		}
	}
	if ptr.Deref(slice.Spec.PerDeviceNodeSelection, false) {
		w.placeDevice(p, &d)
	}
	return d
}

// addAttributes gives a device what tells it from others, or does not, see world.variety.
func (w *world) addAttributes(p *pool, d *resourceapi.Device) {
	differs := func() bool { return w.chance(w.variety) }
	set := func(name string, value resourceapi.DeviceAttribute) {
		if !w.chance(missingShare * w.variety) {
			d.Attributes[resourceapi.QualifiedName(name)] = value
		}
	}
	model := models[0]
	if differs() {
		model = pick(w.rng, models...)
	}
	modelName := "model"
	if w.chance(0.1) {
		// The same attribute with its domain spelled out.
		modelName = p.driver + "/model"
	}
	set(modelName, resourceapi.DeviceAttribute{StringValue: &model})
	set("numa", resourceapi.DeviceAttribute{IntValue: ptr.To(int64(w.zeroOr(differs(), 1)))})
	set("index", resourceapi.DeviceAttribute{IntValue: ptr.To(int64(p.devices))})
	set("healthy", resourceapi.DeviceAttribute{BoolValue: ptr.To(!differs() || w.chance(0.5))})
	version := "1.2.0"
	if differs() {
		version = pick(w.rng, "1.10.0", "2.0.0-rc.1", "2.0.0+build.7")
	}
	set("driverVersion", resourceapi.DeviceAttribute{VersionValue: &version})
	set(busAttribute, resourceapi.DeviceAttribute{StringValue: ptr.To(fmt.Sprintf("r%d", w.zeroOr(differs() || w.chance(0.3), 2)))})
	if p.features[features.ListAttributes] {
		w.addLists(d)
	} else if w.chance(0.3) {
		set(linksAttribute, resourceapi.DeviceAttribute{StringValue: ptr.To(pick(w.rng, "a", "b", "c"))})
	}
	// Short cases are easier to look at.
	if w.chance(0.3) {
		for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
			if name != busAttribute && name != linksAttribute && w.chance(0.5*w.variety) {
				delete(d.Attributes, name)
			}
		}
	}
}

func (w *world) zeroOr(other bool, limit int) int {
	if other {
		return w.between(0, limit)
	}
	return 0
}

func (w *world) addLists(d *resourceapi.Device) {
	if w.chance(0.85) {
		links := resourceapi.DeviceAttribute{StringValues: some(w.rng, []string{"a", "b", "c", "d"}, w.between(1, 2))}
		if w.chance(0.15) {
			// A scalar counts as a list of one.
			links = resourceapi.DeviceAttribute{StringValue: ptr.To(pick(w.rng, "a", "b"))}
		}
		d.Attributes[linksAttribute] = links
	}
	if w.chance(0.4) {
		d.Attributes["lanes"] = resourceapi.DeviceAttribute{IntValues: shuffled(w.rng, some(w.rng, []int64{0, 1, 2, 3}, w.between(1, 3)))}
	}
	if w.chance(0.2) {
		d.Attributes["modes"] = resourceapi.DeviceAttribute{BoolValues: some(w.rng, []bool{true, false}, w.between(1, 2))}
	}
	if w.chance(0.2) {
		d.Attributes["firmware"] = resourceapi.DeviceAttribute{VersionValues: some(w.rng, []string{"1.0.0", "1.1.0", "2.0.0"}, w.between(1, 2))}
	}
}
