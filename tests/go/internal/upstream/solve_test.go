package upstream

import (
	"encoding/json"
	"os"
	"testing"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/families"
)

// storedCases are replayed to notice when another version of the library decides otherwise.
const storedCases = "../../../data/cases/allocator-fuzz.jsonl"

func TestStoredCases(t *testing.T) {
	file, err := os.Open(storedCases)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	solver := NewSolver(SchedulerCacheSize)
	total := 0
	err = cases.EachLine(file, func(line []byte) error {
		var c cases.Case
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		total++
		if got := cases.Normalize(solver.Solve(&c).Expect); !cases.SameExpect(got, *c.Expect) {
			t.Errorf("%s: got %+v", c.Name, got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total == 0 {
		t.Error("no cases")
	}
}

// TestWork holds the messages that the probe listens for to the version of the library: without
// a solution, all subsets of the devices are tried, which is a known number.
func TestWork(t *testing.T) {
	for name, gates := range map[string]func(*cases.Features){
		"incubating":   func(*cases.Features) {},
		"experimental": func(f *cases.Features) { f.DerivedAttributes = true },
	} {
		t.Run(name, func(t *testing.T) {
			c := familyCase(t, "short", 8)
			gates(&c.Features)
			solver := NewSolver(SchedulerCacheSize)
			solver.CountWork = true
			result := solver.Solve(c)
			if result.Outcome != cases.NoFit {
				t.Fatalf("got %+v", result)
			}
			if result.Work.Steps != 1<<7 || result.Work.Backtracks != 1<<7-1 {
				t.Errorf("got %+v", result.Work)
			}
		})
	}
}

func TestNoBacktracks(t *testing.T) {
	solver := NewSolver(SchedulerCacheSize)
	solver.CountWork = true
	result := solver.Solve(familyCase(t, "nodes", 2))
	// One step per device, request, claim and one for the end.
	if result.Outcome != cases.Allocated || result.Work.Backtracks != 0 || result.Work.Steps != 4 {
		t.Errorf("got %+v, work %+v", result, result.Work)
	}
}

func TestMaxSteps(t *testing.T) {
	solver := NewSolver(SchedulerCacheSize)
	solver.CountWork, solver.MaxSteps = true, 1000
	result := solver.Solve(familyCase(t, "short", 20))
	if result.Outcome != cases.TimedOut || result.Work.Steps > 1100 {
		t.Errorf("got %+v, work %+v", result, result.Work)
	}
}

func TestInvalidCases(t *testing.T) {
	for name, change := range map[string]func(*cases.Case){
		"node":   func(c *cases.Case) { c.Node = "gone" },
		"claim":  func(c *cases.Case) { c.Claims = []string{"default/gone"} },
		"object": func(c *cases.Case) { c.Objects = append(c.Objects, json.RawMessage(`{"kind":"Pod"}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := familyCase(t, "nodes", 2)
			change(c)
			if result := NewSolver(SchedulerCacheSize).Solve(c); result.Outcome != cases.Failed {
				t.Errorf("got %+v", result)
			}
		})
	}
}

func familyCase(t *testing.T, name string, size int) *cases.Case {
	t.Helper()
	family, err := families.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := family.Case(size)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
