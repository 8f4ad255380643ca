// Package cases defines the file format of allocator test cases: one JSON object per line,
// complete Kubernetes objects inside, and the verdict of the real allocator beside them.
//
// It knows nothing about how a verdict is found (package upstream) or how a case is made up
// (package generate).
package cases

import (
	"encoding/json"

	resourceapi "k8s.io/api/resource/v1"
)

// Outcomes of an allocation attempt on one node.
const (
	// Allocated means that all claims got their devices.
	Allocated = "allocated"
	// NoFit means that this node cannot satisfy the claims, others may.
	NoFit = "nofit"
	// Failed is a problem that ends the scheduling attempt for the Pod.
	Failed = "error"
	// TimedOut means that the search did not finish within its limit.
	TimedOut = "timeout"
)

// Features mirrors structured.Features with lower camel case names in JSON.
type Features struct {
	AdminAccess             bool `json:"adminAccess"`
	CompatibilityGroups     bool `json:"compatibilityGroups"`
	ConsumableCapacity      bool `json:"consumableCapacity"`
	DerivedAttributes       bool `json:"derivedAttributes"`
	DeviceBindingAndStatus  bool `json:"deviceBindingAndStatus"`
	DeviceTaints            bool `json:"deviceTaints"`
	FractionalCapacityRange bool `json:"fractionalCapacityRange"`
	ListTypeAttributes      bool `json:"listTypeAttributes"`
	OptionalNodeOperations  bool `json:"optionalNodeOperations"`
	PartitionableDevices    bool `json:"partitionableDevices"`
	PrioritizedList         bool `json:"prioritizedList"`
}

// OfGates are the features that a scheduler before 1.37 has with these gates.
func OfGates(gates map[string]bool) Features {
	return Features{
		AdminAccess:            gates["DRAAdminAccess"],
		ConsumableCapacity:     gates["DRAConsumableCapacity"],
		DeviceBindingAndStatus: gates["DRADeviceBindingConditions"] && gates["DRAResourceClaimDeviceStatus"],
		DeviceTaints:           gates["DRADeviceTaints"],
		PartitionableDevices:   gates["DRAPartitionableDevices"],
		PrioritizedList:        gates["DRAPrioritizedList"],
	}
}

// DefaultFeatures are what kube-scheduler 1.37 enables without any flag. FractionalCapacityRange
// is beta there, but stays off because the default of --min-compatibility-version is 1.36.
func DefaultFeatures() Features {
	return Features{
		AdminAccess:            true,
		ConsumableCapacity:     true,
		DeviceBindingAndStatus: true,
		DeviceTaints:           true,
		PartitionableDevices:   true,
		PrioritizedList:        true,
	}
}

// Case is one allocation problem.
type Case struct {
	Name    string `json:"name"`
	Source  string `json:"source"`
	Profile string `json:"profile,omitempty"`
	Notes   string `json:"notes,omitempty"`
	// Covers names what the case exercises, see features.Of.
	Covers   []string `json:"covers,omitempty"`
	Features Features `json:"features"`
	// Release is set in cases for an older Kubernetes, which only the program older answers.
	Release *Release          `json:"release,omitempty"`
	Objects []json.RawMessage `json:"objects"`
	Node    string            `json:"node"`
	Claims  []string          `json:"claims"`
	Expect  *Expect           `json:"expect,omitempty"`
	Work    *Work             `json:"work,omitempty"`
}

// Release is an older Kubernetes and how it is set up.
type Release struct {
	// Minor is 36 for Kubernetes 1.36.
	Minor int `json:"minor"`
	// Version of Kubernetes that the answers are of, such as "1.36.6".
	Version string `json:"version,omitempty"`
	// Gates of all components: those that decide about devices, whatever their default is.
	Gates map[string]bool `json:"gates"`
}

// Expect is the outcome of a case without its random parts.
type Expect struct {
	Outcome     string                         `json:"outcome"`
	Allocations []resourceapi.AllocationResult `json:"allocations,omitempty"`
	Error       string                         `json:"error,omitempty"`
}

// Work says how the real allocator came to its verdict. It is about the search, not about the
// result: an implementation that prunes better has different figures and is still right.
type Work struct {
	// Steps counts the invocations of allocateOne.
	Steps int64 `json:"steps"`
	// Backtracks counts the devices that were picked and given back.
	Backtracks int64 `json:"backtracks"`
	// Rejections names why devices were passed over, see upstream.RejectedInUse and its like.
	Rejections []string `json:"rejections,omitempty"`
	// Cause is the class of the error, see upstream.CauseOf. Empty without an error.
	Cause string `json:"cause,omitempty"`
}

// Result is what "oracle allocate" prints for a case.
type Result struct {
	Name string `json:"name"`
	Expect
	Work       *Work `json:"work,omitempty"`
	DurationNs int64 `json:"durationNs"`
}
