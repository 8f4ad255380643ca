package families

import (
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

// HotSelector is the selector whose evaluation is measured on its own.
const HotSelector = `device.attributes["d"].model == "A100" && device.capacity["d"].memory.compareTo(quantity("40Gi")) >= 0`

const devicesPerNode = 10

func plainNodes(b *builder, size int) {
	for i := range size {
		b.node(i, gpus(devicesPerNode))
	}
	b.ask(request("req", "gpu", 1))
}

func selectorNodes(b *builder, size int) {
	for i := range size {
		b.node(i, gpus(devicesPerNode))
	}
	b.ask(request("req", "gpu", 1, HotSelector))
}

func matchNodes(b *builder, size int) {
	for i := range size {
		b.node(i, gpus(devicesPerNode))
	}
	b.ask(request("req-0", "gpu", 1), request("req-1", "gpu", 1, `device.attributes["d"].index == 3`))
	b.matchNUMA()
}

func (b *builder) matchNUMA() {
	b.claim.Constraints = append(b.claim.Constraints, resourceapi.DeviceConstraint{
		MatchAttribute: ptr.To[resourceapi.FullyQualifiedName]("d/numa"),
	})
}

func partitionNodes(b *builder, size int) {
	for i := range size {
		devices := gpus(devicesPerNode)
		for j := range devices {
			devices[j].ConsumesCounters = consumes(fmt.Sprintf("gpu-%d", j/5), 2)
		}
		b.node(i, devices, counterSet("gpu-0", 8), counterSet("gpu-1", 8))
	}
	b.ask(request("req", "gpu", 2))
}

func consumes(set string, amount int64) []resourceapi.DeviceCounterConsumption {
	return []resourceapi.DeviceCounterConsumption{{CounterSet: set, Counters: counters(amount)}}
}

func counterSet(name string, amount int64) resourceapi.CounterSet {
	return resourceapi.CounterSet{Name: name, Counters: counters(amount)}
}

func counters(amount int64) map[string]resourceapi.Counter {
	return map[string]resourceapi.Counter{"units": {Value: *resource.NewQuantity(amount, resource.DecimalSI)}}
}

func shareNodes(b *builder, size int) {
	for i := range size {
		devices := gpus(devicesPerNode)
		for j := range devices {
			makeShared(&devices[j])
		}
		b.node(i, devices)
	}
	ask := request("req", "gpu", 1)
	ask.Exactly.Capacity = memory("10Gi")
	b.ask(ask)
}

func makeShared(d *resourceapi.Device) {
	d.AllowMultipleAllocations = ptr.To(true)
	d.Capacity["memory"] = resourceapi.DeviceCapacity{
		Value: resource.MustParse("80Gi"),
		RequestPolicy: &resourceapi.CapacityRequestPolicy{
			Default:    ptr.To(resource.MustParse("8Gi")),
			ValidRange: &resourceapi.CapacityRequestPolicyRange{Min: ptr.To(resource.MustParse("4Gi")), Step: ptr.To(resource.MustParse("4Gi"))},
		},
	}
}

func memory(amount string) *resourceapi.CapacityRequirements {
	return &resourceapi.CapacityRequirements{Requests: map[resourceapi.QualifiedName]resource.Quantity{"memory": resource.MustParse(amount)}}
}

func fullNodes(b *builder, size int) {
	for i := range size {
		devices := gpus(devicesPerNode)
		b.node(i, devices)
		for _, d := range devices {
			b.use(i, d.Name)
		}
	}
	b.ask(request("req", "gpu", 1))
}

// gpuNodes has from none to all but one device of a node in use, so that about half of the nodes fit.
func gpuNodes(b *builder, size int) {
	for i := range size {
		devices := gpus(8)
		for j := range devices {
			devices[j].Attributes["model"] = resourceapi.DeviceAttribute{StringValue: ptr.To("A100")}
		}
		b.node(i, devices)
		for j := range i % 8 {
			b.use(i, devices[j].Name)
		}
	}
	b.ask(request("req", "gpu", 4, HotSelector))
}
