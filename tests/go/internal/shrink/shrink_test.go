package shrink

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestShrink(t *testing.T) {
	contains := func(parts ...string) Property {
		return func(document []byte) (bool, error) {
			for _, part := range parts {
				if !strings.Contains(string(document), part) {
					return false, nil
				}
			}
			return true, nil
		}
	}
	for name, test := range map[string]struct {
		document string
		holds    Property
		want     string
	}{
		"arrays": {`{"a":[1,2,3,{"x":"keep"},5,6],"b":[7]}`, contains("keep"), `{"a":[{"x":"keep"}]}`},
		"two places": {
			`{"list":["a","b","c","d","e","f","g"]}`, contains(`"b"`, `"f"`), `{"list":["b","f"]}`,
		},
		"numbers":         {`{"n":4611686018427387905}`, atLeast(37), `{"n":37}`},
		"exact numbers":   {`{"n":9223372036854775807}`, contains("9223372036854775807"), `{"n":9223372036854775807}`},
		"nothing to drop": {`{}`, contains("{}"), `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Shrink([]byte(test.document), test.holds, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// atLeast holds for documents whose number is not below the limit.
func atLeast(limit int64) Property {
	return func(document []byte) (bool, error) {
		var parsed struct{ N int64 }
		if err := json.Unmarshal(document, &parsed); err != nil {
			return false, err
		}
		return parsed.N >= limit, nil
	}
}

func TestShrinkIsMinimal(t *testing.T) {
	// The sum has to stay above a limit: no single element may be left that is not needed.
	holds := func(document []byte) (bool, error) {
		var numbers []int
		if err := json.Unmarshal(document, &numbers); err != nil {
			return false, err
		}
		sum := 0
		for _, n := range numbers {
			sum += n
		}
		return sum >= 20, nil
	}
	got, err := Shrink([]byte(`[5,5,5,5,5,5,5,5]`), holds, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	if err := json.Unmarshal(got, &numbers); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(numbers, []int{5, 5, 5, 5}) {
		t.Errorf("got %v", numbers)
	}
}

func TestShrinkKeeps(t *testing.T) {
	always := func([]byte) (bool, error) { return true, nil }
	options := Options{Keep: []string{"name"}, Whole: []string{"gates"}}
	got, err := Shrink([]byte(`{"gates":{"a":[1,2]},"name":"x","list":[{"name":"y"}],"other":{"name":"z"}}`), always, options)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"gates":{"a":[1,2]},"name":"x"}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestShrinkErrors(t *testing.T) {
	never := func([]byte) (bool, error) { return false, nil }
	if _, err := Shrink([]byte(`{}`), never, Options{}); err == nil {
		t.Error("accepted a document without the property")
	}
	broken := errors.New("broken")
	fails := func([]byte) (bool, error) { return false, broken }
	if _, err := Shrink([]byte(`{}`), fails, Options{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
