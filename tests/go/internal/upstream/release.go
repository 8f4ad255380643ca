//go:build !older

package upstream

import (
	"errors"

	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"kubectl-dra.test/internal/cases"
)

// DefaultAllocators leaves out "stable". kube-scheduler picks the first implementation that
// supports all enabled features: with its default features "incubating", with alpha features
// "experimental". "stable" gets picked only when several features are turned off, does not sort
// pools (its results vary between runs) and ignores capacity requests.
var DefaultAllocators = []string{"incubating", "experimental"}

// EnableAllocators replaces DefaultAllocators for the whole process.
func EnableAllocators(names ...string) { structured.EnableAllocators(names...) }

func init() { EnableAllocators(DefaultAllocators...) }

// structuredFeatures converts to the type of the library. The fields are in the same order.
func structuredFeatures(c *cases.Case) structured.Features { return structured.Features(c.Features) }

// rulesApply tells whether DeviceTaintRules count.
func rulesApply(c *cases.Case) bool { return c.Features.DeviceTaints }

// failedOnNode tells whether the error is only about the node.
func failedOnNode(err error) bool { return errors.Is(err, structured.ErrFailedAllocationOnNode) }

func celFeatures(consumableCapacity, listTypeAttributes bool) cel.Features {
	return cel.Features{EnableConsumableCapacity: consumableCapacity, EnableListTypeAttributes: listTypeAttributes}
}
