package generate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
)

// expressionFor returns a selector that holds for all of the planned devices. It may hold for
// others, too, which is what the search then has to sort out, and it may fail on them.
func (w *world) expressionFor(planned []device) string {
	driver, same := oneDriver(planned)
	if !same {
		return pick(w.rng,
			`device.driver.endsWith("example.com")`,
			`device.driver in ["gpu.example.com", "nic.example.com"]`,
			`true`,
		)
	}
	var options []string
	for _, name := range slices.Sorted(maps.Keys(planned[0].Attributes)) {
		if allHave(planned, name) {
			options = append(options, w.attributeExpressions(driver, name, planned)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(planned[0].Capacity)) {
		if smallest, ok := smallestCapacity(planned, name); ok && !strings.Contains(string(name), "/") {
			options = append(options, fmt.Sprintf(`device.capacity[%q].%s.compareTo(quantity(%q)) >= 0`, driver, name, smallest))
		}
	}
	options = append(options, fmt.Sprintf(`device.driver == %q`, driver))
	expression := pick(w.rng, options...)
	switch {
	case w.chance(0.6):
		// Written by someone who knows that other devices may not have the attribute.
		return fmt.Sprintf(`device.driver == %q && %s`, driver, expression)
	case w.chance(0.15):
		return fmt.Sprintf(`cel.bind(d, device.driver, d == %q && (%s))`, driver, expression)
	case w.chance(0.1) && w.gates.ConsumableCapacity:
		return fmt.Sprintf(`(device.allowMultipleAllocations || !device.allowMultipleAllocations) && (%s)`, expression)
	}
	return expression
}

// allHave tells whether the devices have the same kind of value for an attribute.
func allHave(devices []device, name resourceapi.QualifiedName) bool {
	for _, d := range devices {
		if _, ok := d.Attributes[name]; !ok {
			return false
		}
	}
	return true
}

func smallestCapacity(devices []device, name resourceapi.QualifiedName) (string, bool) {
	smallest := devices[0].Capacity[name].Value
	for _, d := range devices {
		capacity, ok := d.Capacity[name]
		if !ok {
			return "", false
		}
		if capacity.Value.Cmp(smallest) < 0 {
			smallest = capacity.Value
		}
	}
	return smallest.String(), true
}

// attributeExpressions returns conditions on one attribute that hold for all of the devices.
func (w *world) attributeExpressions(driver string, name resourceapi.QualifiedName, devices []device) []string {
	domain, id, found := strings.Cut(string(name), "/")
	if !found {
		domain, id = driver, string(name)
	}
	plain := fmt.Sprintf("device.attributes[%q].%s", domain, id)
	optional := fmt.Sprintf("device.attributes[%q].?%s", domain, id)
	guard := fmt.Sprintf("has(%s)", plain)
	if w.chance(0.5) {
		guard = fmt.Sprintf("%q in device.attributes[%q]", id, domain)
	}
	guarded := func(condition string) string {
		if w.chance(0.25) {
			return condition
		}
		return guard + " && " + condition
	}
	first := devices[0].Attributes[name]
	switch {
	case first.StringValue != nil:
		values, ok := distinct(devices, name, func(a resourceapi.DeviceAttribute) *string { return a.StringValue })
		if !ok {
			return nil
		}
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = fmt.Sprintf("%q", v)
		}
		list := "[" + strings.Join(quoted, ", ") + "]"
		options := []string{
			guarded(fmt.Sprintf("%s in %s", plain, list)),
			guarded(fmt.Sprintf("%s.exists(v, v == %s)", list, plain)),
		}
		if len(values) == 1 {
			options = append(options,
				guarded(fmt.Sprintf("%s == %s", plain, quoted[0])),
				fmt.Sprintf(`%s.orValue("") == %s`, optional, quoted[0]),
				guarded(fmt.Sprintf("%s.matches(%q)", plain, "^"+values[0][:1])),
				guarded(fmt.Sprintf("%s.lowerAscii().startsWith(%q)", plain, values[0][:1])),
			)
		}
		return options
	case first.IntValue != nil:
		values, ok := distinct(devices, name, func(a resourceapi.DeviceAttribute) *int64 { return a.IntValue })
		if !ok {
			return nil
		}
		options := []string{
			guarded(fmt.Sprintf("%s >= %d", plain, slices.Min(values))),
			fmt.Sprintf("%s.orValue(99) <= %d", optional, slices.Max(values)),
		}
		if len(values) == 1 {
			options = append(options, guarded(fmt.Sprintf("%s == %d", plain, values[0])))
		}
		return options
	case first.BoolValue != nil:
		values, ok := distinct(devices, name, func(a resourceapi.DeviceAttribute) *bool { return a.BoolValue })
		if !ok || len(values) > 1 {
			return nil
		}
		if values[0] {
			return []string{guarded(plain), fmt.Sprintf("%s.orValue(false)", optional)}
		}
		return []string{guarded("!" + plain)}
	case first.VersionValue != nil:
		return []string{
			guarded(fmt.Sprintf(`!%s.isLessThan(semver("1.2.0"))`, plain)),
			guarded(fmt.Sprintf(`%s.major() >= 1`, plain)),
		}
	case first.StringValues != nil && w.gates.ListTypeAttributes:
		return []string{guarded(fmt.Sprintf("%s.includes(%q)", plain, first.StringValues[0]))}[:boolInt(len(devices) == 1)]
	}
	return nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// distinct returns the values that the devices have for an attribute, false if one has another type.
func distinct[T comparable](devices []device, name resourceapi.QualifiedName, value func(resourceapi.DeviceAttribute) *T) ([]T, bool) {
	var out []T
	for _, d := range devices {
		v := value(d.Attributes[name])
		if v == nil {
			return nil, false
		}
		if !slices.Contains(out, *v) {
			out = append(out, *v)
		}
	}
	return out, true
}
