package generate

import (
	"fmt"
	"slices"
	"strings"

	"kubectl-dra.test/internal/features"
)

// mixed is the profile that draws every feature by its base probability.
const mixed = "mixed"

// mixedShare is the part of the cases that use the mixed profile when none is asked for. The rest
// is spread over the focused profiles: they have fewer features at once and get deeper into the
// ones they have.
const mixedShare = 0.6

// focusedScale reduces the base probability of what a focused profile does not name.
const focusedScale = 0.3

// limits is the profile with more devices than fit into a claim. With other features on top, most
// of its searches would not end.
const (
	limits      = "limits"
	limitsScale = 0.08
)

// base is how often the mixed profile draws a feature. Nothing is rarer than 0.1: every pair has
// to come up 500 times in 100,000 cases.
var base = map[features.Feature]float64{
	features.ExactCount:             1,
	features.AllMode:                0.22,
	features.SeveralRequests:        0.6,
	features.SeveralClaims:          0.35,
	features.PrioritizedList:        0.3,
	features.MatchAttribute:         0.3,
	features.DistinctAttribute:      0.2,
	features.AdminAccess:            0.17,
	features.CapacityRequests:       0.3,
	features.DerivedAttributes:      0.17,
	features.RequestSelectors:       0.5,
	features.Tolerations:            0.25,
	features.ClaimConfig:            0.2,
	features.ClassConfig:            0.3,
	features.ListAttributes:         0.2,
	features.SharedCounters:         0.3,
	features.MultiHostPool:          0.2,
	features.PerDeviceNodeSelection: 0.18,
	features.NodeSelectorSlice:      0.25,
	features.AllNodesSlice:          0.25,
	features.SharedDevices:          0.15,
	features.PolicyDefault:          0.18,
	features.PolicyRange:            0.2,
	features.PolicyValues:           0.17,
	features.FractionalRange:        0.14,
	features.CompatibilityGroups:    0.16,
	features.OptionalNodeOperations: 0.19,
	features.BindingConditions:      0.18,
	features.SliceTaints:            0.2,
	features.TaintRules:             0.2,
	features.DevicesInUse:           0.4,
	features.SharesInUse:            0.2,
	features.AdminInUse:             0.15,
	features.UnpublishedInUse:       0.16,
	features.OldGeneration:          0.2,
	features.IncompletePool:         0.13,
	features.InvalidPool:            0.13,
	features.GatesOff:               0.14,
}

// needs names what a feature cannot be without.
var needs = map[features.Feature][]features.Feature{
	features.CompatibilityGroups: {features.SharedCounters},
	features.PolicyDefault:       {features.SharedDevices},
	features.PolicyRange:         {features.SharedDevices},
	features.PolicyValues:        {features.SharedDevices},
	features.FractionalRange:     {features.SharedDevices, features.PolicyRange},
	features.SharesInUse:         {features.SharedDevices},
	features.AdminInUse:          {features.DevicesInUse},
}

// focused profiles and the features they are about.
var focused = map[string][]features.Feature{
	"exact-all":        {features.AllMode, features.SeveralRequests},
	"multi-request":    {features.SeveralRequests, features.RequestSelectors},
	"multi-claim":      {features.SeveralClaims, features.SeveralRequests},
	"constraints":      {features.SeveralRequests, features.MatchAttribute, features.DistinctAttribute},
	"first-available":  {features.PrioritizedList, features.SeveralRequests},
	"admin-access":     {features.AdminAccess, features.AdminInUse, features.DevicesInUse},
	"partitionable":    {features.SharedCounters, features.MultiHostPool, features.SeveralRequests, features.DevicesInUse},
	"compatibility":    {features.SharedCounters, features.CompatibilityGroups, features.SeveralRequests},
	"consumable":       {features.SharedDevices, features.PolicyRange, features.PolicyValues, features.CapacityRequests, features.SharesInUse},
	"fractional":       {features.SharedDevices, features.FractionalRange, features.CapacityRequests, features.SharesInUse},
	"shared-partition": {features.SharedDevices, features.SharedCounters, features.CapacityRequests, features.SeveralRequests},
	"taints":           {features.SliceTaints, features.TaintRules, features.Tolerations},
	"node-selection":   {features.NodeSelectorSlice, features.AllNodesSlice, features.PerDeviceNodeSelection, features.MultiHostPool},
	"pools":            {features.OldGeneration, features.IncompletePool, features.InvalidPool, features.UnpublishedInUse},
	"binding":          {features.BindingConditions, features.SeveralRequests},
	"list-attributes":  {features.ListAttributes, features.MatchAttribute, features.DistinctAttribute, features.SeveralRequests},
	"derived":          {features.DerivedAttributes, features.MatchAttribute, features.SeveralRequests},
	"node-operations":  {features.OptionalNodeOperations},
	"config":           {features.ClaimConfig, features.ClassConfig, features.PrioritizedList},
	limits:             {features.SeveralRequests, features.PrioritizedList},
	"gates":            {features.GatesOff},
	nodeLocal:          {features.DevicesInUse, features.SeveralRequests, features.RequestSelectors},
	counterTwins:       {features.SharedCounters, features.SeveralRequests, features.DevicesInUse},
	allAlternatives:    {features.AllMode, features.PrioritizedList, features.SeveralRequests},
	sharedCount:        {features.SharedDevices, features.SharesInUse, features.CapacityRequests},
}

// Profiles about the shape of what is published or asked for.
const (
	// nodeLocal has one slice for each driver of the node, as most drivers publish.
	nodeLocal = "node-local"
	// counterTwins has pools of two drivers that have one name and counters.
	counterTwins = "counter-twins"
	// allAlternatives asks for all devices in most alternatives.
	allAlternatives = "all-alternatives"
	// sharedCount asks for several devices that can be shared.
	sharedCount = "shared-count"
)

// Profiles returns the names of all profiles in order.
func Profiles() []string {
	names := []string{mixed}
	for name := range focused {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// CheckProfile returns an error for a profile that is unknown or of no use for a release. Empty
// means a mixture of all.
func CheckProfile(name string, minor int) error {
	if minor != 0 && (minor < 34 || minor > 36) {
		return fmt.Errorf("1.%d is no older release, there are 34, 35 and 36", minor)
	}
	if known := profilesOf(minor); name != "" && !slices.Contains(known, name) {
		return fmt.Errorf("no profile %q, there are: %s", name, strings.Join(known, ", "))
	}
	return nil
}

func (r rng) drawProfile(asked string, minor int) string {
	if asked != "" {
		return asked
	}
	if r.chance(mixedShare) {
		return mixed
	}
	return pick(r, profilesOf(minor)...)
}

// drawFeatures decides what a case is meant to exercise.
func (r rng) drawFeatures(profile string) features.Set {
	want := features.Set{}
	for _, f := range features.All {
		p := base[f]
		if profile == limits {
			p *= limitsScale
		} else if profile != mixed {
			p *= focusedScale
		}
		if profile != mixed {
			if slices.Contains(focused[profile], f) {
				p = 0.85
			}
		}
		// The draw happens in any case to keep the sequence the same.
		if drawn := r.chance(p); drawn {
			want[f] = true
		}
	}
	for _, f := range features.All {
		if want[f] {
			for _, needed := range needs[f] {
				want[needed] = true
			}
		}
	}
	return want
}
