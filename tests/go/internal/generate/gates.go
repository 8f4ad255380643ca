package generate

import (
	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/features"
)

// drawGates decides which features the scheduler has on. An alpha feature is mostly on when its
// objects are there; the other way around is what a cluster looks like during an upgrade.
func (w *world) drawGates() {
	g := cases.DefaultFeatures()
	g.FractionalCapacityRange = w.chance(0.4) || w.want[features.FractionalRange] && w.chance(0.85)
	g.CompatibilityGroups = w.alpha(features.CompatibilityGroups)
	g.DerivedAttributes = w.alpha(features.DerivedAttributes)
	g.ListTypeAttributes = w.alpha(features.ListAttributes)
	g.OptionalNodeOperations = w.alpha(features.OptionalNodeOperations)
	if w.want[features.GatesOff] {
		beta := []*bool{
			&g.AdminAccess, &g.ConsumableCapacity, &g.DeviceBindingAndStatus, &g.DeviceTaints,
			&g.PartitionableDevices, &g.PrioritizedList,
		}
		for _, gate := range some(w.rng, beta, w.between(1, 3)) {
			*gate = false
		}
	}
	switch w.trap {
	case trapSubrequestsOff:
		g.PrioritizedList = false
	case trapAdminAccessOff:
		g.AdminAccess = false
	case trapCapacityOff:
		g.ConsumableCapacity = false
	case trapDerivedOff:
		g.DerivedAttributes = false
	case trapHugeCapacity, trapNegativeCapacity:
		g.ConsumableCapacity = true
	}
	if w.trap == trapDerivedCompile || w.trap == trapDerivedRuntime {
		g.DerivedAttributes = true
	}
	if !g.ConsumableCapacity && !g.FractionalCapacityRange && !g.DeviceBindingAndStatus {
		// Without these three kube-scheduler uses the "stable" allocator, which has no defined
		// order of pools and therefore no expectation.
		g.DeviceBindingAndStatus = true
	}
	w.gates = g
}

func (w *world) alpha(f features.Feature) bool {
	if w.want[f] {
		return w.chance(0.9)
	}
	return w.chance(0.08)
}
