//go:build older

package upstream

import (
	resourceapi "k8s.io/api/resource/v1"

	"kubectl-dra.test/internal/cases"
)

// rulesApply tells whether DeviceTaintRules count. In 1.34 they had no gate of their own.
func rulesApply(c *cases.Case) bool {
	return c.Features.DeviceTaints && (Minor == 34 || c.Release.Gates["DRADeviceTaintRules"])
}

// WithTaintRules returns the slices with the taints of the rules, in the order of the rules' names, as the
// ResourceSlice tracker of these releases adds them for rules that select by driver, pool and device: one
// without a selector is about every device. The tracker itself would double what there is to build.
func WithTaintRules(slices []*resourceapi.ResourceSlice, rules []*cases.DeviceTaintRule, _ bool) ([]*resourceapi.ResourceSlice, error) {
	out := make([]*resourceapi.ResourceSlice, 0, len(slices))
	for _, slice := range slices {
		slice = slice.DeepCopy()
		for _, rule := range rules {
			selector := rule.Spec.DeviceSelector
			for i := range slice.Spec.Devices {
				device := &slice.Spec.Devices[i]
				if selector == nil || is(selector.Driver, slice.Spec.Driver) && is(selector.Pool, slice.Spec.Pool.Name) && is(selector.Device, device.Name) {
					device.Taints = append(device.Taints, resourceapi.DeviceTaint{
						Key:       rule.Spec.Taint.Key,
						Value:     rule.Spec.Taint.Value,
						Effect:    resourceapi.DeviceTaintEffect(rule.Spec.Taint.Effect),
						TimeAdded: rule.Spec.Taint.TimeAdded,
					})
				}
			}
		}
		out = append(out, slice)
	}
	return out, nil
}

func is(wanted *string, name string) bool { return wanted == nil || *wanted == name }
