//go:build !kube134 && !kube135 && !kube136

package cases

import resourceapi "k8s.io/api/resource/v1"

// DeviceTaintRule of the newest version that the release has.
type DeviceTaintRule = resourceapi.DeviceTaintRule
