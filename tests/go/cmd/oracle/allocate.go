package main

import (
	"encoding/json"
	"flag"
	"os"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/upstream"
)

// allocate prints one result per case. A case that cannot be read is an answer, too, so that a
// program on the other end of a pipe gets one line for each of its lines.
func allocate(args []string) error {
	fs := flag.NewFlagSet("allocate", flag.ExitOnError)
	timeout := fs.Duration("timeout", upstream.FilterTimeout, "limit for one Allocate call")
	work := fs.Bool("work", false, "count the steps of the search; makes durations useless")
	_ = fs.Parse(args)
	solver := upstream.NewSolver(upstream.SchedulerCacheSize)
	solver.Timeout, solver.CountWork = *timeout, *work
	out := cases.NewLineWriter(os.Stdout)
	err := cases.EachLine(os.Stdin, func(line []byte) error {
		var c cases.Case
		if err := json.Unmarshal(line, &c); err != nil {
			return out.Write(cases.Result{Expect: cases.Expect{Outcome: cases.Failed, Error: "case is invalid: " + err.Error()}})
		}
		return out.Write(solver.Solve(&c))
	})
	return flushed(out, err)
}

// flushed writes out the buffer also after an error: the lines before it are good.
func flushed(out *cases.LineWriter, err error) error {
	if ferr := out.Flush(); err == nil {
		err = ferr
	}
	return err
}
