package coverage

import (
	"strings"
	"testing"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/features"
	"kubectl-dra.test/internal/generate"
	"kubectl-dra.test/internal/upstream"
)

// TestGeneratorCovers makes sure that a change of the generator does not lose a part of what it
// is there for. "make fuzz" asks the same of more cases.
func TestGeneratorCovers(t *testing.T) {
	solver := upstream.NewSolver(8192)
	solver.CountWork, solver.MaxSteps = true, 20_000
	tally := NewTally()
	for i := range uint64(5000) {
		c, objects, err := generate.Case(3, i, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		result := solver.SolveObjects(c, objects)
		c.Expect, c.Work = &result.Expect, result.Work
		tally.Add(c, features.Of(c, objects))
	}
	var table strings.Builder
	if short, err := tally.Report(&table); err != nil || short > 0 {
		t.Errorf("%d lines are short, error %v\n%s", short, err, table.String())
	}
}

// TestShortCoverage makes sure that the report can fail.
func TestShortCoverage(t *testing.T) {
	tally := NewTally()
	for range 100_000 {
		tally.Add(&cases.Case{
			Expect: &cases.Expect{Outcome: cases.NoFit},
			Work:   &cases.Work{Steps: 1},
		}, features.Set{features.ExactCount: true})
	}
	var table strings.Builder
	short, err := tally.Report(&table)
	if err != nil {
		t.Fatal(err)
	}
	pairs := len(features.All) * (len(features.All) - 1) / 2
	if want := 2 + len(requiredCauses) + len(requiredRejections) + pairs; short != want {
		t.Errorf("%d lines are short, want %d\n%s", short, want, table.String())
	}
}

func TestRequired(t *testing.T) {
	for _, test := range []struct {
		cases int
		part  float64
		want  int
	}{
		{100_000, minPair, 500},
		{100_000, minCause, 1000},
		{1000, minPair, 0},
		{10_000, minPair, 29},
	} {
		tally := &Tally{Cases: test.cases}
		if got := tally.required(test.part); got != test.want {
			t.Errorf("%d cases, part %v: got %d, want %d", test.cases, test.part, got, test.want)
		}
	}
}
