// Package features names what an allocator case can exercise and finds it in the objects of a
// case.
//
// The generator draws cases by these names, but what counts for coverage is always found in the
// finished objects: an intention that did not make it into the case is worth nothing.
package features

// Feature is one thing that a case can exercise.
type Feature string

// What the claims to allocate ask for.
const (
	ExactCount        Feature = "exactCount"
	AllMode           Feature = "allMode"
	SeveralRequests   Feature = "severalRequests"
	SeveralClaims     Feature = "severalClaims"
	PrioritizedList   Feature = "prioritizedList"
	MatchAttribute    Feature = "matchAttribute"
	DistinctAttribute Feature = "distinctAttribute"
	AdminAccess       Feature = "adminAccess"
	CapacityRequests  Feature = "capacityRequests"
	DerivedAttributes Feature = "derivedAttributes"
	RequestSelectors  Feature = "requestSelectors"
	Tolerations       Feature = "tolerations"
	ClaimConfig       Feature = "claimConfig"
	ClassConfig       Feature = "classConfig"
)

// What the devices are like. The alpha features count only while their gate is on.
const (
	ListAttributes         Feature = "listAttributes"
	SharedCounters         Feature = "sharedCounters"
	MultiHostPool          Feature = "multiHostPool"
	PerDeviceNodeSelection Feature = "perDeviceNodeSelection"
	NodeSelectorSlice      Feature = "nodeSelectorSlice"
	AllNodesSlice          Feature = "allNodesSlice"
	SharedDevices          Feature = "sharedDevices"
	PolicyDefault          Feature = "policyDefault"
	PolicyRange            Feature = "policyRange"
	PolicyValues           Feature = "policyValues"
	FractionalRange        Feature = "fractionalRange"
	CompatibilityGroups    Feature = "compatibilityGroups"
	OptionalNodeOperations Feature = "optionalNodeOperations"
	BindingConditions      Feature = "bindingConditions"
	SliceTaints            Feature = "sliceTaints"
	TaintRules             Feature = "taintRules"
)

// What state the cluster is in.
const (
	DevicesInUse     Feature = "devicesInUse"
	SharesInUse      Feature = "sharesInUse"
	AdminInUse       Feature = "adminInUse"
	UnpublishedInUse Feature = "unpublishedInUse"
	OldGeneration    Feature = "oldGeneration"
	IncompletePool   Feature = "incompletePool"
	InvalidPool      Feature = "invalidPool"
	GatesOff         Feature = "gatesOff"
)

// All lists the features in the order of reports.
var All = []Feature{
	ExactCount, AllMode, SeveralRequests, SeveralClaims, PrioritizedList, MatchAttribute,
	DistinctAttribute, AdminAccess, CapacityRequests, DerivedAttributes, RequestSelectors,
	Tolerations, ClaimConfig, ClassConfig,
	ListAttributes, SharedCounters, MultiHostPool, PerDeviceNodeSelection, NodeSelectorSlice,
	AllNodesSlice, SharedDevices, PolicyDefault, PolicyRange, PolicyValues, FractionalRange,
	CompatibilityGroups, OptionalNodeOperations, BindingConditions, SliceTaints, TaintRules,
	DevicesInUse, SharesInUse, AdminInUse, UnpublishedInUse, OldGeneration, IncompletePool,
	InvalidPool, GatesOff,
}

// Set is a set of features.
type Set map[Feature]bool

func (s Set) add(f Feature, present bool) {
	if present {
		s[f] = true
	}
}

// List returns the features of the set in the order of All.
func (s Set) List() []string {
	var out []string
	for _, f := range All {
		if s[f] {
			out = append(out, string(f))
		}
	}
	return out
}
