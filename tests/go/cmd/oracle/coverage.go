package main

import (
	"encoding/json"
	"flag"
	"io"
	"os"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/coverage"
	"kubectl-dra.test/internal/features"
)

// printCoverage reads cases and tells what they exercise. Verdicts that are missing are found now.
func printCoverage(args []string) error {
	fs := flag.NewFlagSet("coverage", flag.ExitOnError)
	maxSteps := fs.Int64("max-steps", defaultMaxSteps, "where a search counts as a timeout")
	_ = fs.Parse(args)
	solver := newSteadySolver(*maxSteps)
	tally := coverage.NewTally()
	err := cases.EachLine(os.Stdin, func(line []byte) error {
		var c cases.Case
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		objects, err := cases.DecodeObjects(c.Objects)
		if err != nil {
			return err
		}
		if c.Expect == nil || c.Work == nil {
			fillIn(&c, solver.SolveObjects(&c, objects))
		}
		tally.Add(&c, features.Of(&c, objects))
		return nil
	})
	if err != nil {
		return err
	}
	return reportCoverage(tally, os.Stdout)
}

func reportCoverage(tally *coverage.Tally, w io.Writer) error {
	short, err := tally.Report(w)
	if err == nil && short > 0 {
		err = errFindings{}
	}
	return err
}
