package cases

import resourceapi "k8s.io/api/resource/v1"

// CELCase is one selector expression and the device to evaluate it on.
type CELCase struct {
	Name                      string    `json:"name"`
	Group                     string    `json:"group,omitempty"`
	Expression                string    `json:"expression"`
	Device                    CELDevice `json:"device"`
	ListTypeAttributes        bool      `json:"listTypeAttributes"`
	DisableConsumableCapacity bool      `json:"disableConsumableCapacity,omitempty"`
	// Minor is the Kubernetes version, 37 if it is missing. Only that one can be answered.
	Minor uint32 `json:"minor,omitempty"`
	// New asks for the environment of new expressions, as the API server has it, instead of the one
	// for stored expressions.
	New    bool       `json:"new,omitempty"`
	Expect *CELExpect `json:"expect,omitempty"`
}

// CELDevice is the part of a device that a selector sees.
type CELDevice struct {
	Driver                   string                                                    `json:"driver"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes,omitempty"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity,omitempty"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations,omitempty"`
}

// CELExpect is the outcome of compiling and evaluating a selector.
type CELExpect struct {
	Compiles     bool   `json:"compiles"`
	CompileError string `json:"compileError,omitempty"`
	Matches      bool   `json:"matches"`
	RuntimeError string `json:"runtimeError,omitempty"`
	Cost         uint64 `json:"cost"`
	// CostVaries is set when the cost depends on the iteration order of a map.
	CostVaries bool `json:"costVaries,omitempty"`
	// MaxCost is the worst case that is estimated for an expression that compiles, at most what fits into a signed number.
	MaxCost *uint64 `json:"maxCost,omitempty"`
}

// CELResult is what "oracle cel" prints for a case.
type CELResult struct {
	Name string `json:"name"`
	CELExpect
}
