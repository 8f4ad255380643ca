// app is the only program of the test image, and makes that image.
//
//	app                        waits for SIGTERM, as a pause container does
//	app env                    prints the environment, then waits
//	app sleep SECONDS CODE     ends after SECONDS with CODE
//	app stubborn               ignores SIGTERM
//	app chroot DIR COMMAND     becomes a program of the file system in DIR
//	app image NAME...          writes a Docker archive with itself to standard output
package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "app:", err)
		os.Exit(1)
	}
}

type file struct {
	name string
	data []byte
	mode int64
}

func archive(to io.Writer, files ...file) {
	out := tar.NewWriter(to)
	for _, f := range files {
		check(out.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data))}))
		_, err := out.Write(f.data)
		check(err)
	}
	check(out.Close())
}

func writeImage(names []string) {
	program, err := os.ReadFile("/proc/self/exe")
	check(err)
	var layer bytes.Buffer
	archive(&layer, file{"app", program, 0o755}, file{"etc/passwd", []byte("root:x:0:0:root:/:/app\n"), 0o644})
	toJSON := func(value any) []byte {
		data, err := json.Marshal(value)
		check(err)
		return data
	}
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))
	config := toJSON(map[string]any{"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{"Entrypoint": []string{"/app"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest}}})
	configName := fmt.Sprintf("%x.json", sha256.Sum256(config))
	manifest := toJSON([]map[string]any{{"Config": configName, "RepoTags": names, "Layers": []string{"layer.tar"}}})
	archive(os.Stdout, file{configName, config, 0o644}, file{"layer.tar", layer.Bytes(), 0o644}, file{"manifest.json", manifest, 0o644})
}

// wait returns when the process is told to end. As process 1 it collects processes that lost their parent.
func wait() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for s := range signals {
		if s != syscall.SIGCHLD {
			return
		}
		for {
			if pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 {
				break
			}
		}
	}
}

func main() {
	command := "wait"
	args := os.Args[1:]
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch command {
	case "env":
		for _, variable := range os.Environ() {
			fmt.Println(variable)
		}
		wait()
	case "sleep":
		seconds, err := strconv.Atoi(args[0])
		check(err)
		code, err := strconv.Atoi(args[1])
		check(err)
		// As process 1 it would ignore a signal without a handler.
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, syscall.SIGTERM)
		select {
		case <-time.After(time.Duration(seconds) * time.Second):
			os.Exit(code)
		case <-ended:
		}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		// The runtime ends a program in which nothing can happen any more.
		for {
			time.Sleep(time.Hour)
		}
	case "chroot":
		check(syscall.Chroot(args[0]))
		check(os.Chdir("/"))
		check(syscall.Exec(args[1], args[1:], os.Environ()))
	case "image":
		writeImage(args)
	default:
		wait()
	}
}
