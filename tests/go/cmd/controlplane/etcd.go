package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

// runEtcd is a single etcd member that listens on Unix sockets in its working directory, so that it
// needs no port and only the owner of that directory reaches it. It never syncs to disk: its data lives
// as long as one test.
func runEtcd(args []string) int {
	flags := flag.NewFlagSet("etcd", flag.ExitOnError)
	dir := flags.String("data-dir", "etcd", "where the data lies")
	client := flags.String("listen-client-url", "unix://etcd.sock", "where clients connect")
	peer := flags.String("listen-peer-url", "unix://etcd-peer.sock", "where other members would connect")
	_ = flags.Parse(args)

	cfg := embed.NewConfig()
	cfg.Dir = *dir
	cfg.LogLevel = "error"
	cfg.UnsafeNoFsync = true
	for _, listener := range []struct {
		raw               string
		listen, advertise *[]url.URL
	}{
		{*client, &cfg.ListenClientUrls, &cfg.AdvertiseClientUrls},
		{*peer, &cfg.ListenPeerUrls, &cfg.AdvertisePeerUrls},
	} {
		parsed, err := url.Parse(listener.raw)
		if err != nil {
			fmt.Fprintln(os.Stderr, "etcd:", err)
			return 2
		}
		*listener.listen, *listener.advertise = []url.URL{*parsed}, []url.URL{*parsed}
	}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)

	server, err := embed.StartEtcd(cfg)
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		return 1
	}
	defer server.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	select {
	case <-stop:
		return 0
	case err := <-server.Err():
		fmt.Fprintln(os.Stderr, "etcd:", err)
		return 1
	}
}
