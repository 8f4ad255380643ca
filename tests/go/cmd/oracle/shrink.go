package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/shrink"
	"kubectl-dra.test/internal/upstream"
)

// shrinkKeys are what an object cannot do without, neither for the API server nor for a reader.
var shrinkKeys = []string{
	"apiVersion", "kind", "metadata", "spec", "name", "namespace", "driver", "pool", "device", "request",
	"generation", "resourceSliceCount", "requests", "deviceClassName", "allocationMode", "count", "value",
}

// shrinkCase reads one case and prints the smallest one for which a command still succeeds.
func shrinkCase(args []string) error {
	fs := flag.NewFlagSet("shrink", flag.ExitOnError)
	test := fs.String("test", "", "shell command that reads a case with its expectation and exits with 0 while it still differs")
	timeout := fs.Duration("timeout", time.Minute, "limit for one run of the command; exceeding it means no difference")
	maxSteps := fs.Int64("max-steps", defaultMaxSteps, "where a search of the real allocator counts as a timeout")
	_ = fs.Parse(args)
	if *test == "" {
		return errors.New("--test is missing")
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	solver := newSteadySolver(*maxSteps)
	tries := 0
	differs := func(document []byte) (bool, error) {
		judged, ok := judge(solver, document)
		if !ok {
			return false, nil
		}
		tries++
		return succeeds(*test, judged, *timeout)
	}
	smallest, err := shrink.Shrink(input, differs, shrink.Options{
		Keep:  shrinkKeys,
		Whole: []string{"features"},
		Progress: func(size int) {
			fmt.Fprintf(os.Stderr, "%d bytes after %d tries\n", size, tries)
		},
	})
	if err != nil {
		return err
	}
	judged, ok := judge(solver, smallest)
	if !ok {
		return errors.New("the result is not a case")
	}
	_, err = os.Stdout.Write(append(judged, '\n'))
	return err
}

// judge fills in the verdict of the real allocator, or returns false for what is not a valid case.
func judge(solver *upstream.Solver, document []byte) ([]byte, bool) {
	var c cases.Case
	if err := json.Unmarshal(document, &c); err != nil {
		return nil, false
	}
	objects, err := cases.DecodeObjects(c.Objects)
	if err != nil {
		return nil, false
	}
	if _, err := solver.Prepare(&c, objects); err != nil {
		return nil, false
	}
	fillIn(&c, solver.SolveObjects(&c, objects))
	if c.Work == nil || c.Work.Cause == upstream.CausePanic {
		return nil, false
	}
	judged, err := cases.Marshal(c)
	return judged, err == nil
}

func succeeds(command string, input []byte, timeout time.Duration) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	run := exec.CommandContext(ctx, "sh", "-c", command)
	run.Stdin = bytes.NewReader(append(input, '\n'))
	err := run.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true, nil
	case errors.As(err, &exit):
		return false, nil
	}
	// A command that closes its input early or runs into the limit is an answer, too; one that
	// cannot be started is not.
	if ctx.Err() != nil || run.ProcessState != nil {
		return false, nil
	}
	return false, err
}
