// Package coverage counts what a set of allocator cases exercises and judges whether that is enough.
package coverage

import (
	"math"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/features"
	"kubectl-dra.test/internal/upstream"
)

// What is enough, as parts of all cases.
const (
	minAllocated  = 0.30
	minBacktracks = 0.20
	minCause      = 0.01
	minPair       = 0.005
	minRejection  = 0.01
	maxTimeouts   = 0.02
)

// certainFrom is the number of cases from which the limits apply as they are. In fewer cases the
// counts scatter, and three standard deviations are granted.
const certainFrom = 50_000

// requiredCauses are the errors that end an allocation attempt. Some of them take an object of a
// future API, see generate.Case.
var requiredCauses = []string{
	upstream.CauseAllIncomplete, upstream.CauseAllInvalid, upstream.CauseAllConstraint,
	upstream.CauseTooMany, upstream.CauseCELCompile, upstream.CauseCELRuntime,
	upstream.CauseDerivedCompile, upstream.CauseDerivedRuntime, upstream.CauseCapacityHuge,
	upstream.CauseCapacityMinus, upstream.CauseNodeSelector, upstream.CauseSelectorTerms,
	upstream.CauseNoSubrequests, upstream.CauseNoAdminAccess, upstream.CauseNoCapacity, upstream.CauseNoDerived,
	upstream.CauseMissingClass, upstream.CauseEmptySelector, upstream.CauseEmptyConstraint,
	upstream.CauseUnknownMode,
}

// requiredRejections are the reasons that turn a search away from a device.
var requiredRejections = []string{
	upstream.RejectedInUse, upstream.RejectedCapacity, upstream.RejectedCounters,
	upstream.RejectedGroups, upstream.RejectedOperations, upstream.RejectedMatch,
	upstream.RejectedDistinct, upstream.RejectedMissing,
}

// Tally counts cases.
type Tally struct {
	Cases         int
	Outcomes      map[string]int
	Causes        map[string]int
	Profiles      map[string]int
	Rejections    map[string]int
	Backtracked   int
	Steps         int64
	MostSteps     int64
	MostStepsCase string
	// Pairs counts cases by two features in the order of features.All; both the same means one.
	Pairs [][]int
}

// NewTally returns an empty Tally.
func NewTally() *Tally {
	t := &Tally{Outcomes: map[string]int{}, Causes: map[string]int{}, Profiles: map[string]int{}, Rejections: map[string]int{}}
	t.Pairs = make([][]int, len(features.All))
	for i := range t.Pairs {
		t.Pairs[i] = make([]int, len(features.All))
	}
	return t
}

// Add counts a case, which has to have its expectation and its work.
func (t *Tally) Add(c *cases.Case, found features.Set) {
	t.Cases++
	t.Outcomes[c.Expect.Outcome]++
	t.Profiles[c.Profile]++
	if c.Work.Cause != "" {
		t.Causes[c.Work.Cause]++
	}
	for _, kind := range c.Work.Rejections {
		t.Rejections[kind]++
	}
	if c.Work.Backtracks > 0 {
		t.Backtracked++
	}
	t.Steps += c.Work.Steps
	if c.Work.Steps > t.MostSteps {
		t.MostSteps, t.MostStepsCase = c.Work.Steps, c.Name
	}
	for i, a := range features.All {
		if !found[a] {
			continue
		}
		for j := i; j < len(features.All); j++ {
			if found[features.All[j]] {
				t.Pairs[i][j]++
			}
		}
	}
}

// required returns how many cases make up the given part.
func (t *Tally) required(part float64) int {
	expected := part * float64(t.Cases)
	if t.Cases < certainFrom {
		expected -= 3 * math.Sqrt(expected)
	}
	return max(0, int(math.Ceil(expected)))
}
