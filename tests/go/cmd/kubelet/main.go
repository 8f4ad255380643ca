// kubelet drives the DRA code of the real kubelet without a container runtime: its DRA manager with checkpoints, its plugin manager over
// sockets, and, as the other side, drivers made of the real kubeletplugin helper.
//
//	kubelet node    the kubelet of one node: containers "run" once their claims are prepared and their CDI devices are there
//	kubelet driver  a driver of one node, whose devices come from a file and whose behaviour files in its folder change
//
// Everything of a node lies in one folder, which stands for its file systems: `state`, `plugins` and `plugins_registry` are on disk, `run`
// is lost with a reboot. What the node does with containers follows kuberuntime_manager.go and kubelet.go as far as DRA goes.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubelet:", err)
		os.Exit(1)
	}
}

func client(kubeconfig string) kubernetes.Interface {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	check(err)
	config.QPS, config.Burst = 200, 400
	return kubernetes.NewForConfigOrDie(config)
}

func untilStopped() context.Context {
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	return ctx
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "kubelet: `node` or `driver` is missing")
		os.Exit(2)
	}
	command := os.Args[1]
	os.Args = append([]string{command}, os.Args[2:]...)
	switch command {
	case "driver":
		runDriver()
	case "node":
		runNode()
	default:
		fmt.Fprintf(os.Stderr, "kubelet: unknown command %q\n", command)
		os.Exit(2)
	}
}
