//go:build !older

// older answers cases with the libraries of an older Kubernetes release. It is built with the
// requirements and the tag of one, see releases/oracle-1.NN.mod.
package main

import "os"

func main() {
	os.Stderr.WriteString("older: built without the tag of a release\n")
	os.Exit(2)
}
