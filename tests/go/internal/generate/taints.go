package generate

import (
	"fmt"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/features"
)

// taintTime is what the API server fills in when it is not set.
var taintTime = metav1.NewTime(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))

func (w *world) newTaint() resourceapi.DeviceTaint {
	return resourceapi.DeviceTaint{
		Key:       pick(w.rng, "example.com/unhealthy", "example.com/maintenance"),
		Value:     pick(w.rng, "", "yes", "no"),
		Effect:    pick(w.rng, resourceapi.DeviceTaintEffectNoSchedule, resourceapi.DeviceTaintEffectNoSchedule, resourceapi.DeviceTaintEffectNoExecute, resourceapi.DeviceTaintEffectNone),
		TimeAdded: &taintTime,
	}
}

// buildTaintRules adds rules that taint a device, a pool or all of a driver.
func (w *world) buildTaintRules() {
	if !w.want[features.TaintRules] {
		return
	}
	devices := devicesOf(w.pools)
	for i := range w.between(1, 3) {
		d := pick(w.rng, devices...)
		rule := &cases.DeviceTaintRule{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("rule-%d", i), UID: w.uid()},
			Spec:       resourceapi.DeviceTaintRuleSpec{Taint: w.newTaint()},
		}
		selector := &resourceapi.DeviceTaintSelector{Device: ptr.To(d.Name)}
		switch w.weighted(0.5, 0.2, 0.1, 0.1, 0.05, 0.05) {
		case 0:
			selector.Driver, selector.Pool = &d.pool.driver, &d.pool.name
		case 1:
			selector.Pool = &d.pool.name
		case 2:
			// A device of this name in every pool.
		case 3:
			selector.Pool, selector.Device = &d.pool.name, nil
		case 4:
			selector.Driver, selector.Device = ptr.To("other.example.com"), nil
		default:
			// A rule without a selector applies to nothing.
			selector = nil
		}
		rule.Spec.DeviceSelector = selector
		w.rules = append(w.rules, rule)
	}
}

// taintsOf returns the taints that a device has from its slice and from rules.
func (w *world) taintsOf(d device) []resourceapi.DeviceTaint {
	taints := append([]resourceapi.DeviceTaint(nil), d.Taints...)
	for _, rule := range w.rules {
		s := rule.Spec.DeviceSelector
		if s != nil && (s.Driver == nil || *s.Driver == d.pool.driver) &&
			(s.Pool == nil || *s.Pool == d.pool.name) && (s.Device == nil || *s.Device == d.Name) {
			taints = append(taints, rule.Spec.Taint)
		}
	}
	return taints
}

// tolerations returns what it takes to use the planned devices, mostly.
func (w *world) tolerations(planned []device) []resourceapi.DeviceToleration {
	var out []resourceapi.DeviceToleration
	seen := map[string]bool{}
	for _, d := range planned {
		for _, taint := range w.taintsOf(d) {
			id := taint.Key + "=" + taint.Value + ":" + string(taint.Effect)
			if taint.Effect == resourceapi.DeviceTaintEffectNone || seen[id] || w.chance(0.1) {
				continue
			}
			seen[id] = true
			out = append(out, w.tolerationOf(taint))
		}
	}
	if w.want[features.Tolerations] && w.chance(0.6) {
		out = append(out, w.tolerationOf(w.newTaint()))
	}
	// Neither the API nor the reader needs more.
	return out[:min(len(out), 4)]
}

func (w *world) tolerationOf(taint resourceapi.DeviceTaint) resourceapi.DeviceToleration {
	toleration := resourceapi.DeviceToleration{
		Key:      taint.Key,
		Operator: resourceapi.DeviceTolerationOpEqual,
		Value:    taint.Value,
		Effect:   pick(w.rng, taint.Effect, ""),
	}
	if w.chance(0.4) {
		toleration.Operator, toleration.Value = resourceapi.DeviceTolerationOpExists, ""
		if w.chance(0.2) {
			toleration.Key = ""
		}
	}
	if w.chance(0.15) {
		toleration.TolerationSeconds = ptr.To(int64(30))
	}
	return toleration
}
