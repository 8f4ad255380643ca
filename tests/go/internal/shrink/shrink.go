// Package shrink makes a JSON document smaller while a property of it holds, by delta debugging.
//
// It knows nothing about what the document means. Whoever calls it decides with the property
// which documents make sense at all.
package shrink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Property tells whether a document still has what it is shrunk for. An error ends the shrinking.
type Property func(document []byte) (bool, error)

// Options guide the shrinking. The zero value is useful.
type Options struct {
	// Keep names keys of objects that are never left out.
	Keep []string
	// Whole names keys of objects whose values stay as they are.
	Whole []string
	// Progress, if not nil, is called for every smaller document that has the property.
	Progress func(size int)
}

// Shrink returns a document from which nothing more can be left out without losing the property.
func Shrink(document []byte, holds Property, options Options) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	// Numbers stay as they are written, an int64 does not survive as a float.
	decoder.UseNumber()
	s := &shrinker{Options: options, holds: holds, seen: map[string]bool{}}
	if err := decoder.Decode(&s.best); err != nil {
		return nil, err
	}
	initial, err := encode(s.best)
	if err != nil {
		return nil, err
	}
	if ok, err := holds(initial); err != nil {
		return nil, err
	} else if !ok {
		return nil, fmt.Errorf("the property does not hold at the start")
	}
	for {
		before, err := encode(s.best)
		if err != nil {
			return nil, err
		}
		if err := s.pass(); err != nil {
			return nil, err
		}
		after, err := encode(s.best)
		if err != nil {
			return nil, err
		}
		if bytes.Equal(before, after) {
			return after, nil
		}
	}
}

type shrinker struct {
	Options
	holds Property
	best  any
	// seen are documents that were tried before; passes come back to the same ones.
	seen map[string]bool
}

// step leads from a container to one of its members: a string for objects, an int for arrays.
type step = any

// pass tries to leave out members of all containers, outer ones first, and to make numbers small.
func (s *shrinker) pass() error {
	queue := [][]step{{}}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		var err error
		switch get(s.best, path).(type) {
		case []any:
			err = s.shrinkArray(path)
		case map[string]any:
			err = s.shrinkObject(path)
		case json.Number:
			err = s.shrinkNumber(path)
		}
		if err != nil {
			return err
		}
		for _, next := range members(get(s.best, path)) {
			if key, ok := next.(string); ok && slices.Contains(s.Whole, key) {
				continue
			}
			queue = append(queue, append(slices.Clone(path), next))
		}
	}
	return nil
}

// shrinkArray leaves out halves, quarters and so on down to single elements.
func (s *shrinker) shrinkArray(path []step) error {
	for size := len(get(s.best, path).([]any)); size > 0; size /= 2 {
		for start := 0; start < len(get(s.best, path).([]any)); {
			array := get(s.best, path).([]any)
			shorter := append(slices.Clone(array[:start]), array[min(len(array), start+size):]...)
			ok, err := s.try(path, shorter)
			if err != nil {
				return err
			}
			if !ok {
				start += size
			}
		}
	}
	return nil
}

func (s *shrinker) shrinkObject(path []step) error {
	for _, key := range slices.Sorted(maps.Keys(get(s.best, path).(map[string]any))) {
		if slices.Contains(s.Keep, key) || slices.Contains(s.Whole, key) {
			continue
		}
		smaller := maps.Clone(get(s.best, path).(map[string]any))
		delete(smaller, key)
		if _, err := s.try(path, smaller); err != nil {
			return err
		}
	}
	return nil
}

func (s *shrinker) shrinkNumber(path []step) error {
	n, err := get(s.best, path).(json.Number).Int64()
	if err != nil {
		return nil
	}
	for _, smaller := range []int64{0, 1, n / 2, n - 1} {
		if smaller < 0 || smaller >= n {
			continue
		}
		if ok, err := s.try(path, json.Number(fmt.Sprint(smaller))); ok || err != nil {
			return err
		}
	}
	return nil
}

// try replaces the value at a path and keeps the result if the property still holds.
func (s *shrinker) try(path []step, value any) (bool, error) {
	candidate := replace(s.best, path, value)
	raw, err := encode(candidate)
	if err != nil {
		return false, err
	}
	if s.seen[string(raw)] {
		return false, nil
	}
	s.seen[string(raw)] = true
	ok, err := s.holds(raw)
	if err != nil || !ok {
		return false, err
	}
	s.best = candidate
	if s.Progress != nil {
		s.Progress(len(raw))
	}
	return true, nil
}

func get(value any, path []step) any {
	for _, p := range path {
		switch container := value.(type) {
		case []any:
			value = container[p.(int)]
		case map[string]any:
			value = container[p.(string)]
		}
	}
	return value
}

// replace returns a copy of value that has another member at the path. What is not on the path is
// shared with the original.
func replace(value any, path []step, member any) any {
	if len(path) == 0 {
		return member
	}
	switch container := value.(type) {
	case []any:
		out := slices.Clone(container)
		at := path[0].(int)
		out[at] = replace(out[at], path[1:], member)
		return out
	case map[string]any:
		out := maps.Clone(container)
		key := path[0].(string)
		out[key] = replace(out[key], path[1:], member)
		return out
	}
	return value
}

// members returns the steps to the members of a container in a fixed order.
func members(value any) []step {
	var out []step
	switch container := value.(type) {
	case []any:
		for i := range container {
			out = append(out, i)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(container)) {
			out = append(out, key)
		}
	}
	return out
}

func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}
