package generate

import (
	"slices"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/features"
)

// unknownBefore are the features that came with a release.
var unknownBefore = map[int][]features.Feature{
	37: {
		features.DerivedAttributes, features.ListAttributes, features.FractionalRange,
		features.CompatibilityGroups, features.OptionalNodeOperations,
	},
}

// takes names the gates without which no driver can publish a feature, and no claim can ask for it.
var takes = map[features.Feature]string{
	features.SharedDevices:          "DRAConsumableCapacity",
	features.PolicyDefault:          "DRAConsumableCapacity",
	features.PolicyRange:            "DRAConsumableCapacity",
	features.PolicyValues:           "DRAConsumableCapacity",
	features.CapacityRequests:       "DRAConsumableCapacity",
	features.SharesInUse:            "DRAConsumableCapacity",
	features.DistinctAttribute:      "DRAConsumableCapacity",
	features.SharedCounters:         "DRAPartitionableDevices",
	features.PerDeviceNodeSelection: "DRAPartitionableDevices",
	features.BindingConditions:      "DRADeviceBindingConditions",
	features.SliceTaints:            "DRADeviceTaints",
	features.TaintRules:             "DRADeviceTaints",
}

// profilesOf lists the profiles that exercise something in a release, 0 for the newest.
func profilesOf(minor int) []string {
	return slices.DeleteFunc(Profiles(), func(profile string) bool {
		if minor == 0 {
			return false
		}
		switch profile {
		case "fractional", "compatibility", "list-attributes", "derived", "node-operations":
			return true
		case "consumable", "shared-partition", "binding", sharedCount:
			return minor < 36
		}
		return false
	})
}

// drawRelease sets the case up for an older release: mostly with its default gates, and without
// what that release does not know or has behind a gate that is off.
func (w *world) drawRelease(minor int) {
	for since, unknown := range unknownBefore {
		if minor < since {
			for _, f := range unknown {
				delete(w.want, f)
			}
		}
	}
	gates := map[string]bool{
		"DRAAdminAccess":               true,
		"DRAPrioritizedList":           true,
		"DRAResourceClaimDeviceStatus": true,
		"DRAConsumableCapacity":        minor >= 36,
		"DRADeviceBindingConditions":   minor >= 36,
		"DRADeviceTaints":              minor >= 36,
		"DRADeviceTaintRules":          false,
		"DRAPartitionableDevices":      minor >= 36,
	}
	w.release = &cases.Release{Minor: minor, Gates: gates}
	if minor < 36 {
		// An alpha feature is turned on for a driver that needs it.
		focus := focused[w.profile]
		if gated := w.chance(0.15); gated || slices.Contains(focus, features.SharedCounters) {
			gates["DRAPartitionableDevices"] = w.chance(0.8)
		}
		if gated := w.chance(0.15); gated || slices.Contains(focus, features.SliceTaints) {
			gates["DRADeviceTaints"] = w.chance(0.8)
		}
		if w.chance(0.03) {
			gates["DRAConsumableCapacity"] = true
		}
		if w.chance(0.03) {
			gates["DRADeviceBindingConditions"] = true
		}
	}
	if w.want[features.TaintRules] && minor > 34 && gates["DRADeviceTaints"] {
		gates["DRADeviceTaintRules"] = w.chance(0.6)
	}
	for _, f := range features.All {
		if gate, ok := takes[f]; ok && !gates[gate] && (f != features.DistinctAttribute || minor > 34) {
			delete(w.want, f)
		}
	}
	if w.want[features.GatesOff] {
		off := []string{"DRAPrioritizedList", "DRAResourceClaimDeviceStatus"}
		if minor < 36 {
			off = append(off, "DRAAdminAccess")
		} else {
			off = append(off, "DRAConsumableCapacity", "DRADeviceBindingConditions", "DRADeviceTaints", "DRAPartitionableDevices")
		}
		for _, gate := range some(w.rng, off, w.between(1, 2)) {
			gates[gate] = false
		}
	}
	w.springGates(minor)
	w.gates = cases.OfGates(gates)
	if w.profile == nodeLocal {
		for _, f := range []features.Feature{
			features.MultiHostPool, features.PerDeviceNodeSelection, features.NodeSelectorSlice, features.AllNodesSlice,
			features.IncompletePool, features.InvalidPool, features.OldGeneration,
		} {
			delete(w.want, f)
		}
		w.trap = noTrap
	}
}

// springGates sets the gates that a trap consists of, and leaves traps out that cannot snap.
func (w *world) springGates(minor int) {
	gates := w.release.Gates
	switch w.trap {
	case trapSubrequestsOff:
		gates["DRAPrioritizedList"] = false
	case trapAdminAccessOff:
		// Locked in 1.36.
		gates["DRAAdminAccess"] = minor == 36
	case trapCapacityOff:
		gates["DRAConsumableCapacity"] = false
	}
	needed := map[trap]string{
		trapHugeCapacity:     "DRAConsumableCapacity",
		trapNegativeCapacity: "DRAConsumableCapacity",
		trapSelectorTerms:    "DRAPartitionableDevices",
	}[w.trap]
	useless := w.trap.foreign() || w.trap == trapDerivedRuntime || w.trap == trapDerivedOff ||
		w.trap == trapAdminAccessOff && minor == 36 || w.trap == trapCapacityOff && minor < 36 ||
		needed != "" && !gates[needed]
	if useless {
		w.trap = noTrap
	}
}
