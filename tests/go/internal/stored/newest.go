//go:build !older

// Package stored is about older releases only.
package stored
