package cases

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/types"
)

// Normalize turns an outcome into an expectation: share IDs are random and become the same
// placeholder everywhere.
func Normalize(e Expect) Expect {
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
