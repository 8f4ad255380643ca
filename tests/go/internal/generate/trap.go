package generate

import "kubectl-dra.test/internal/features"

// trap is a flaw that is put into a case on purpose because it ends an allocation attempt with an
// error, or could. A case has at most one: two would hide each other.
type trap int

const (
	noTrap trap = iota
	trapMissingClass
	trapTooMany
	trapCELRuntime
	trapDerivedRuntime
	trapHugeCapacity
	trapNegativeCapacity
	trapNodeSelector
	trapSelectorTerms
	trapSubrequestsOff
	trapAdminAccessOff
	trapCapacityOff
	trapDerivedOff
	trapAllIncomplete
	trapAllInvalid
	trapAllConstraint
	// The following ones take an API server of a later release, see world.springForeignTrap.
	trapCELCompile
	trapDerivedCompile
	trapEmptySelector
	trapUnknownConstraint
	trapUnknownMode
	trapNoClassName
	numTraps
)

// trapShare is the part of the cases with a trap.
const trapShare = 0.3

// trapWeights are relative frequencies. Each error of allocator.go has to come up in 1 % of the
// cases; those that other flaws hide more often get more.
var trapWeights = [numTraps]float64{
	trapMissingClass:      1,
	trapTooMany:           1,
	trapCELRuntime:        0.3,
	trapDerivedRuntime:    1.2,
	trapHugeCapacity:      1.9,
	trapNegativeCapacity:  1.5,
	trapNodeSelector:      0.9,
	trapSelectorTerms:     1.9,
	trapSubrequestsOff:    0.3,
	trapAdminAccessOff:    0.8,
	trapCapacityOff:       0.5,
	trapDerivedOff:        0.2,
	trapAllIncomplete:     0.2,
	trapAllInvalid:        0.2,
	trapAllConstraint:     0.5,
	trapCELCompile:        1.2,
	trapDerivedCompile:    1.2,
	trapEmptySelector:     0.8,
	trapUnknownConstraint: 0.85,
	trapUnknownMode:       0.9,
	trapNoClassName:       0.3,
}

func (r rng) drawTrap() trap {
	t := trap(r.weighted(trapWeights[:]...))
	if !r.chance(trapShare) {
		return noTrap
	}
	return t
}

// trapNeeds are the features without which a trap cannot snap.
var trapNeeds = map[trap][]features.Feature{
	trapDerivedCompile: {features.DerivedAttributes},
	trapDerivedRuntime: {features.DerivedAttributes},
	trapDerivedOff:     {features.DerivedAttributes},
	trapHugeCapacity:   {features.SharedDevices, features.PolicyRange},
	trapSubrequestsOff: {features.PrioritizedList},
	trapAdminAccessOff: {features.AdminAccess},
	trapCapacityOff:    {features.CapacityRequests},
	trapAllIncomplete:  {features.AllMode, features.IncompletePool},
	trapAllInvalid:     {features.AllMode, features.InvalidPool},
	trapAllConstraint:  {features.AllMode, features.MatchAttribute},
	trapNodeSelector:   {features.NodeSelectorSlice},
	trapSelectorTerms:  {features.NodeSelectorSlice},
}

// foreign is true for traps that no API server 1.37 would let in.
func (t trap) foreign() bool { return t >= trapCELCompile }
