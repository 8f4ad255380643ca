package upstream

import "strings"

// Causes are the classes of errors that end an allocation attempt.
const (
	CauseAllIncomplete   = "allIncompletePool"
	CauseAllInvalid      = "allInvalidPool"
	CauseAllConstraint   = "allConstraint"
	CauseTooMany         = "tooManyDevices"
	CauseCELCompile      = "celCompile"
	CauseCELRuntime      = "celRuntime"
	CauseDerivedCompile  = "derivedCompile"
	CauseDerivedRuntime  = "derivedRuntime"
	CauseCapacityHuge    = "capacityNotRepresentable"
	CauseCapacityMinus   = "capacityNegative"
	CauseNodeSelector    = "nodeSelectorUnparsable"
	CauseSelectorTerms   = "nodeSelectorTerms"
	CauseNoSubrequests   = "subrequestsDisabled"
	CauseNoAdminAccess   = "adminAccessDisabled"
	CauseNoCapacity      = "capacityDisabled"
	CauseNoDerived       = "derivedAttributesDisabled"
	CauseMissingClass    = "missingClass"
	CauseEmptySelector   = "emptySelector"
	CauseEmptyConstraint = "unknownConstraint"
	CauseUnknownMode     = "unknownMode"
	CauseNoClassName     = "missingClassName"
	CausePanic           = "panic"
	CauseOther           = "other"
)

// panicText starts the error for a panic of the library.
const panicText = "the allocator panicked"

// causeTexts maps parts of the error texts of v0.37.1 to causes. The first match counts.
var causeTexts = []struct{ part, cause string }{
	{panicText, CausePanic},
	{"is currently being updated", CauseAllIncomplete},
	{"is currently invalid", CauseAllInvalid},
	{"because a claim constraint would not be satisfied", CauseAllConstraint},
	{"exceeds the claim limit", CauseTooMany},
	{"compile derived attribute", CauseDerivedCompile},
	{"evaluate derived attribute", CauseDerivedRuntime},
	{"CEL compile error", CauseCELCompile},
	{"CEL runtime error", CauseCELRuntime},
	{"cannot be represented in the device's range arithmetic", CauseCapacityHuge},
	{"capacity value is negative", CauseCapacityMinus},
	{"failed to parse node selector", CauseNodeSelector},
	{"has subrequests, but the DRAPrioritizedList feature is disabled", CauseNoSubrequests},
	{"admin access is requested, but the feature is disabled", CauseNoAdminAccess},
	{"has capacity requests, but the DRAConsumableCapacity feature is disabled", CauseNoCapacity},
	{"cannot handle request with derived attributes", CauseNoDerived},
	{"could not retrieve device class", CauseMissingClass},
	{"CEL expression empty", CauseEmptySelector},
	{"empty constraint", CauseEmptyConstraint},
	{"unsupported count mode", CauseUnknownMode},
	{"missing device class name", CauseNoClassName},
	{"unsupported ResourceSlice.NodeSelector", CauseSelectorTerms},
}

// CauseOf classifies the text of an error of the allocator. The library has no typed errors.
func CauseOf(text string) string {
	for _, known := range causeTexts {
		if strings.Contains(text, known.part) {
			return known.cause
		}
	}
	return CauseOther
}
