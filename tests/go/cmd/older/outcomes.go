//go:build older

package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/stored"
	"kubectl-dra.test/internal/upstream"
)

// answered is a case as the release stores it, with everything that came out.
type answered struct {
	*cases.Case
	// Outcomes in the order of their first appearance; the first is that of the order as given.
	Outcomes []counted `json:"outcomes"`
}

// asked is a case that may say itself in how many orders it is to be tried.
type asked struct {
	cases.Case
	Orders int `json:"orders"`
}

// counted is an outcome and in how many orders it came out.
type counted struct {
	cases.Expect
	Count int `json:"count"`
}

// outcomes prints cases as the release stores their objects, with the outcomes of several runs:
// the slices in another order each time, and Go's maps in theirs anyway.
func outcomes(args []string) error {
	fs := flag.NewFlagSet("outcomes", flag.ExitOnError)
	orders := fs.Int("orders", 20, "in how many orders to try each case")
	agreed := fs.Int("agreed", 0, "stop where so many orders have given the same, 0 to try all in any case")
	maxSteps := fs.Int64("max-steps", 100_000, "where a search counts as a timeout")
	allSteps := fs.Int64("all-steps", 100_000, "how long the searches of a case may be together, the last one may exceed it; 0 for any length")
	jobs := fs.Int("jobs", runtime.GOMAXPROCS(0), "how many cases to work on at once")
	_ = fs.Parse(args)
	debug.SetGCPercent(400)
	// More compiled expressions than kube-scheduler keeps change nothing but the time.
	solver := upstream.NewSolver(8192)
	solver.CountWork, solver.MaxSteps = true, *maxSteps
	return eachCase(*jobs, func(line []byte) ([]any, error) {
		c := asked{Orders: *orders}
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, err
		}
		objects, err := stored.Reduce(&c.Case, upstream.Minor, upstream.Version)
		if err != nil {
			return nil, err
		}
		result := answered{Case: &c.Case}
		rng := rand.New(rand.NewPCG(1, 2))
		var steps int64
		for i := range c.Orders {
			// Few cases have long searches, and those would take most of the time.
			if *allSteps > 0 && steps > *allSteps {
				break
			}
			if i == *agreed && len(result.Outcomes) == 1 {
				break
			}
			if i > 0 {
				rng.Shuffle(len(objects.Slices), func(a, b int) {
					objects.Slices[a], objects.Slices[b] = objects.Slices[b], objects.Slices[a]
				})
			}
			solved := solver.SolveObjects(&c.Case, objects)
			if solved.Work != nil {
				steps += solved.Work.Steps
			}
			outcome := cases.Normalize(solved.Expect)
			at := slices.IndexFunc(result.Outcomes, func(seen counted) bool {
				return cases.SameExpect(seen.Expect, outcome)
			})
			if at >= 0 {
				result.Outcomes[at].Count++
			} else {
				result.Outcomes = append(result.Outcomes, counted{outcome, 1})
			}
			if outcome.Outcome == cases.TimedOut {
				// The others would take as long.
				break
			}
		}
		return []any{result}, nil
	}, os.Stdout)
}

// eachCase answers the lines of standard input in parallel and prints the answers in their order.
func eachCase(jobs int, answer func(line []byte) ([]any, error), w io.Writer) error {
	type place struct {
		values []any
		err    error
	}
	queue := make(chan chan place, 4*max(1, jobs))
	slots := make(chan struct{}, max(1, jobs))
	read := make(chan error, 1)
	go func() {
		defer close(queue)
		read <- cases.EachLine(bufio.NewReader(os.Stdin), func(line []byte) error {
			line = slices.Clone(line)
			result := make(chan place, 1)
			queue <- result
			slots <- struct{}{}
			go func() {
				values, err := answer(line)
				result <- place{values, err}
				<-slots
			}()
			return nil
		})
	}()
	out := cases.NewLineWriter(w)
	for result := range queue {
		p := <-result
		waits := len(queue) == 0
		if p.err != nil {
			return p.err
		}
		for _, value := range p.values {
			if err := out.Write(value); err != nil {
				return err
			}
		}
		// Who asks for one case after the other waits for the answer.
		if waits {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return <-read
}
