package upstream

import (
	"flag"
	"io"

	"k8s.io/klog/v2"
)

// SilenceLibraries stops the log of recoverable problems, which would drown the output.
func SilenceLibraries() {
	logFlags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(logFlags)
	_ = logFlags.Set("logtostderr", "false")
	_ = logFlags.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
}
