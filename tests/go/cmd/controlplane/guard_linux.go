package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// runGuarded becomes another program, which the kernel kills as soon as the thread that started it ends.
// Unlike endWithStdin it leaves standard input to that program.
func runGuarded(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "guard: no command given")
		return 2
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		return 127
	}
	// The setting belongs to the thread; the one that calls exec is the one that remains.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		return 1
	}
	err = syscall.Exec(path, args, os.Environ())
	fmt.Fprintln(os.Stderr, "guard:", err)
	return 126
}
