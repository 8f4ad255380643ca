// Package families builds allocation problems that grow with a number: the benchmarks of this
// project and the searches without a solution that are exponential in the library.
//
// A problem is an ordinary case, so that every implementation can run the very same input.
package families

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kubectl-dra.test/internal/cases"
)

// Family is a problem of any size.
type Family struct {
	Name  string
	About string
	// EveryNode tells that the claim is judged on all nodes of the case, not only on its node.
	EveryNode bool
	// Sizes are what the benchmark runs.
	Sizes []int
	// Max is the largest size that the API allows, zero if there is no limit.
	Max   int
	build func(b *builder, size int)
}

// All lists the families in the order of the benchmark.
var All = []Family{
	{"nodes", "SIZE nodes with 10 devices each, one device asked for", true, []int{500}, 0, plainNodes},
	{"nodes-selector", "the same with a selector on an attribute and a capacity", true, []int{500}, 0, selectorNodes},
	{"nodes-match", "the same, two devices with the same value of an attribute", true, []int{500}, 0, matchNodes},
	{"nodes-partitions", "the same, the devices are partitions of two counter sets", true, []int{500}, 0, partitionNodes},
	{"nodes-shares", "the same, the devices can be shared by capacity", true, []int{500}, 0, shareNodes},
	{"full", "SIZE nodes with 10 devices each, all of them in use, every node judged", true, []int{500}, 0, fullNodes},
	{"gpus", "SIZE nodes with 8 GPUs each, some in use, 4 with a selector asked for, every node judged", true, []int{5000}, 0, gpuNodes},
	{"short", "SIZE devices asked for, one fewer there, all alike", false, []int{8, 12, 16, 20}, 32, short},
	{"short-requests", "SIZE requests for one device each, one device fewer there", false, []int{4, 6, 8, 9}, 32, shortRequests},
	{"classes", "two requests for SIZE devices each under a matchAttribute, one device too few in either group", false, []int{3, 4, 5, 6}, 16, classes},
	{"distinct", "SIZE devices with distinct values asked for, one value fewer there on twice as many devices", false, []int{4, 6, 8}, 32, distinct},
	{"alternatives", "SIZE requests with three alternatives each, one device fewer there", false, []int{3, 4, 5}, 32, alternatives},
	{"partitions", "SIZE GPUs cut into halves, one half too many asked for", false, []int{4, 6, 8}, 15, partitions},
	{"partitions-two", "the same with a second counter set that all partitions draw from", false, []int{4, 6}, 15, partitionsTwoSets},
	{"shares", "two SIZE-th shares of SIZE devices by capacity, one share too many asked for", false, []int{3, 4, 5}, 15, shares},
}

// Find returns the family of that name.
func Find(name string) (*Family, error) {
	at := slices.IndexFunc(All, func(f Family) bool { return f.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("no family %q, see the list without arguments", name)
	}
	return &All[at], nil
}

// Case builds the problem of the given size.
func (f *Family) Case(size int) (*cases.Case, error) {
	if size < 1 {
		return nil, fmt.Errorf("size %d is less than 1", size)
	}
	if f.Max > 0 && size > f.Max {
		return nil, fmt.Errorf("size %d is more than %d, the most that the API allows", size, f.Max)
	}
	b := &builder{
		c: &cases.Case{
			Name:     fmt.Sprintf("family/%s/%d", f.Name, size),
			Source:   "family",
			Profile:  f.Name,
			Notes:    strings.ReplaceAll(f.About, "SIZE", fmt.Sprint(size)),
			Features: cases.DefaultFeatures(),
			Node:     nodeName(0),
			Claims:   []string{"default/claim"},
		},
	}
	f.build(b, size)
	if err := b.finish(); err != nil {
		return nil, err
	}
	return b.c, nil
}

const driver = "d"

func nodeName(i int) string { return fmt.Sprintf("node-%04d", i) }

// builder collects the objects of a case.
type builder struct {
	c       *cases.Case
	objects []any
	claim   resourceapi.DeviceClaim
	inUse   []resourceapi.DeviceRequestAllocationResult
}

func (b *builder) finish() error {
	b.add(
		&resourceapi.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourceapi.DeviceClassSpec{Selectors: cel(`device.driver == "d"`)}},
		&resourceapi.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: resourceapi.DeviceClassSpec{Selectors: cel(`device.driver.startsWith("d")`)}},
	)
	for i := 0; i < len(b.inUse); i += resourceapi.AllocationResultsMaxSize {
		results := b.inUse[i:min(len(b.inUse), i+resourceapi.AllocationResultsMaxSize)]
		claim := claimOf(fmt.Sprintf("allocated-%d", i/resourceapi.AllocationResultsMaxSize), i+2, resourceapi.DeviceClaim{
			Requests: []resourceapi.DeviceRequest{request("req", "gpu", len(results))},
		})
		claim.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{Results: results}}
		b.add(claim)
	}
	b.add(claimOf("claim", 1, b.claim))
	for _, obj := range b.objects {
		raw, err := cases.EncodeObject(obj)
		if err != nil {
			return err
		}
		b.c.Objects = append(b.c.Objects, raw)
	}
	return nil
}

func (b *builder) add(objects ...any) { b.objects = append(b.objects, objects...) }

func claimOf(name string, number int, spec resourceapi.DeviceClaim) *resourceapi.ResourceClaim {
	return &resourceapi.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", number))},
		Spec:       resourceapi.ResourceClaimSpec{Devices: spec},
	}
}

// The API limits what fits into a slice; devices with counters count double.
const (
	maxDevicesPerSlice  = resourceapi.ResourceSliceMaxDevicesWithAdvancedFeatures
	maxCountersPerSlice = resourceapi.ResourceSliceMaxCounterSets
)

// node adds a node with one pool of local devices.
func (b *builder) node(i int, devices []resourceapi.Device, counters ...resourceapi.CounterSet) {
	name := nodeName(i)
	b.add(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}}})
	var parts []*resourceapi.ResourceSlice
	for chunk := range slices.Chunk(counters, maxCountersPerSlice) {
		slice := b.slice(name, fmt.Sprintf("%s-counters-%d", name, len(parts)))
		slice.Spec.SharedCounters = chunk
		parts = append(parts, slice)
	}
	for chunk := range slices.Chunk(devices, maxDevicesPerSlice) {
		slice := b.slice(name, fmt.Sprintf("%s-devices-%d", name, len(parts)))
		slice.Spec.Devices = chunk
		parts = append(parts, slice)
	}
	for _, slice := range parts {
		slice.Spec.Pool.ResourceSliceCount = int64(len(parts))
	}
}

func (b *builder) slice(node, name string) *resourceapi.ResourceSlice {
	slice := &resourceapi.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: resourceapi.ResourceSliceSpec{
			Driver:   driver,
			NodeName: &node,
			Pool:     resourceapi.ResourcePool{Name: node, Generation: 1},
		},
	}
	b.add(slice)
	return slice
}

// use marks a device of a node as allocated to some other claim.
func (b *builder) use(node int, device string) {
	b.inUse = append(b.inUse, resourceapi.DeviceRequestAllocationResult{
		Request: "req", Driver: driver, Pool: nodeName(node), Device: device,
	})
}

func (b *builder) ask(requests ...resourceapi.DeviceRequest) {
	b.claim.Requests = append(b.claim.Requests, requests...)
}

func request(name, class string, count int, selectors ...string) resourceapi.DeviceRequest {
	return resourceapi.DeviceRequest{Name: name, Exactly: &resourceapi.ExactDeviceRequest{
		DeviceClassName: class,
		AllocationMode:  resourceapi.DeviceAllocationModeExactCount,
		Count:           int64(count),
		Selectors:       cel(selectors...),
	}}
}

func cel(expressions ...string) []resourceapi.DeviceSelector {
	var out []resourceapi.DeviceSelector
	for _, expression := range expressions {
		out = append(out, resourceapi.DeviceSelector{CEL: &resourceapi.CELDeviceSelector{Expression: expression}})
	}
	return out
}

// gpu returns a device with the attributes of a typical driver.
func gpu(i int) resourceapi.Device {
	return resourceapi.Device{
		Name: fmt.Sprintf("gpu-%02d", i),
		Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{
			"model":         {StringValue: ptr.To([]string{"A100", "H100"}[i%2])},
			"index":         {IntValue: ptr.To(int64(i))},
			"numa":          {IntValue: ptr.To(int64(i / 4))},
			"driverVersion": {VersionValue: ptr.To("550.54.15")},
		},
		Capacity: map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
	}
}

// alike returns devices that differ in their names alone.
func alike(count int) []resourceapi.Device {
	devices := make([]resourceapi.Device, count)
	for i := range devices {
		devices[i] = gpu(0)
		devices[i].Name = fmt.Sprintf("gpu-%02d", i)
	}
	return devices
}

func gpus(count int) []resourceapi.Device {
	devices := make([]resourceapi.Device, count)
	for i := range devices {
		devices[i] = gpu(i)
	}
	return devices
}
