//go:build older

package main

import (
	"encoding/json"
	"flag"
	"os"
	"runtime"

	resourceapi "k8s.io/api/resource/v1"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/upstream"
)

// hostile selectors want much time and memory. The older libraries let some of them have it.
const hostile = "hostile"

// evaluateCEL prints selectors with what the release makes of them, and leaves out those whose
// result depends on the order of a map, and hostile ones. --both asks each as a stored and as a new expression.
func evaluateCEL(args []string) error {
	fs := flag.NewFlagSet("cel", flag.ExitOnError)
	repeat := fs.Int("repeat", 4, "how often to evaluate a case, to drop those whose result varies")
	both := fs.Bool("both", false, "answer each case as a stored and as a new expression")
	_ = fs.Bool("expect", true, "print the case with its expectation, which is the only way")
	jobs := fs.Int("jobs", runtime.GOMAXPROCS(0), "how many cases to work on at once")
	_ = fs.Parse(args)
	return eachCase(*jobs, func(line []byte) ([]any, error) {
		var c cases.CELCase
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, err
		}
		if c.Group == hostile {
			return nil, nil
		}
		ways := []bool{c.New}
		if *both {
			ways = []bool{false, true}
		}
		var out []any
		for _, way := range ways {
			answered := c
			answered.New, answered.Minor = way, upstream.Minor
			dropLists(&answered)
			if result, steady := upstream.AnswerCEL(&answered, *repeat); steady {
				answered.Expect = &result
				out = append(out, answered)
			}
		}
		return out, nil
	}, os.Stdout)
}

// dropLists leaves the device without lists, which the API server of no older release stores by default.
func dropLists(c *cases.CELCase) {
	c.ListTypeAttributes = false
	kept := cases.CELDevice{Driver: c.Device.Driver, Capacity: c.Device.Capacity, AllowMultipleAllocations: c.Device.AllowMultipleAllocations}
	for name, value := range c.Device.Attributes {
		if value.BoolValue == nil && value.IntValue == nil && value.StringValue == nil && value.VersionValue == nil {
			continue
		}
		if kept.Attributes == nil {
			kept.Attributes = map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{}
		}
		kept.Attributes[name] = value
	}
	c.Device = kept
}
