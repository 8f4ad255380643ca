package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"

	"kubectl-dra.test/internal/cases"
	"kubectl-dra.test/internal/families"
)

// printFamily prints the case of one family and size, without arguments the list of families.
func printFamily(args []string) error {
	fs := flag.NewFlagSet("family", flag.ExitOnError)
	withExpect := fs.Bool("expect", false, "fill in the verdict of the real allocator")
	maxSteps := fs.Int64("max-steps", defaultMaxSteps, "with --expect, where a search counts as a timeout")
	_ = fs.Parse(args)
	if fs.NArg() == 0 {
		for _, family := range families.All {
			fmt.Printf("%-18s %s; %v\n", family.Name, family.About, family.Sizes)
		}
		return nil
	}
	if fs.NArg() != 2 {
		return fmt.Errorf("a family takes a name and a size")
	}
	family, err := families.Find(fs.Arg(0))
	if err != nil {
		return err
	}
	size, err := strconv.Atoi(fs.Arg(1))
	if err != nil {
		return fmt.Errorf("size: %w", err)
	}
	c, err := family.Case(size)
	if err != nil {
		return err
	}
	if *withExpect {
		fillIn(c, newSteadySolver(*maxSteps).Solve(c))
	}
	out := cases.NewLineWriter(os.Stdout)
	return flushed(out, out.Write(c))
}
