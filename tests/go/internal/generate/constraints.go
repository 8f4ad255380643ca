package generate

import (
	"fmt"

	resourceapi "k8s.io/api/resource/v1"

	"kubectl-dra.test/internal/features"
)

// derivedName is a name that no driver publishes.
const derivedName resourceapi.FullyQualifiedName = "derived.example.com/group"

// constraintRule is the constraint of a claim while its devices are planned.
type constraintRule struct {
	attribute resourceapi.FullyQualifiedName
	match     bool
	distinct  bool
	derived   bool
	// value is what all planned devices have in common.
	value string
	// used are the values that planned devices have already.
	used map[string]bool
}

func (w *world) drawConstraint(match, distinctValues, derived bool) *constraintRule {
	if derived && !match && !distinctValues {
		match = true
	}
	if !match && !distinctValues {
		return nil
	}
	rule := &constraintRule{match: match, distinct: distinctValues, derived: derived, used: map[string]bool{}}
	rule.attribute = pick[resourceapi.FullyQualifiedName](w.rng, busAttribute, busAttribute, gpuDriver+"/numa", gpuDriver+"/model", nicDriver+"/numa")
	if distinctValues && !match {
		rule.attribute = pick[resourceapi.FullyQualifiedName](w.rng, busAttribute, gpuDriver+"/index", gpuDriver+"/model")
	}
	if w.want[features.ListAttributes] && w.chance(0.7) {
		rule.attribute = linksAttribute
	}
	if rule.derived {
		// The derived attribute stands for the one that the devices are planned by.
		rule.attribute = busAttribute
	}
	return rule
}

// narrow keeps the devices that fit what has been planned before.
func (c *constraintRule) narrow(w *world, candidates []device) []device {
	if c == nil {
		return candidates
	}
	if c.match {
		if c.value == "" {
			var values []string
			for _, d := range candidates {
				if value := c.valueOf(d); value != "" {
					values = append(values, value)
				}
			}
			if len(values) == 0 {
				return candidates
			}
			c.value = pick(w.rng, values...)
		}
		return filter(candidates, func(d device) bool { return c.valueOf(d) == c.value })
	}
	seen := map[string]bool{}
	return filter(candidates, func(d device) bool {
		value := c.valueOf(d)
		fresh := value != "" && !c.used[value] && !seen[value]
		seen[value] = true
		return fresh
	})
}

func (c *constraintRule) use(d device) {
	if c != nil {
		c.used[c.valueOf(d)] = true
	}
}

// valueOf returns the value of the attribute as text, of a list only the first one.
func (c *constraintRule) valueOf(d device) string {
	attribute, ok := d.Attributes[resourceapi.QualifiedName(c.attribute)]
	if !ok {
		prefix := d.pool.driver + "/"
		if len(c.attribute) <= len(prefix) || string(c.attribute[:len(prefix)]) != prefix {
			return ""
		}
		attribute = d.Attributes[resourceapi.QualifiedName(c.attribute[len(prefix):])]
	}
	switch {
	case attribute.StringValue != nil:
		return *attribute.StringValue
	case attribute.IntValue != nil:
		return fmt.Sprint(*attribute.IntValue)
	case len(attribute.StringValues) > 0:
		return attribute.StringValues[0]
	}
	return ""
}

// addConstraints writes down the constraints that the requests were planned by.
func (w *world) addConstraints(claim *resourceapi.DeviceClaim, rule *constraintRule) {
	if rule == nil {
		return
	}
	var requests []string
	if w.chance(0.4) {
		requests = w.requestNames(claim)
	}
	name := rule.attribute
	if rule.derived {
		name = derivedName
		w.addDerived(claim, requests)
	}
	if rule.match {
		claim.Constraints = append(claim.Constraints, resourceapi.DeviceConstraint{Requests: requests, MatchAttribute: &name})
	}
	if rule.distinct {
		distinctName := name
		if rule.match {
			// Both on the same attribute would have no solution with two devices.
			distinctName = pick[resourceapi.FullyQualifiedName](w.rng, gpuDriver+"/index", nicDriver+"/index", gpuDriver+"/model", busAttribute)
			requests = nil
			if w.chance(0.5) {
				requests = w.requestNames(claim)
			}
		}
		claim.Constraints = append(claim.Constraints, resourceapi.DeviceConstraint{Requests: requests, DistinctAttribute: &distinctName})
	}
}

// derivedExpressions compute a group from what a device publishes. %s is the driver.
var derivedExpressions = []string{
	`device.attributes["topology.example.com"].?bus.orValue("none")`,
	`device.attributes["topology.example.com"].?bus.orValue("none")`,
	`device.attributes["topology.example.com"].bus`,
	`[device.driver, "x"]`,
	`device.attributes["topology.example.com"].?links.orValue("a")`,
	`device.attributes[device.driver].?numa.orValue(0)`,
	`device.attributes[device.driver].?healthy.orValue(true)`,
	`device.attributes[device.driver].?driverVersion.orValue(semver("1.0.0"))`,
	`device.driver`,
	`device.capacity[device.driver].?memory.orValue(quantity("1")).isGreaterThan(quantity("10Gi"))`,
}

// addDerived defines the derived attribute on the requests that the constraint is about. A
// definition that no constraint refers to is invalid.
func (w *world) addDerived(claim *resourceapi.DeviceClaim, constrained []string) {
	applies := func(request, sub string) bool {
		if len(constrained) == 0 {
			return true
		}
		for _, name := range constrained {
			if name == request || sub != "" && name == request+"/"+sub {
				return true
			}
		}
		return false
	}
	expression := pick(w.rng, derivedExpressions...)
	define := func() []resourceapi.DeviceDerivedAttribute {
		if w.chance(0.1) {
			// The constraint then looks for a published attribute of this name and finds none.
			return nil
		}
		if w.chance(0.15) {
			expression = pick(w.rng, derivedExpressions...)
		}
		return []resourceapi.DeviceDerivedAttribute{{Name: derivedName, Expression: expression}}
	}
	for i := range claim.Requests {
		request := &claim.Requests[i]
		if request.Exactly != nil && applies(request.Name, "") {
			request.Exactly.DerivedAttributes = define()
		}
		for j := range request.FirstAvailable {
			if sub := &request.FirstAvailable[j]; applies(request.Name, sub.Name) {
				sub.DerivedAttributes = define()
			}
		}
	}
}
