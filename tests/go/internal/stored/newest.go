//go:build !kube134 && !kube135 && !kube136

// Package stored is about older releases only.
package stored
