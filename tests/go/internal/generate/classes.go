package generate

import (
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kubectl-dra.test/internal/features"
)

// anyClass selects everything, the others what their driver publishes.
const anyClass = "any"

func driverClass(driver string) string {
	if driver == nicDriver {
		return "nic"
	}
	return "gpu"
}

func (w *world) buildClasses() {
	for _, driver := range []string{gpuDriver, nicDriver} {
		w.addClass(driverClass(driver), fmt.Sprintf("device.driver == %q", driver))
	}
	w.addClass(anyClass)
}

// addClass adds a class with the given selectors.
func (w *world) addClass(name string, expressions ...string) *resourceapi.DeviceClass {
	class := &resourceapi.DeviceClass{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: w.uid()},
		Spec:       resourceapi.DeviceClassSpec{Selectors: selectorsOf(expressions...)},
	}
	if w.want[features.ClassConfig] && w.chance(0.75) {
		for range w.between(1, 2) {
			class.Spec.Config = append(class.Spec.Config, resourceapi.DeviceClassConfiguration{DeviceConfiguration: w.configuration()})
		}
	}
	w.classes = append(w.classes, class)
	return class
}

func (w *world) configuration() resourceapi.DeviceConfiguration {
	return resourceapi.DeviceConfiguration{Opaque: &resourceapi.OpaqueDeviceConfiguration{
		Driver:     pick(w.rng, gpuDriver, nicDriver),
		Parameters: runtime.RawExtension{Raw: w.parameters()},
	}}
}

func selectorsOf(expressions ...string) []resourceapi.DeviceSelector {
	var out []resourceapi.DeviceSelector
	for _, expression := range expressions {
		out = append(out, resourceapi.DeviceSelector{CEL: &resourceapi.CELDeviceSelector{Expression: expression}})
	}
	return out
}

// classFor returns the name of a class that selects the planned devices.
func (w *world) classFor(planned []device) string {
	driver, same := oneDriver(planned)
	if w.profile == nodeLocal {
		return driverClass(driver)
	}
	if !same || w.chance(0.2) {
		return anyClass
	}
	if w.chance(0.2) {
		w.names++
		return w.addClass(fmt.Sprintf("special-%d", w.names), w.expressionFor(planned)).Name
	}
	return driverClass(driver)
}

// oneDriver returns the driver of the devices and whether they all have it.
func oneDriver(devices []device) (string, bool) {
	driver := devices[0].pool.driver
	for _, d := range devices {
		if d.pool.driver != driver {
			return driver, false
		}
	}
	return driver, true
}
