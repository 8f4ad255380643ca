package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/upstream"
)

// expect adds expectations to cases.
func expect(args []string) error {
	fs := flag.NewFlagSet("expect", flag.ExitOnError)
	timeout := fs.Duration("timeout", upstream.FilterTimeout, "limit for one Allocate call")
	_ = fs.Parse(args)
	solver := upstream.NewSolver(upstream.SchedulerCacheSize)
	solver.Timeout, solver.CountWork = *timeout, true
	out := cases.NewLineWriter(os.Stdout)
	err := cases.EachLine(os.Stdin, func(line []byte) error {
		var c cases.Case
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		fillIn(&c, solver.Solve(&c))
		return out.Write(c)
	})
	return flushed(out, err)
}

// fillIn records a result in its case.
func fillIn(c *cases.Case, result cases.Result) {
	normalized := cases.Normalize(result.Expect)
	c.Expect, c.Work = &normalized, result.Work
}

// check replays cases and compares with their expectation. Cases without one are skipped.
func check(args []string) error {
	fs := flag.NewFlagSet("check", flag.ExitOnError)
	ignoreError := fs.Bool("ignore-error-text", false, "compare only the outcome and the allocations")
	verbose := fs.Bool("v", false, "print both sides of a difference")
	timeout := fs.Duration("timeout", upstream.FilterTimeout, "limit for one Allocate call")
	_ = fs.Parse(args)
	solver := upstream.NewSolver(upstream.SchedulerCacheSize)
	solver.Timeout = *timeout
	total, different := 0, 0
	outcomes := map[string]int{}
	profiles := map[string]map[string]int{}
	err := cases.EachLine(os.Stdin, func(line []byte) error {
		var c cases.Case
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		if c.Expect == nil {
			return nil
		}
		got, want := cases.Normalize(solver.Solve(&c).Expect), *c.Expect
		if *ignoreError {
			got.Error, want.Error = "", ""
		}
		total++
		outcomes[want.Outcome]++
		if profiles[c.Profile] == nil {
			profiles[c.Profile] = map[string]int{}
		}
		profiles[c.Profile][want.Outcome]++
		if cases.SameExpect(got, want) {
			return nil
		}
		different++
		fmt.Printf("DIFF %s: got %s, want %s\n", c.Name, got.Outcome, want.Outcome)
		if *verbose {
			printSides(got, want)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d cases, %d different, outcomes %v\n", total, different, outcomes)
	for _, profile := range slices.Sorted(maps.Keys(profiles)) {
		fmt.Printf("  profile %q: %v\n", profile, profiles[profile])
	}
	if different > 0 {
		return errFindings{}
	}
	return nil
}

func printSides(got, want cases.Expect) {
	for _, side := range []struct {
		name   string
		expect cases.Expect
	}{{"got ", got}, {"want", want}} {
		raw, err := cases.Marshal(side.expect)
		if err != nil {
			raw = []byte(err.Error())
		}
		fmt.Printf("  %s %s\n", side.name, raw)
	}
}
