package main

import (
	"errors"
	"flag"
	"os"
	"runtime"
	"runtime/debug"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/coverage"
	"kubectl-dra.test/internal/features"
	"kubectl-dra.test/internal/generate"
	"kubectl-dra.test/internal/upstream"
)

const (
	// generatorCacheSize holds all expressions that the generator uses many times.
	generatorCacheSize = 8192
	// defaultMaxSteps ends a search after about half a second. A limit in time would make the output
	// depend on the machine.
	defaultMaxSteps = 100_000
)

// newSteadySolver returns a solver whose verdicts are the same on every machine.
func newSteadySolver(maxSteps int64) *upstream.Solver {
	solver := upstream.NewSolver(generatorCacheSize)
	solver.CountWork, solver.MaxSteps = true, maxSteps
	return solver
}

// generateCases prints made-up cases. The same flags give the same bytes, whatever --jobs is.
func generateCases(args []string) error {
	fs := flag.NewFlagSet("generate", flag.ExitOnError)
	seed := fs.Uint64("seed", 1, "cases of different seeds differ")
	start := fs.Uint64("start", 0, "number of the first case")
	count := fs.Uint64("count", 100, "how many cases")
	profile := fs.String("profile", "", "kind of cases, empty for a mixture of all")
	release := fs.Int("minor", 0, "34 to 36 for cases that fit this older Kubernetes, which the program older answers")
	withExpect := fs.Bool("expect", false, "fill in the verdict of the real allocator")
	withCoverage := fs.Bool("coverage", false, "with --expect, report on stderr what the cases cover and fail when it is not enough")
	maxSteps := fs.Int64("max-steps", defaultMaxSteps, "with --expect, where a search counts as a timeout")
	jobs := fs.Int("jobs", runtime.GOMAXPROCS(0), "how many cases to work on at once")
	_ = fs.Parse(args)
	if err := generate.CheckProfile(*profile, *release); err != nil {
		return err
	}
	if *release != 0 && *withExpect {
		return errors.New("--expect is about the newest release only")
	}
	// Cases are small and short-lived: collecting less often is a quarter faster.
	debug.SetGCPercent(400)
	solver := newSteadySolver(*maxSteps)
	out := cases.NewLineWriter(os.Stdout)
	tally := coverage.NewTally()
	var failures []error
	inOrder(*jobs, *count, func(i uint64) generated {
		c, objects, err := generate.Case(*seed, *start+i, *profile, *release)
		if err == nil && *withExpect {
			fillIn(c, solver.SolveObjects(c, objects))
		}
		return generated{c, objects, err}
	}, func(result generated) bool {
		err := result.err
		if err == nil {
			err = out.Write(result.c)
		}
		if err != nil {
			failures = append(failures, err)
		} else if *withExpect && *withCoverage {
			tally.Add(result.c, features.Of(result.c, result.objects))
		}
		return err == nil
	})
	if err := flushed(out, errors.Join(failures...)); err != nil {
		return err
	}
	if tally.Cases == 0 {
		return nil
	}
	return reportCoverage(tally, os.Stderr)
}

type generated struct {
	c       *cases.Case
	objects *cases.Objects
	err     error
}

// inOrder calls work for the numbers below count in parallel and use for the results in order,
// until use returns false.
func inOrder[T any](jobs int, count uint64, work func(uint64) T, use func(T) bool) {
	jobs = max(1, jobs)
	// The queue holds the places of results in order; it is short, so that results that nobody
	// reads do not pile up.
	queue := make(chan chan T, 4*jobs)
	slots := make(chan struct{}, jobs)
	stop := make(chan struct{})
	go func() {
		defer close(queue)
		for i := range count {
			place := make(chan T, 1)
			select {
			case queue <- place:
			case <-stop:
				return
			}
			slots <- struct{}{}
			go func() {
				place <- work(i)
				<-slots
			}()
		}
	}()
	for place := range queue {
		if !use(<-place) {
			close(stop)
			return
		}
	}
}
