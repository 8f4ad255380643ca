package coverage

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/features"
)

// rarestPairs is how many pairs the report names.
const rarestPairs = 12

// report writes lines and remembers whether one of them is short.
type report struct {
	*tabwriter.Writer
	tally *Tally
	short int
}

// Report prints the tally as a table and returns how many lines of it are short.
func (t *Tally) Report(w io.Writer) (int, error) {
	r := &report{Writer: tabwriter.NewWriter(w, 0, 8, 2, ' ', 0), tally: t}
	r.printf("CASES\t%d\t\t\n", t.Cases)
	r.printf("steps\t%d\tmost %d in %s\t\n", t.Steps, t.MostSteps, t.MostStepsCase)
	r.printf("\nOUTCOME\tCASES\tPART\tREQUIRED\n")
	r.atLeast(cases.Allocated, t.Outcomes[cases.Allocated], minAllocated)
	r.line(cases.NoFit, t.Outcomes[cases.NoFit], "")
	r.line(cases.Failed, t.Outcomes[cases.Failed], "")
	r.atMost(cases.TimedOut, t.Outcomes[cases.TimedOut], maxTimeouts)
	r.atLeast("backtracked", t.Backtracked, minBacktracks)
	r.causes()
	r.printf("\nREJECTION\tCASES\tPART\tREQUIRED\n")
	for _, kind := range requiredRejections {
		r.atLeast(kind, t.Rejections[kind], minRejection)
	}
	r.features()
	r.pairs()
	r.printf("\nPROFILE\tCASES\tPART\t\n")
	for _, profile := range slices.Sorted(maps.Keys(t.Profiles)) {
		r.line(profile, t.Profiles[profile], "")
	}
	return r.short, r.Flush()
}

func (r *report) printf(format string, args ...any) {
	// The writer below keeps the error and returns it from Flush.
	_, _ = fmt.Fprintf(r.Writer, format, args...)
}

func (r *report) line(name string, count int, verdict string) {
	part := 0.0
	if r.tally.Cases > 0 {
		part = 100 * float64(count) / float64(r.tally.Cases)
	}
	r.printf("%s\t%d\t%.2f%%\t%s\n", name, count, part, verdict)
}

func (r *report) atLeast(name string, count int, part float64) {
	required := r.tally.required(part)
	verdict := fmt.Sprintf(">= %d", required)
	if count < required {
		r.short++
		verdict += "  SHORT"
	}
	r.line(name, count, verdict)
}

func (r *report) atMost(name string, count int, part float64) {
	allowed := int(part*float64(r.tally.Cases)) + 1
	verdict := fmt.Sprintf("<= %d", allowed)
	if count > allowed {
		r.short++
		verdict += "  TOO MANY"
	}
	r.line(name, count, verdict)
}

func (r *report) causes() {
	r.printf("\nERROR\tCASES\tPART\tREQUIRED\n")
	for _, cause := range requiredCauses {
		r.atLeast(cause, r.tally.Causes[cause], minCause)
	}
	for _, cause := range slices.Sorted(maps.Keys(r.tally.Causes)) {
		if !slices.Contains(requiredCauses, cause) {
			r.line(cause, r.tally.Causes[cause], "")
		}
	}
}

func (r *report) features() {
	r.printf("\nFEATURE\tCASES\tPART\t\n")
	for i, f := range features.All {
		r.line(string(f), r.tally.Pairs[i][i], "")
	}
}

func (r *report) pairs() {
	type pair struct {
		name  string
		count int
	}
	var pairs []pair
	for i := range features.All {
		for j := i + 1; j < len(features.All); j++ {
			pairs = append(pairs, pair{fmt.Sprintf("%s + %s", features.All[i], features.All[j]), r.tally.Pairs[i][j]})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.count, b.count) })
	required := r.tally.required(minPair)
	rare := 0
	for _, p := range pairs {
		if p.count < required {
			rare++
		}
	}
	r.short += rare
	r.printf("\nPAIRS\t%d\t%d below %d\t\n", len(pairs), rare, required)
	for _, p := range pairs[:min(rarestPairs, len(pairs))] {
		r.atLeastQuietly(p.name, p.count, required)
	}
}

// atLeastQuietly marks a line without counting it again.
func (r *report) atLeastQuietly(name string, count, required int) {
	verdict := fmt.Sprintf(">= %d", required)
	if count < required {
		verdict += "  SHORT"
	}
	r.line(name, count, verdict)
}
