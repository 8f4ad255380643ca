package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/celgen"
	"kubectl-dra.test/internal/upstream"
)

// repeatedEvaluations is how often a selector is evaluated to find out whether its cost or result
// depends on the iteration order of a map.
const repeatedEvaluations = 30

// lastMinor is the Kubernetes version that the oracle is built from.
const lastMinor = 37

func evaluateCEL(args []string) error {
	fs := flag.NewFlagSet("cel", flag.ExitOnError)
	withExpect := fs.Bool("expect", false, "print the case with its expectation instead of the result")
	_ = fs.Parse(args)
	out := cases.NewLineWriter(os.Stdout)
	err := cases.EachLine(os.Stdin, func(line []byte) error {
		var c cases.CELCase
		if err := json.Unmarshal(line, &c); err != nil {
			return out.Write(cases.CELResult{CELExpect: cases.CELExpect{CompileError: "case is invalid: " + err.Error()}})
		}
		if c.Minor != 0 && c.Minor != lastMinor {
			return out.Write(cases.CELResult{Name: c.Name, CELExpect: cases.CELExpect{
				CompileError: fmt.Sprintf("case is for Kubernetes 1.%d, this is 1.%d", c.Minor, lastMinor),
			}})
		}
		result, steady := upstream.AnswerCEL(&c, repeatedEvaluations)
		if !*withExpect {
			return out.Write(cases.CELResult{Name: c.Name, CELExpect: result})
		}
		if !steady {
			fmt.Fprintf(os.Stderr, "%s: result depends on map order, dropped\n", c.Name)
			return nil
		}
		c.Expect = &result
		return out.Write(c)
	})
	return flushed(out, err)
}

// generateCEL prints made-up selectors with their expectation. The same flags give the same bytes,
// but for selectors that depend on the iteration order of a map in a way that repetition does not show.
func generateCEL(args []string) error {
	fs := flag.NewFlagSet("generate-cel", flag.ExitOnError)
	seed := fs.Uint64("seed", 1, "cases of different seeds differ")
	start := fs.Uint64("start", 0, "number of the first case")
	count := fs.Uint64("count", 100, "how many cases")
	repeat := fs.Int("repeat", 4, "how often to evaluate a case, to drop those whose result varies")
	jobs := fs.Int("jobs", runtime.GOMAXPROCS(0), "how many cases to work on at once")
	_ = fs.Parse(args)
	env := upstream.EstimateCEL(&cases.CELCase{Expression: "true", ListTypeAttributes: true}).Environment
	if env == nil {
		return errors.New("the environment does not compile anything")
	}
	generator := celgen.NewGenerator(env)
	out := cases.NewLineWriter(os.Stdout)
	var failure error
	compiles, dropped := 0, 0
	type answered struct {
		c      *cases.CELCase
		steady bool
	}
	inOrder(*jobs, *count, func(i uint64) answered {
		c := generator.Case(*seed, *start+i)
		result, steady := upstream.AnswerCEL(c, *repeat)
		c.Expect = &result
		return answered{c, steady}
	}, func(a answered) bool {
		if a.c.Expect.Compiles {
			compiles++
		}
		if !a.steady {
			dropped++
			return true
		}
		failure = out.Write(a.c)
		return failure == nil
	})
	fmt.Fprintf(os.Stderr, "%d selectors, %d compile, %d dropped because their result varies or the library panics\n", *count, compiles, dropped)
	return flushed(out, failure)
}
