package cases

import (
	"encoding/json"
	"reflect"
	"regexp"

	"k8s.io/apimachinery/pkg/types"
)

// pointers occur where an error of the library dumps a device. They differ from run to run.
var pointers = regexp.MustCompile(`\b0x[0-9a-f]{8,}\b`)

// Normalize turns an outcome into an expectation: share IDs are random and become the same
// placeholder everywhere.
func Normalize(e Expect) Expect {
	e.Error = pointers.ReplaceAllString(e.Error, "0x0")
	placeholder := types.UID("aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa")
	for i := range e.Allocations {
		results := e.Allocations[i].Devices.Results
		for j := range results {
			if results[j].ShareID != nil {
				results[j].ShareID = &placeholder
			}
		}
	}
	return e
}

// SameExpect compares what the two encode to, because nil and empty lists mean the same.
func SameExpect(a, b Expect) bool {
	return reflect.DeepEqual(generic(a), generic(b))
}

func generic(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		return err
	}
	return out
}
