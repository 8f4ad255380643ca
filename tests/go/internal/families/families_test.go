package families

import (
	"testing"

	resourceapi "k8s.io/api/resource/v1"

	"kubectl-dra.test/internal/cases"
)

// TestSizes keeps the problems within the limits of the API, which the library does not check.
func TestSizes(t *testing.T) {
	for _, family := range All {
		largest := family.Max
		if largest == 0 {
			largest = 20
		}
		for _, size := range []int{1, 2, largest} {
			c, err := family.Case(size)
			if err != nil {
				t.Fatal(err)
			}
			objects, err := cases.DecodeObjects(c.Objects)
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			for _, slice := range objects.Slices {
				if len(slice.Spec.Devices) > maxDevicesPerSlice || len(slice.Spec.SharedCounters) > maxCountersPerSlice {
					t.Errorf("%s: slice %s is too large", c.Name, slice.Name)
				}
			}
			for _, claim := range objects.Claims {
				if len(claim.Spec.Devices.Requests) > resourceapi.DeviceRequestsMaxSize {
					t.Errorf("%s: claim %s has too many requests", c.Name, claim.Name)
				}
			}
		}
	}
	if short, err := Find("short"); err != nil {
		t.Error(err)
	} else if _, err := short.Case(33); err == nil {
		t.Error("accepted more devices than fit into a claim")
	}
	if _, err := All[0].Case(0); err == nil {
		t.Error("accepted size 0")
	}
	if _, err := Find("unknown"); err == nil {
		t.Error("found an unknown family")
	}
}
