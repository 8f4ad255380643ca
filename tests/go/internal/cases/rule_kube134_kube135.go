//go:build kube134 || kube135

package cases

import resourceapi "k8s.io/api/resource/v1alpha3"

// DeviceTaintRule of the newest version that the release has.
type DeviceTaintRule = resourceapi.DeviceTaintRule
