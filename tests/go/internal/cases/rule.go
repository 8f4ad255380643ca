//go:build !older

package cases

import resourceapi "k8s.io/api/resource/v1"

// DeviceTaintRule of the newest version that the release has.
type DeviceTaintRule = resourceapi.DeviceTaintRule
