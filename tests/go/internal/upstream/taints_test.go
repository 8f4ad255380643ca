//go:build !older

package upstream

import (
	"testing"

	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestWithTaintRules(t *testing.T) {
	slice := &resourceapi.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "slice"},
		Spec: resourceapi.ResourceSliceSpec{
			Driver:  "d",
			Pool:    resourceapi.ResourcePool{Name: "p"},
			Devices: []resourceapi.Device{{Name: "one"}, {Name: "two"}},
		},
	}
	rule := func(name string, selector *resourceapi.DeviceTaintSelector) *resourceapi.DeviceTaintRule {
		return &resourceapi.DeviceTaintRule{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: resourceapi.DeviceTaintRuleSpec{
				DeviceSelector: selector,
				Taint:          resourceapi.DeviceTaint{Key: name, Effect: resourceapi.DeviceTaintEffectNoSchedule},
			},
		}
	}
	rules := []*resourceapi.DeviceTaintRule{
		rule("pool", &resourceapi.DeviceTaintSelector{Pool: ptr.To("p")}),
		rule("device", &resourceapi.DeviceTaintSelector{Device: ptr.To("two")}),
		rule("nothing", nil),
	}
	got, err := WithTaintRules([]*resourceapi.ResourceSlice{slice}, rules, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || len(got[0].Spec.Devices[0].Taints) != 1 || len(got[0].Spec.Devices[1].Taints) != 2 {
		t.Errorf("got %+v", got)
	}
	if len(slice.Spec.Devices[0].Taints) != 0 {
		t.Error("the input was changed")
	}
}
