//go:build kube136

package upstream

import "k8s.io/dynamic-resource-allocation/cel"

// Minor and Version of Kubernetes that the libraries belong to. The staging modules have the same numbers.
const (
	Minor   = 36
	Version = "1.36.6"
)

func celFeatures(consumableCapacity, listTypeAttributes bool) cel.Features {
	return cel.Features{EnableConsumableCapacity: consumableCapacity, EnableListTypeAttributes: listTypeAttributes}
}
