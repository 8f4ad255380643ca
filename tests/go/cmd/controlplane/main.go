// Command controlplane is a whole Kubernetes control plane, and kubectl, in one binary: the first argument,
// or the name the binary is called by, says which program it is.
//
// One binary costs one link and shares what all of them contain. The tests start it once per
// component; see docs/internals/testing.md.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	// Credential plugins of kubeconfig files, as in cmd/kubectl.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kcm "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// shutdownGrace bounds how long a component may take to end: the API server would wait a minute for
// its watches, and nothing in a test needs that.
const shutdownGrace = 3 * time.Second

var programs = map[string]func() int{
	"etcd": func() int {
		endWithStdin()
		return runEtcd(os.Args[1:])
	},
	"kube-apiserver": func() int {
		endWithStdin()
		return cli.Run(apiserver.NewAPIServerCommand())
	},
	"kube-scheduler": func() int {
		endWithStdin()
		return cli.Run(scheduler.NewSchedulerCommand())
	},
	"kube-controller-manager": func() int {
		endWithStdin()
		return cli.Run(kcm.NewControllerManagerCommand())
	},
	"kubectl": runKubectl,
}

func main() {
	run := programs[filepath.Base(os.Args[0])]
	if run == nil && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		run = programs[os.Args[0]]
	}
	if run == nil {
		names := make([]string, 0, len(programs))
		for name := range programs {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "usage: controlplane PROGRAM ARGUMENTS, where PROGRAM is one of %v\n", names)
		os.Exit(2)
	}
	os.Exit(run())
}

// endWithStdin ends this process when its standard input closes. The test holds the other end of that
// pipe, so the component stops with the test however the test ends, kill -9 included.
func endWithStdin() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		time.Sleep(shutdownGrace)
		os.Exit(1)
	}()
}

func runKubectl() int {
	// As in cmd/kubectl: the verbosity counts before the flags are parsed, for messages of plugin look-ups.
	_, _ = logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
	return 0
}
