package upstream

import (
	"context"
	"fmt"
	"math"
	"sync"

	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"

	"kubectl-dra.test/internal/cases"
)

// ErrPanic is the type of the error where the library panics while it compiles: kube-scheduler would
// crash, the API server answers with an internal error.
const ErrPanic apiservercel.ErrorType = "panic"

// EstimateCEL compiles the selector of a case in the environment that it asks for, and estimates its cost.
func EstimateCEL(c *cases.CELCase) (result cel.CompilationResult) {
	defer func() {
		if problem := recover(); problem != nil {
			result.Error = &apiservercel.Error{Type: ErrPanic, Detail: fmt.Sprintf("panic: %v", problem)}
		}
	}()
	envType := environment.StoredExpressions
	if c.New {
		envType = environment.NewExpressions
	}
	return compilerFor(celFeatures(!c.DisableConsumableCapacity, c.ListTypeAttributes)).CompileCELExpression(c.Expression, cel.Options{EnvType: &envType})
}

type compiler interface {
	CompileCELExpression(expression string, options cel.Options) cel.CompilationResult
}

var (
	compilersMutex sync.Mutex
	// The library keeps only the last one, and making one takes long.
	compilers = map[cel.Features]compiler{}
)

func compilerFor(features cel.Features) compiler {
	compilersMutex.Lock()
	defer compilersMutex.Unlock()
	if compilers[features] == nil {
		compilers[features] = cel.GetCompiler(features)
	}
	return compilers[features]
}

// EvaluateCEL evaluates the compiled selector of a case once.
func EvaluateCEL(compiled cel.CompilationResult, c *cases.CELCase) cases.CELExpect {
	var out cases.CELExpect
	if compiled.Error != nil {
		out.CompileError = compiled.Error.Error()
		return out
	}
	out.Compiles = true
	maxCost := min(compiled.MaxCost, math.MaxInt64)
	out.MaxCost = &maxCost
	matches, details, err := compiled.DeviceMatches(context.Background(), CELDevice(&c.Device))
	if details != nil && details.ActualCost() != nil {
		out.Cost = *details.ActualCost()
	}
	if err != nil {
		out.RuntimeError = err.Error()
		return out
	}
	out.Matches = matches
	return out
}

// CompileCEL compiles the selector of a case as the scheduler does, in the environment for stored
// expressions and without an estimate.
func (s *Solver) CompileCEL(c *cases.CELCase) cel.CompilationResult {
	cache := s.cacheFor(cases.Features{
		ConsumableCapacity: !c.DisableConsumableCapacity,
		ListTypeAttributes: c.ListTypeAttributes,
	})
	return cache.GetOrCompile(c.Expression)
}

// CELDevice converts to the input of the library.
func CELDevice(d *cases.CELDevice) cel.Device {
	return cel.Device{
		Driver:                   d.Driver,
		AllowMultipleAllocations: d.AllowMultipleAllocations,
		Attributes:               d.Attributes,
		Capacity:                 d.Capacity,
	}
}

// AnswerCEL evaluates repeatedly. It keeps the largest cost seen and returns false when the result
// itself varies or compiling panics, which makes the case useless.
func AnswerCEL(c *cases.CELCase, repeated int) (cases.CELExpect, bool) {
	compiled := EstimateCEL(c)
	if compiled.Error != nil && compiled.Error.Type == ErrPanic {
		return EvaluateCEL(compiled, c), false
	}
	result := EvaluateCEL(compiled, c)
	for i := 0; i < repeated && result.Compiles; i++ {
		again := EvaluateCEL(compiled, c)
		if again.Matches != result.Matches || again.RuntimeError != result.RuntimeError {
			return result, false
		}
		result.CostVaries = result.CostVaries || again.Cost != result.Cost
		result.Cost = max(result.Cost, again.Cost)
	}
	return result, true
}
