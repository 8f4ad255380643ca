package generate

import "math/rand/v2"

// rng is the only source of randomness. Each case has its own, so that a case depends on the seed
// and its number alone and not on the cases before it.
type rng struct{ *rand.Rand }

func newRNG(seed, index uint64) rng {
	return rng{rand.New(rand.NewPCG(seed, index))}
}

// chance is true with probability p.
func (r rng) chance(p float64) bool { return r.Float64() < p }

// between returns a number from low to high, both included.
func (r rng) between(low, high int) int { return low + r.IntN(high-low+1) }

// pick returns one of the values.
func pick[T any](r rng, values ...T) T { return values[r.IntN(len(values))] }

// shuffled returns the values in random order.
func shuffled[T any](r rng, values []T) []T {
	out := append([]T(nil), values...)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// some returns count of the values, or all if there are fewer, in their order.
func some[T any](r rng, values []T, count int) []T {
	if count >= len(values) {
		return values
	}
	chosen := r.Perm(len(values))[:count]
	taken := make([]bool, len(values))
	for _, i := range chosen {
		taken[i] = true
	}
	out := make([]T, 0, count)
	for i, v := range values {
		if taken[i] {
			out = append(out, v)
		}
	}
	return out
}

// weighted returns an index with a probability in proportion to its weight.
func (r rng) weighted(weights ...float64) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	at := r.Float64() * total
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}
