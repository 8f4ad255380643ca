//go:build older

// older answers allocation and CEL test cases with the libraries of an older Kubernetes release:
// the one of the requirements and the build tag that it is built with. Cases are JSON lines on
// standard input and output; the README explains the commands.
package main

import (
	"fmt"
	"os"

	"kubectl-dra.test/internal/upstream"
)

func main() {
	commands := map[string]func([]string) error{"outcomes": outcomes, "cel": evaluateCEL}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: older outcomes|cel [flags]")
		os.Exit(2)
	}
	upstream.SilenceLibraries()
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "older:", err)
		os.Exit(1)
	}
}
