package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	"k8s.io/dynamic-resource-allocation/resourceslice"
)

// A driver does what files of its node's folder say, read each time:
//
//	fail-prepare    text of an error; a first line `times: N` makes it fail N times only
//	slow-prepare    seconds that preparing takes
//	fail-unprepare  text of an error
//	hang-prepare    the call does not return while the file is there; hang-unprepare likewise
//	crash-prepare   it ends in the middle of the call
//	no-cdi          claims are prepared, but no CDI file is written
//	health          a DeviceHealthReport as JSON
//	exclusive       it refuses a device that it has prepared for another claim
//	keeps-prepared  it has a list of prepared claims on disk, and writes no CDI file for those on it
type driver struct {
	// Folders: what changes its behaviour, where CDI files go, and its own within the kubelet's.
	name, dir, cdi, data string
}

// cdiFile is where a driver says what a CDI device is, in a folder such as /var/run/cdi.
func cdiFile(cdi, id string) string {
	return filepath.Join(cdi, strings.ReplaceAll(id, "/", "_")+".json")
}

// writeCDI lets containers see the device as an environment variable of the request's name.
func (d *driver) writeCDI(id string, device resourceapi.DeviceRequestAllocationResult) error {
	if _, told := d.told("no-cdi"); told {
		return nil
	}
	kind, name, _ := strings.Cut(id, "=")
	variable := strings.ToUpper(strings.ReplaceAll("DEVICE_"+device.Request, "-", "_")) + "=" + device.Pool + "/" + device.Device
	text, err := json.Marshal(map[string]any{"cdiVersion": "0.6.0", "kind": kind, "devices": []any{
		map[string]any{"name": name, "containerEdits": map[string]any{"env": []string{variable}}}}})
	if err != nil {
		return err
	}
	// A container runtime that reads half a file would complain of it.
	file := cdiFile(d.cdi, id)
	if err := os.WriteFile(file+".next", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".next", file)
}

// hang returns once the file is gone or the kubelet gives up.
func (d *driver) hang(ctx context.Context, file string) {
	for ctx.Err() == nil {
		if _, told := d.told(file); !told {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (d *driver) told(file string) (string, bool) {
	data, err := os.ReadFile(filepath.Join(d.dir, file))
	if err != nil {
		return "", false
	}
	text := strings.TrimSpace(string(data))
	first, rest, found := strings.Cut(text, "\n")
	count, isCounted := strings.CutPrefix(first, "times: ")
	if !found || !isCounted {
		return text, true
	}
	left, err := strconv.Atoi(count)
	if err != nil || left == 0 {
		return "", false
	}
	next := fmt.Sprintf("times: %d\n%s", left-1, rest)
	_ = os.WriteFile(filepath.Join(d.dir, file), []byte(next), 0o600)
	return rest, true
}

func (d *driver) PrepareResourceClaims(ctx context.Context, claims []*resourceapi.ResourceClaim) (map[types.UID]kubeletplugin.PrepareResult, error) {
	out := map[types.UID]kubeletplugin.PrepareResult{}
	if _, told := d.told("crash-prepare"); told {
		fmt.Println("crashing as told")
		os.Exit(7)
	}
	d.hang(ctx, "hang-prepare")
	for _, claim := range claims {
		if text, ok := d.told("slow-prepare"); ok {
			seconds, _ := strconv.Atoi(text)
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Duration(seconds) * time.Second):
			}
		}
		if text, ok := d.told("fail-prepare"); ok {
			out[claim.UID] = kubeletplugin.PrepareResult{Err: errors.New(text)}
			continue
		}
		result := kubeletplugin.PrepareResult{}
		for _, device := range claim.Status.Allocation.Devices.Results {
			if device.Driver != d.name {
				continue
			}
			if other := d.otherClaim(claim.UID, device.Device); other != "" {
				result = kubeletplugin.PrepareResult{Err: fmt.Errorf("requested device %s is already allocated to different claim %s", device.Device, other)}
				break
			}
			id := d.name + "/gpu=" + string(claim.UID) + "-" + device.Device
			if !d.isPrepared(claim.UID) {
				if err := d.writeCDI(id, device); err != nil {
					return nil, err
				}
			}
			result.Devices = append(result.Devices, kubeletplugin.Device{Requests: []string{device.Request}, PoolName: device.Pool,
				DeviceName: device.Device, ShareID: device.ShareID, CDIDeviceIDs: []string{id}})
		}
		if _, keeps := d.told("keeps-prepared"); keeps {
			if err := os.WriteFile(d.prepared(claim.UID), nil, 0o600); err != nil {
				return nil, err
			}
		}
		out[claim.UID] = result
	}
	return out, nil
}

// otherClaim is the claim that the device is prepared for, if that is another one and the driver looks.
func (d *driver) otherClaim(claim types.UID, device string) string {
	if _, looks := d.told("exclusive"); !looks {
		return ""
	}
	files, _ := filepath.Glob(cdiFile(d.cdi, d.name+"/gpu=*-"+device))
	for _, file := range files {
		_, rest, _ := strings.Cut(filepath.Base(file), "=")
		other := strings.TrimSuffix(rest, "-"+device+".json")
		if other != string(claim) {
			return other
		}
	}
	return ""
}

// prepared is where a driver that keeps a list has the claim on it.
func (d *driver) prepared(claim types.UID) string {
	return filepath.Join(d.data, "prepared-"+string(claim))
}

func (d *driver) isPrepared(claim types.UID) bool {
	_, err := os.Stat(d.prepared(claim))
	return err == nil
}

func (d *driver) UnprepareResourceClaims(ctx context.Context, claims []kubeletplugin.NamespacedObject) (map[types.UID]error, error) {
	out := map[types.UID]error{}
	d.hang(ctx, "hang-unprepare")
	for _, claim := range claims {
		out[claim.UID] = nil
		if text, ok := d.told("fail-unprepare"); ok {
			out[claim.UID] = errors.New(text)
			continue
		}
		files, _ := filepath.Glob(cdiFile(d.cdi, d.name+"/gpu="+string(claim.UID)+"-*"))
		for _, file := range append(files, d.prepared(claim.UID)) {
			_ = os.Remove(file)
		}
	}
	return out, nil
}

func (d *driver) HandleError(_ context.Context, err error, msg string) {
	fmt.Printf("HandleError: %s: %v\n", msg, err)
}

// WatchHealthStatus reports what the file `health` says. The kubelet forgets a report after 30 s, so that it is repeated.
func (d *driver) WatchHealthStatus(ctx context.Context, reports chan<- kubeletplugin.DeviceHealthReport) error {
	var old string
	var reported time.Time
	for {
		data, err := os.ReadFile(filepath.Join(d.dir, "health"))
		if err == nil && (string(data) != old || time.Since(reported) > 10*time.Second) {
			var report kubeletplugin.DeviceHealthReport
			if err := json.Unmarshal(data, &report); err != nil {
				fmt.Println("health:", err)
			} else {
				old, reported = string(data), time.Now()
				select {
				case reports <- report:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func runDriver() {
	d := &driver{}
	kubeconfig := flag.String("kubeconfig", "", "")
	node := flag.String("node", "", "")
	resources := flag.String("resources", "", "JSON of resourceslice.DriverResources, published whenever it changes")
	registry := flag.String("registry", "plugins_registry", "folder of the registration sockets within that of the node")
	uid := flag.String("uid", "", "UID of the driver's pod, with which it runs beside another instance of itself")
	flag.StringVar(&d.name, "driver", "gpu.example.com", "")
	kubelet := flag.String("kubelet-dir", "", "the kubelet's folder, if it is not the node's")
	flag.StringVar(&d.dir, "dir", "", "the node's folder, with the files that change what the driver does")
	flag.StringVar(&d.cdi, "cdi", "", "folder of CDI files, if it is not run/cdi of the node's")
	flag.Parse()
	if *kubelet == "" {
		*kubelet = d.dir
	}
	if d.cdi == "" {
		d.cdi = filepath.Join(d.dir, "run", "cdi")
	}
	ctx := untilStopped()
	d.data = filepath.Join(*kubelet, "plugins", d.name)
	for _, folder := range []string{d.data, filepath.Join(*kubelet, *registry), d.cdi} {
		check(os.MkdirAll(folder, 0o750))
	}
	helper, err := kubeletplugin.Start(ctx, d, kubeletplugin.DriverName(d.name), kubeletplugin.NodeName(*node),
		kubeletplugin.KubeClient(client(*kubeconfig)), kubeletplugin.PluginDataDirectoryPath(d.data),
		kubeletplugin.RegistrarDirectoryPath(filepath.Join(*kubelet, *registry)), kubeletplugin.RollingUpdate(types.UID(*uid)))
	check(err)
	var published string
	var isRegistered bool
	for {
		if status := helper.RegistrationStatus(); status != nil && status.PluginRegistered && !isRegistered {
			isRegistered = true
			fmt.Println("registered")
		}
		text, err := os.ReadFile(*resources)
		if err == nil && string(text) != published {
			var devices resourceslice.DriverResources
			check(json.Unmarshal(text, &devices))
			check(helper.PublishResources(ctx, devices))
			published = string(text)
			fmt.Println("published")
		}
		select {
		case <-ctx.Done():
			helper.Stop()
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}
