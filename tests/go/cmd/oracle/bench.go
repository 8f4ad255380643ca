package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/dynamic-resource-allocation/cel"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/families"
	"kubectl-dra.test/internal/upstream"
)

// measurement is one line of output. Ns is the median over the repetitions, Least the least of them.
type measurement struct {
	Name  string `json:"name"`
	Ns    int64  `json:"ns"`
	Least int64  `json:"least"`
	Runs  int    `json:"runs"`
	// Outcome is the verdict on the case's node.
	Outcome string `json:"outcome,omitempty"`
}

// bench measures the Go code on the families and on the hot selector, on one goroutine.
func bench(args []string) error {
	fs := flag.NewFlagSet("bench", flag.ExitOnError)
	each := fs.Duration("time", time.Second, "how long to repeat each measurement")
	only := fs.String("run", "", "regular expression for the names to run")
	celCases := fs.String("cel-cases", "", "file with CEL cases to measure, too")
	_ = fs.Parse(args)
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	out := cases.NewLineWriter(os.Stdout)
	b := &benchmark{each: *each, pattern: pattern, emit: func(m measurement) error {
		if err := out.Write(m); err != nil {
			return err
		}
		return out.Flush()
	}}
	for _, family := range families.All {
		for _, size := range family.Sizes {
			if err := b.family(&family, size); err != nil {
				return fmt.Errorf("%s/%d: %w", family.Name, size, err)
			}
		}
	}
	if err := b.hotSelector(); err != nil {
		return err
	}
	if *celCases != "" {
		return b.celCases(*celCases)
	}
	return nil
}

type benchmark struct {
	each    time.Duration
	pattern *regexp.Regexp
	emit    func(measurement) error
}

// measure repeats run and emits the median time of one call. A short call is timed in batches.
func (b *benchmark) measure(m measurement, run func() error) error {
	if !b.pattern.MatchString(m.Name) {
		return nil
	}
	// The first call fills caches and tells how long a batch has to be.
	start := time.Now()
	if err := run(); err != nil {
		return err
	}
	batch := max(1, int(100*time.Microsecond/max(1, time.Since(start))))
	var times []int64
	for begin := time.Now(); len(times) == 0 || time.Since(begin) < b.each; {
		start := time.Now()
		for range batch {
			if err := run(); err != nil {
				return err
			}
		}
		times = append(times, time.Since(start).Nanoseconds()/int64(batch))
	}
	slices.Sort(times)
	m.Ns, m.Least, m.Runs = times[len(times)/2], times[0], batch*len(times)
	return b.emit(m)
}

func (b *benchmark) family(family *families.Family, size int) error {
	name := fmt.Sprintf("%s/%d", family.Name, size)
	if !b.pattern.MatchString(name) {
		return nil
	}
	c, err := family.Case(size)
	if err != nil {
		return err
	}
	objects, err := cases.DecodeObjects(c.Objects)
	if err != nil {
		return err
	}
	solver := upstream.NewSolver(upstream.SchedulerCacheSize)
	result := solver.SolveObjects(c, objects)
	if result.Outcome == cases.Failed {
		return fmt.Errorf("unexpected error: %s", result.Error)
	}
	gather := func() (*upstream.Problem, error) { return solver.Prepare(c, objects) }
	problem, err := gather()
	if err != nil {
		return err
	}
	ctx := context.Background()
	allocator, err := problem.NewAllocator(ctx)
	if err != nil {
		return err
	}
	nodes := []*v1.Node{problem.Node}
	if family.EveryNode {
		nodes = problem.Nodes
	}
	m := measurement{Name: name, Outcome: result.Outcome}
	err = b.measure(m, func() error {
		for _, node := range nodes {
			if _, err := allocator.Allocate(ctx, node, problem.Claims); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(problem.Nodes) == 1 {
		return err
	}
	// What the scheduler does once per Pod before it looks at nodes.
	return b.measure(measurement{Name: name + "/gather"}, func() error {
		problem, err := gather()
		if err != nil {
			return err
		}
		_, err = problem.NewAllocator(ctx)
		return err
	})
}

func (b *benchmark) hotSelector() error {
	c := &cases.CELCase{Expression: families.HotSelector}
	if err := json.Unmarshal([]byte(`{"driver":"d","attributes":{"model":{"string":"A100"}},"capacity":{"memory":{"value":"80Gi"}}}`), &c.Device); err != nil {
		return err
	}
	return b.selectors("cel/hot", []*cases.CELCase{c})
}

// celCases measures one evaluation on average over the cases that compile.
func (b *benchmark) celCases(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var list []*cases.CELCase
	err = cases.EachLine(file, func(line []byte) error {
		var c cases.CELCase
		if err := json.Unmarshal(line, &c); err != nil {
			return err
		}
		list = append(list, &c)
		return nil
	})
	if err != nil {
		return err
	}
	return b.selectors("cel/cases", list)
}

func (b *benchmark) selectors(name string, list []*cases.CELCase) error {
	type prepared struct {
		compiled cel.CompilationResult
		device   cel.Device
	}
	solver := upstream.NewSolver(len(list))
	var ready []prepared
	for _, c := range list {
		if compiled := solver.CompileCEL(c); compiled.Error == nil {
			ready = append(ready, prepared{compiled, upstream.CELDevice(&c.Device)})
		}
	}
	ctx := context.Background()
	if len(ready) == 1 {
		return b.measure(measurement{Name: name}, func() error {
			_, _, err := ready[0].compiled.DeviceMatches(ctx, ready[0].device)
			return err
		})
	}
	// One round over all of them, so that the mean does not depend on where a batch ends.
	var total measurement
	inner := &benchmark{each: b.each, pattern: b.pattern, emit: func(m measurement) error {
		total = m
		return nil
	}}
	err := inner.measure(measurement{Name: name}, func() error {
		for i := range ready {
			// Failing is a result like any other here.
			_, _, _ = ready[i].compiled.DeviceMatches(ctx, ready[i].device)
		}
		return nil
	})
	if err != nil || total.Runs == 0 {
		return err
	}
	total.Ns /= int64(len(ready))
	total.Least /= int64(len(ready))
	return b.emit(total)
}
