// node is the real kubelet, which runs containers with a real container runtime. Its drivers are those of cmd/kubelet.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	// A kubelet reports a reboot when the boot ID changes. It has no flag for the file; cAdvisor, which reads it, does.
	if file := os.Getenv("BOOT_ID_FILE"); file != "" {
		if err := flag.Set("boot_id_file", file); err != nil {
			fmt.Fprintln(os.Stderr, "node:", err)
			os.Exit(1)
		}
	}
	os.Exit(cli.Run(app.NewKubeletCommand(context.Background())))
}
