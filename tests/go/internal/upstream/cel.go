package upstream

import (
	"context"

	"k8s.io/dynamic-resource-allocation/cel"

	"kubectl-dra.test/internal/cases"
)

// EvaluateCEL compiles a selector as the scheduler does, in the environment for stored
// expressions, and evaluates it once.
func (s *Solver) EvaluateCEL(c *cases.CELCase) cases.CELExpect {
	var out cases.CELExpect
	compiled := s.CompileCEL(c)
	if compiled.Error != nil {
		out.CompileError = compiled.Error.Error()
		return out
	}
	out.Compiles = true
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

// CompileCEL compiles the selector of a case.
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
