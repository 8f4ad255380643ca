//go:build kube136

package cases

import resourceapi "k8s.io/api/resource/v1beta2"

// DeviceTaintRule of the newest version that the release has.
type DeviceTaintRule = resourceapi.DeviceTaintRule
