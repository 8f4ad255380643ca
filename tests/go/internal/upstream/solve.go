// Package upstream runs the code of Kubernetes that decides about devices: the structured
// allocator, the ResourceSlice tracker and the CEL selectors.
//
// It prepares their input the way kube-scheduler does and adds nothing to their decisions. What
// the scheduler plugin does around the allocator is left out.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	"k8s.io/klog/v2"

	"kubectl-dra.test/internal/cases"
)

const (
	// FilterTimeout is kube-scheduler's limit for one Allocate call.
	FilterTimeout = 10 * time.Second
	// SchedulerCacheSize is how many compiled expressions kube-scheduler keeps.
	SchedulerCacheSize = 10
)

// Solver runs cases. It may be used by several goroutines.
type Solver struct {
	// Timeout limits one Allocate call in time. Zero means no limit.
	Timeout time.Duration
	// MaxSteps limits the search to about that many picked devices. In contrast to Timeout the
	// outcome does not depend on the machine. Needs CountWork. Zero means no limit.
	MaxSteps int64
	// CountWork fills in Result.Work, which slows the search down.
	CountWork bool

	cacheSize int
	mutex     sync.Mutex
	caches    map[cel.Features]*cel.Cache
}

// NewSolver returns a Solver without limits that keeps cacheSize compiled expressions.
func NewSolver(cacheSize int) *Solver {
	return &Solver{cacheSize: cacheSize, caches: make(map[cel.Features]*cel.Cache)}
}

// Solve runs one case. An invalid case is reported as a failed outcome.
func (s *Solver) Solve(c *cases.Case) cases.Result {
	objects, err := cases.DecodeObjects(c.Objects)
	if err != nil {
		return invalid(c, err)
	}
	return s.SolveObjects(c, objects)
}

// SolveObjects runs one case whose objects are decoded already.
func (s *Solver) SolveObjects(c *cases.Case, objects *cases.Objects) cases.Result {
	problem, err := s.Prepare(c, objects)
	if err != nil {
		return invalid(c, err)
	}
	return s.run(c.Name, problem)
}

func invalid(c *cases.Case, err error) cases.Result {
	return cases.Result{
		Name:   c.Name,
		Expect: cases.Expect{Outcome: cases.Failed, Error: "case is invalid: " + err.Error()},
	}
}

// Problem is a case in the form that the allocator takes.
type Problem struct {
	Features structured.Features
	State    structured.AllocatedState
	Classes  structured.DeviceClassLister
	Slices   []*resourceapi.ResourceSlice
	Cache    *cel.Cache
	Nodes    []*v1.Node
	Node     *v1.Node
	Claims   []*resourceapi.ResourceClaim
}

// NewAllocator returns an allocator for the problem, which is what kube-scheduler creates in PreFilter.
func (p *Problem) NewAllocator(ctx context.Context) (structured.Allocator, error) {
	return structured.NewAllocator(ctx, p.Features, p.State, p.Classes, p.Slices, p.Cache)
}

// Prepare gathers the input of the allocator.
func (s *Solver) Prepare(c *cases.Case, objects *cases.Objects) (*Problem, error) {
	problem := &Problem{
		Features: structuredFeatures(c),
		State:    GatherAllocated(objects.Claims, c.Features.ConsumableCapacity),
		Classes:  newClassLister(objects.Classes),
		Slices:   objects.Slices,
		Cache:    s.cacheFor(c.Features),
		Nodes:    objects.Nodes,
	}
	at := slices.IndexFunc(objects.Nodes, func(n *v1.Node) bool { return n.Name == c.Node })
	if at < 0 {
		return nil, fmt.Errorf("node %q not found", c.Node)
	}
	problem.Node = objects.Nodes[at]
	for _, key := range c.Claims {
		claim, err := findClaim(objects.Claims, key)
		if err != nil {
			return nil, err
		}
		problem.Claims = append(problem.Claims, claim)
	}
	if rulesApply(c) && len(objects.Rules) > 0 {
		tainted, err := WithTaintRules(objects.Slices, objects.Rules, c.Features.ConsumableCapacity)
		if err != nil {
			return nil, err
		}
		problem.Slices = tainted
	}
	return problem, nil
}

func findClaim(claims []*resourceapi.ResourceClaim, key string) (*resourceapi.ResourceClaim, error) {
	namespace, name, _ := strings.Cut(key, "/")
	for _, claim := range claims {
		if claim.Namespace != namespace || claim.Name != name {
			continue
		}
		if claim.Status.Allocation != nil {
			return nil, fmt.Errorf("claim %q is already allocated", key)
		}
		return claim, nil
	}
	return nil, fmt.Errorf("claim %q not found", key)
}

func (s *Solver) run(name string, problem *Problem) cases.Result {
	result := cases.Result{Name: name}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var probe *workProbe
	if s.CountWork {
		probe = &workProbe{maxSteps: s.MaxSteps, stop: cancel, rejections: map[string]bool{}}
		ctx = klog.NewContext(ctx, klog.New(probe))
	}
	if s.Timeout > 0 {
		var cancelTimeout context.CancelFunc
		ctx, cancelTimeout = context.WithTimeout(ctx, s.Timeout)
		defer cancelTimeout()
	}
	allocator, err := problem.NewAllocator(ctx)
	if err != nil {
		result.Outcome, result.Error = cases.Failed, err.Error()
		return result
	}
	start := time.Now()
	allocations, err := allocate(ctx, allocator, problem)
	result.DurationNs = time.Since(start).Nanoseconds()
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errStepLimit):
		result.Outcome, result.Error = cases.TimedOut, err.Error()
	case failedOnNode(err):
		result.Outcome, result.Error = cases.NoFit, err.Error()
	case err != nil:
		result.Outcome, result.Error = cases.Failed, err.Error()
	case len(allocations) != len(problem.Claims):
		result.Outcome = cases.NoFit
	default:
		result.Outcome, result.Allocations = cases.Allocated, allocations
	}
	if probe != nil {
		result.Work = &cases.Work{
			Steps:      stepsOf(allocator),
			Backtracks: probe.backtracks,
			Rejections: slices.Sorted(maps.Keys(probe.rejections)),
		}
		if result.Outcome == cases.Failed {
			result.Work.Cause = CauseOf(result.Error)
		}
	}
	return result
}

// allocate turns a panic into an error: the library relies on what API validation guarantees, and
// a case that is being shrunk may not have that.
func allocate(ctx context.Context, allocator structured.Allocator, problem *Problem) (allocations []resourceapi.AllocationResult, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %v", panicText, r)
		}
	}()
	return allocator.Allocate(ctx, problem.Node, problem.Claims)
}

// stepsOf reads the allocator's own counter. Its type is internal to the library, which leaves
// reflection as the only way in.
func stepsOf(allocator structured.Allocator) int64 {
	method := reflect.ValueOf(allocator).MethodByName("GetStats")
	if !method.IsValid() {
		return 0
	}
	// Some releases return a pointer, nil where they do not count.
	stats := reflect.Indirect(method.Call(nil)[0])
	if !stats.IsValid() {
		return 0
	}
	return stats.FieldByName("NumAllocateOneInvocations").Int()
}

func (s *Solver) cacheFor(f cases.Features) *cel.Cache {
	key := celFeatures(f.ConsumableCapacity, f.ListTypeAttributes)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	cache := s.caches[key]
	if cache == nil {
		cache = cel.NewCache(s.cacheSize, key)
		s.caches[key] = cache
	}
	return cache
}

// classLister serves DeviceClasses with the same not-found error as the informer's lister.
type classLister struct {
	list   []*resourceapi.DeviceClass
	byName map[string]*resourceapi.DeviceClass
}

func newClassLister(classes []*resourceapi.DeviceClass) *classLister {
	lister := &classLister{list: classes, byName: make(map[string]*resourceapi.DeviceClass, len(classes))}
	for _, class := range classes {
		lister.byName[class.Name] = class
	}
	return lister
}

func (l *classLister) List() ([]*resourceapi.DeviceClass, error) { return l.list, nil }

func (l *classLister) Get(name string) (*resourceapi.DeviceClass, error) {
	if class, ok := l.byName[name]; ok {
		return class, nil
	}
	return nil, apierrors.NewNotFound(resourceapi.Resource("deviceclass"), name)
}
