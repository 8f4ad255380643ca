//go:build kube135

package upstream

import "k8s.io/dynamic-resource-allocation/cel"

// Minor and Version of Kubernetes that the libraries belong to. The staging modules have the same numbers.
const (
	Minor   = 35
	Version = "1.35.10"
)

func celFeatures(consumableCapacity, _ bool) cel.Features {
	return cel.Features{EnableConsumableCapacity: consumableCapacity}
}
