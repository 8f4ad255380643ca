package generate

import resourceapi "k8s.io/api/resource/v1"

// springForeignTrap changes an object into what a scheduler 1.37 sees of a future extension: the
// fields that it does not know are lost on decoding. See the comments on unknown selector types,
// constraint types and modes in allocator_incubating.go.
func (w *world) springForeignTrap() {
	switch w.trap {
	case trapCELCompile:
		w.addFailing(pick(w.rng,
			`device.health == "ok"`,
			`futureFunction(device.driver)`,
			`device.driver.futureMethod()`,
			`device.driver == 1`,
			`device.driver`,
			`device.driver == `,
		))
	case trapDerivedCompile:
		w.changeDerived(pick(w.rng, `device.health`, `futureFunction(device.driver)`, `device.attributes[`))
	case trapEmptySelector:
		selectors := w.anyRequest().selectors()
		*selectors = append(*selectors, resourceapi.DeviceSelector{})
	case trapUnknownConstraint:
		claim := &pick(w.rng, w.pending...).Spec.Devices
		if at := w.IntN(len(claim.Constraints) + 1); at < len(claim.Constraints) {
			claim.Constraints[at] = resourceapi.DeviceConstraint{}
		} else {
			claim.Constraints = append(claim.Constraints, resourceapi.DeviceConstraint{})
		}
	case trapUnknownMode:
		mode, count := w.anyRequest().mode()
		*mode, *count = "Some", 0
	case trapNoClassName:
		*w.anyRequest().class() = ""
	}
}
