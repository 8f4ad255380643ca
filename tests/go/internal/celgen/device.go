package celgen

import (
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kubectl-dra.test/internal/cases"
)

// device returns a device that has the attributes that expressions ask for, or most of them.
func (w *writer) device() cases.CELDevice {
	d := cases.CELDevice{
		Driver:     "dra.example.com",
		Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{},
		Capacity:   map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{},
	}
	if w.chance(0.3) {
		shared := w.chance(0.5)
		d.AllowMultipleAllocations = &shared
	}
	set := func(name resourceapi.QualifiedName, value resourceapi.DeviceAttribute) {
		if w.chance(0.85) {
			d.Attributes[name] = value
		}
	}
	model := pick(w, "A100-SXM4-80GB", "", "a", "12.4.0", "é日本", "x")
	set("model", resourceapi.DeviceAttribute{StringValue: &model})
	name := pick(w, "abc", "fast", "1.2.3", "10Gi")
	set("dra.example.com/name", resourceapi.DeviceAttribute{StringValue: &name})
	version := pick(w, "12.4.0", "1.0.0-rc.1+b", "1.2.3")
	set("version", resourceapi.DeviceAttribute{VersionValue: &version})
	number := pick[int64](w, 12, 0, -1, 1<<62, 1)
	set("int", resourceapi.DeviceAttribute{IntValue: &number})
	numa := int64(w.IntN(3))
	set("other.example.com/numa", resourceapi.DeviceAttribute{IntValue: &numa})
	yes := w.chance(0.5)
	set("bool", resourceapi.DeviceAttribute{BoolValue: &yes})
	if w.chance(0.6) {
		set("ids", resourceapi.DeviceAttribute{IntValues: []int64{1, 2, 12}[:1+w.IntN(3)]})
		set("tags", resourceapi.DeviceAttribute{StringValues: []string{"fast", "nvlink"}[:1+w.IntN(2)]})
		set("flags", resourceapi.DeviceAttribute{BoolValues: []bool{true, false}[:1+w.IntN(2)]})
		set("versions", resourceapi.DeviceAttribute{VersionValues: []string{"1.2.3", "12.4.0"}[:1+w.IntN(2)]})
	}
	for _, name := range []resourceapi.QualifiedName{"memory", "dra.example.com/cores"} {
		if w.chance(0.9) {
			value := resource.MustParse(pick(w, "80Gi", "10Gi", "108", "500m", "1e3", "0"))
			d.Capacity[name] = resourceapi.DeviceCapacity{Value: value}
		}
	}
	return d
}
