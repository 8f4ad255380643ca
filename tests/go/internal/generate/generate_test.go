package generate

import (
	"bytes"
	"testing"

	"kubectl-dra.test/internal/cases"
)

// TestSameSeedSameBytes also covers that a case does not depend on the ones before it.
func TestSameSeedSameBytes(t *testing.T) {
	encode := func(index uint64, profile string) []byte {
		c, _, err := Case(11, index, profile, 0)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := cases.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for _, profile := range append(Profiles(), "") {
		var forward [][]byte
		for i := range uint64(40) {
			forward = append(forward, encode(i, profile))
		}
		for i := len(forward) - 1; i >= 0; i-- {
			if !bytes.Equal(forward[i], encode(uint64(i), profile)) {
				t.Errorf("profile %q: case %d differs", profile, i)
			}
		}
		if bytes.Equal(forward[0], forward[1]) {
			t.Errorf("profile %q: all cases are the same", profile)
		}
	}
}

func TestCheckProfile(t *testing.T) {
	for _, name := range append(Profiles(), "") {
		if err := CheckProfile(name, 0); err != nil {
			t.Error(err)
		}
	}
	if CheckProfile("unknown", 0) == nil {
		t.Error("accepted an unknown profile")
	}
}
