package families

import (
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

func short(b *builder, size int) {
	b.node(0, alike(size-1))
	b.ask(request("req", "gpu", size))
}

func shortRequests(b *builder, size int) {
	b.node(0, alike(size-1))
	for i := range size {
		b.ask(request(fmt.Sprintf("req-%02d", i), "gpu", 1))
	}
}

// classes has two groups of devices with 2*SIZE-1 members each; 2*SIZE of one group are needed.
func classes(b *builder, size int) {
	devices := alike(2 * (2*size - 1))
	for i := range devices {
		devices[i].Attributes["numa"] = resourceapi.DeviceAttribute{IntValue: ptr.To(int64(i / (2*size - 1)))}
	}
	b.node(0, devices)
	b.ask(request("req-0", "gpu", size), request("req-1", "other", size))
	b.matchNUMA()
}

func distinct(b *builder, size int) {
	devices := alike(2 * (size - 1))
	for i := range devices {
		devices[i].Attributes["numa"] = resourceapi.DeviceAttribute{IntValue: ptr.To(int64(i / 2))}
	}
	b.node(0, devices)
	b.ask(request("req", "gpu", size))
	b.claim.Constraints = append(b.claim.Constraints, resourceapi.DeviceConstraint{
		DistinctAttribute: ptr.To[resourceapi.FullyQualifiedName]("d/numa"),
	})
}

func alternatives(b *builder, size int) {
	b.node(0, alike(size-1))
	for i := range size {
		r := resourceapi.DeviceRequest{Name: fmt.Sprintf("req-%02d", i)}
		for j, class := range []string{"other", "gpu", "gpu"} {
			r.FirstAvailable = append(r.FirstAvailable, resourceapi.DeviceSubRequest{
				Name:            fmt.Sprintf("sub-%d", j),
				DeviceClassName: class,
				AllocationMode:  resourceapi.DeviceAllocationModeExactCount,
				Count:           1,
			})
		}
		b.ask(r)
	}
}

// partitions publishes each GPU as a whole and as two halves, as drivers for partitions do.
func partitions(b *builder, size int) {
	devices, sets := halves(size)
	b.node(0, devices, sets...)
	b.ask(request("req", "gpu", 2*size+1, `device.attributes["d"].model == "half"`))
}

func halves(size int) ([]resourceapi.Device, []resourceapi.CounterSet) {
	var devices []resourceapi.Device
	var sets []resourceapi.CounterSet
	for i := range size {
		set := fmt.Sprintf("gpu-%d", i)
		sets = append(sets, counterSet(set, 2))
		for j, model := range []string{"full", "half", "half"} {
			d := gpu(0)
			d.Name = fmt.Sprintf("gpu-%d-%s-%d", i, model, j)
			d.Attributes["model"] = resourceapi.DeviceAttribute{StringValue: ptr.To(model)}
			amount := int64(1)
			if model == "full" {
				amount = 2
			}
			d.ConsumesCounters = consumes(set, amount)
			devices = append(devices, d)
		}
	}
	return devices, sets
}

func partitionsTwoSets(b *builder, size int) {
	devices, sets := halves(size)
	for i := range devices {
		devices[i].ConsumesCounters = append(devices[i].ConsumesCounters, consumes("links", 1)...)
	}
	sets = append(sets, counterSet("links", int64(2*size)))
	b.node(0, devices, sets...)
	b.ask(request("req", "gpu", 2*size+1, `device.attributes["d"].model == "half"`))
}

// shares asks for one share more than the devices have together. Each request may take any
// device, also one that another request shares.
func shares(b *builder, size int) {
	devices := alike(size)
	for i := range devices {
		makeShared(&devices[i])
	}
	b.node(0, devices)
	amount := resource.NewQuantity(80/2<<30, resource.BinarySI).String()
	for i := range 2*size + 1 {
		ask := request(fmt.Sprintf("req-%02d", i), "gpu", 1)
		ask.Exactly.Capacity = memory(amount)
		b.ask(ask)
	}
}
