// oracle answers allocation and CEL test cases with the code of Kubernetes v1.37.2, and makes up
// new ones. Cases are JSON lines on standard input and output; the README explains the commands.
package main

import (
	"fmt"
	"os"
	"strings"

	"kubectl-dra.test/internal/upstream"
)

type command struct {
	usage string
	run   func(args []string) error
}

// commands in the order of the usage text.
var commands = []struct {
	name string
	command
}{
	{"allocate", command{"answer allocator cases", allocate}},
	{"cel", command{"answer CEL cases", evaluateCEL}},
	{"expect", command{"print allocator cases with their expectation filled in", expect}},
	{"generate", command{"make up allocator cases", generateCases}},
	{"generate-cel", command{"make up CEL cases", generateCEL}},
	{"coverage", command{"print what allocator cases cover, fail when it is not enough", printCoverage}},
	{"shrink", command{"make a case smaller while a command still finds a difference", shrinkCase}},
	{"family", command{"print a problem that grows with a number", printFamily}},
	{"bench", command{"measure the Go code on the families", bench}},
	{"check", command{"compare the answers with the expectations", check}},
}

// errFindings ends the process with status 1 without a further message, because the
// findings are on standard output already.
type errFindings struct{}

func (errFindings) Error() string { return "findings" }

func main() {
	if err := dispatch(os.Args[1:]); err != nil {
		if _, ok := err.(errFindings); !ok {
			fmt.Fprintln(os.Stderr, "oracle:", err)
		}
		os.Exit(1)
	}
}

func dispatch(args []string) error {
	if len(args) > 0 {
		for _, c := range commands {
			if c.name == args[0] {
				upstream.SilenceLibraries()
				// Brings back "stable" or restricts to one implementation.
				if list := os.Getenv("ORACLE_ALLOCATORS"); list != "" {
					upstream.EnableAllocators(strings.Split(list, ",")...)
				}
				return c.run(args[1:])
			}
		}
	}
	var usage strings.Builder
	usage.WriteString("usage: oracle COMMAND [flags]\n")
	for _, c := range commands {
		fmt.Fprintf(&usage, "  %-12s %s\n", c.name, c.usage)
	}
	fmt.Fprint(os.Stderr, usage.String())
	os.Exit(2)
	return nil
}
