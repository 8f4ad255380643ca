package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/upstream"
)

// repeatedEvaluations is how often a selector is evaluated to find out whether its cost or result
// depends on the iteration order of a map.
const repeatedEvaluations = 30

func evaluateCEL(args []string) error {
	fs := flag.NewFlagSet("cel", flag.ExitOnError)
	withExpect := fs.Bool("expect", false, "print the case with its expectation instead of the result")
	_ = fs.Parse(args)
	solver := upstream.NewSolver(upstream.SchedulerCacheSize)
	out := cases.NewLineWriter(os.Stdout)
	err := cases.EachLine(os.Stdin, func(line []byte) error {
		var c cases.CELCase
		if err := json.Unmarshal(line, &c); err != nil {
			return out.Write(cases.CELResult{CELExpect: cases.CELExpect{CompileError: "case is invalid: " + err.Error()}})
		}
		result := solver.EvaluateCEL(&c)
		if !*withExpect {
			return out.Write(cases.CELResult{Name: c.Name, CELExpect: result})
		}
		if !settle(solver, &c, &result) {
			fmt.Fprintf(os.Stderr, "%s: result depends on map order, dropped\n", c.Name)
			return nil
		}
		c.Expect = &result
		return out.Write(c)
	})
	return flushed(out, err)
}

// settle repeats the evaluation. It keeps the largest cost seen and returns false when the result
// itself varies, which makes the case useless.
func settle(solver *upstream.Solver, c *cases.CELCase, result *cases.CELExpect) bool {
	for i := 0; i < repeatedEvaluations && result.Cost > 0; i++ {
		again := solver.EvaluateCEL(c)
		if again.Matches != result.Matches || (again.RuntimeError == "") != (result.RuntimeError == "") {
			return false
		}
		result.CostVaries = result.CostVaries || again.Cost != result.Cost
		result.Cost = max(result.Cost, again.Cost)
	}
	return true
}
