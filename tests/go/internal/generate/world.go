// Package generate makes up allocator cases: clusters, claims in use and claims to allocate that
// mix all features of device allocation.
//
// A case is a function of the seed, its number and the profile. Claims are mostly planned: the
// generator picks devices that would do and then writes requests which these devices satisfy, so
// that a good part of the cases has a solution which the first-fit search has to look for. What
// the verdict is, the generator does not know; package upstream says so.
//
// Everything is accepted by an API server 1.37, with all feature gates on, except for the cases
// of the profile "foreign".
package generate

import (
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/features"
)

// foreignProfile marks the cases whose objects no API server 1.37 would let in.
const foreignProfile = "foreign"

// target is the node that claims get allocated for.
const target = "node-1"

// world is a case in the making.
type world struct {
	rng
	profile string
	want    features.Set
	trap    trap
	gates   cases.Features
	// release is nil for the newest one.
	release *cases.Release

	nodes   []*v1.Node
	pools   []*pool
	classes []*resourceapi.DeviceClass
	rules   []*cases.DeviceTaintRule
	pending []*resourceapi.ResourceClaim
	inUse   []*resourceapi.ResourceClaim
	// bystander is a claim that is neither allocated nor to be allocated, or nil.
	bystander *resourceapi.ResourceClaim

	// variety is how much devices differ from each other, from 0 to 1.
	variety float64
	// namespace of the Pod whose claims get allocated.
	namespace string
	// taken are the devices that claims have been planned with.
	taken map[deviceID]bool
	// drawn are the counters that planned devices consume.
	drawn map[counterID]int64
	names int
}

// Case returns the case with the given number. minor is 36 for one that fits Kubernetes 1.36, 0 for
// the newest release.
func Case(seed, index uint64, profile string, minor int) (*cases.Case, *cases.Objects, error) {
	r := newRNG(seed, index)
	w := &world{
		rng:       r,
		profile:   r.drawProfile(profile, minor),
		trap:      r.drawTrap(),
		namespace: "default",
		taken:     map[deviceID]bool{},
		drawn:     map[counterID]int64{},
	}
	w.want = r.drawFeatures(w.profile)
	if minor != 0 {
		w.drawRelease(minor)
	}
	for _, f := range trapNeeds[w.trap] {
		w.want[f] = true
		for _, needed := range needs[f] {
			w.want[needed] = true
		}
	}
	w.variety = pick(w.rng, 0, 0.1, 0.5, 0.5, 1)
	if w.release == nil {
		w.drawGates()
	}
	w.buildNodes()
	w.buildPools()
	w.buildTaintRules()
	w.buildClasses()
	w.buildPending()
	w.buildInUse()
	w.springTrap()
	return w.finish(seed, index)
}

func (w *world) finish(seed, index uint64) (*cases.Case, *cases.Objects, error) {
	if w.trap.foreign() {
		w.profile = foreignProfile
	}
	c := &cases.Case{
		Name:     fmt.Sprintf("fuzz/%s/%d-%d", w.profile, seed, index),
		Source:   "fuzz",
		Profile:  w.profile,
		Features: w.gates,
		Release:  w.release,
		Node:     target,
	}
	for _, claim := range w.pending {
		c.Claims = append(c.Claims, claim.Namespace+"/"+claim.Name)
	}
	for _, obj := range shuffled(w.rng, w.objects()) {
		raw, err := cases.EncodeObject(obj)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		c.Objects = append(c.Objects, raw)
	}
	// What the solver sees has to be what a reader of the file sees.
	objects, err := cases.DecodeObjects(c.Objects)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	c.Covers = features.Of(c, objects).List()
	return c, objects, nil
}

func (w *world) objects() []any {
	var out []any
	for _, node := range w.nodes {
		out = append(out, node)
	}
	for _, class := range w.classes {
		out = append(out, class)
	}
	for _, p := range w.pools {
		for _, slice := range p.published() {
			out = append(out, slice)
		}
	}
	for _, rule := range w.rules {
		out = append(out, rule)
	}
	for _, claim := range w.inUse {
		out = append(out, claim)
	}
	for _, claim := range w.pending {
		out = append(out, claim)
	}
	if w.bystander != nil {
		out = append(out, w.bystander)
	}
	return out
}

// uid returns a new UID. It has the form of a random one, which API validation asks for.
func (w *world) uid() types.UID {
	w.names++
	return types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", w.Uint32(), w.names))
}

func (w *world) claimMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name, UID: w.uid()}
}

// parameters is an opaque configuration.
func (w *world) parameters() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"kind":"Config","value":%d}`, w.IntN(100)))
}
