//go:build !older

package upstream

import (
	"context"
	"errors"
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourceinformers "k8s.io/client-go/informers/resource/v1"
	resourcelisters "k8s.io/client-go/listers/resource/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/dynamic-resource-allocation/resourceslice/tracker"
)

// WithTaintRules returns the slices with the taints of the rules, as the real ResourceSlice
// tracker adds them. The order of the slices stays.
func WithTaintRules(slices []*resourceapi.ResourceSlice, rules []*resourceapi.DeviceTaintRule, consumableCapacity bool) ([]*resourceapi.ResourceSlice, error) {
	sliceInformer, err := newStaticInformer(slices)
	if err != nil {
		return nil, err
	}
	ruleInformer, err := newStaticInformer(rules)
	if err != nil {
		return nil, err
	}
	t, err := tracker.StartTracker(context.Background(), tracker.Options{
		EnableDeviceTaintRules:   true,
		EnableConsumableCapacity: consumableCapacity,
		SliceInformer:            sliceSource{sliceInformer},
		TaintInformer:            ruleSource{ruleInformer},
	})
	if err != nil {
		return nil, err
	}
	defer t.Stop()
	patched, err := t.ListPatchedResourceSlices()
	if err != nil {
		return nil, err
	}
	byName := make(map[string]*resourceapi.ResourceSlice, len(patched))
	for _, slice := range patched {
		byName[slice.Name] = slice
	}
	out := make([]*resourceapi.ResourceSlice, 0, len(slices))
	for _, slice := range slices {
		p := byName[slice.Name]
		if p == nil {
			return nil, fmt.Errorf("slice %s is missing in the tracker", slice.Name)
		}
		out = append(out, p)
	}
	return out, nil
}

// staticInformer is an informer of objects that never change. It hands them to a handler at
// once, in the goroutine of the caller: a fake clientset with a real informer takes a hundred
// times longer, which matters for 100,000 cases. The embedded interface is nil on purpose, any
// other method of it would panic.
type staticInformer struct {
	cache.SharedIndexInformer
	indexer cache.Indexer
	objects []any
}

func newStaticInformer[T metav1.Object](objects []T) (*staticInformer, error) {
	informer := &staticInformer{indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	seen := make(map[string]bool, len(objects))
	for _, obj := range objects {
		if seen[obj.GetName()] {
			return nil, errors.New("two objects are named " + obj.GetName())
		}
		seen[obj.GetName()] = true
		informer.objects = append(informer.objects, obj)
		if err := informer.indexer.Add(obj); err != nil {
			return nil, err
		}
	}
	return informer, nil
}

func (s *staticInformer) AddIndexers(indexers cache.Indexers) error {
	return s.indexer.AddIndexers(indexers)
}

func (s *staticInformer) GetIndexer() cache.Indexer { return s.indexer }

func (s *staticInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	for _, obj := range s.objects {
		handler.OnAdd(obj, true)
	}
	return synced{}, nil
}

func (s *staticInformer) RemoveEventHandler(cache.ResourceEventHandlerRegistration) error { return nil }

// synced is the registration of a handler that has seen everything.
type synced struct{}

func (synced) HasSynced() bool                     { return true }
func (synced) HasSyncedChecker() cache.DoneChecker { return synced{} }
func (synced) Name() string                        { return "static" }

func (synced) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

type sliceSource struct{ informer *staticInformer }

func (s sliceSource) Informer() cache.SharedIndexInformer { return s.informer }

func (s sliceSource) TypedInformer() resourceinformers.ResourceSliceIndexInformer {
	return resourceinformers.ToResourceSliceIndexInformer(s.informer)
}

func (s sliceSource) Lister() resourcelisters.ResourceSliceLister {
	return resourcelisters.NewResourceSliceLister(s.informer.indexer)
}

type ruleSource struct{ informer *staticInformer }

func (s ruleSource) Informer() cache.SharedIndexInformer { return s.informer }

func (s ruleSource) TypedInformer() resourceinformers.DeviceTaintRuleIndexInformer {
	return resourceinformers.ToDeviceTaintRuleIndexInformer(s.informer)
}

func (s ruleSource) Lister() resourcelisters.DeviceTaintRuleLister {
	return resourcelisters.NewDeviceTaintRuleLister(s.informer.indexer)
}
