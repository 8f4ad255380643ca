package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	registerapi "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm/dra"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
)

// notOurs marks pods that a test drives itself, such as those that stand for a driver's.
const notOurs = "kubelet.test/driven-by-test"

// ends makes the containers of a pod that runs end by themselves, without a failure.
const ends = "kubelet.test/ends"

type ready struct{}

func (ready) AddSource(string) {}
func (ready) AllReady() bool   { return true }

type node struct {
	cs        kubernetes.Interface
	name, dir string
	manager   *dra.Manager
	events    record.EventRecorder
	said      map[types.UID]saying
}

type saying struct {
	text string
	at   time.Time
}

// complain writes an event, as each attempt of the kubelet does; attempts come every half second here, and events of the same text every
// five.
func (n *node) complain(pod *v1.Pod, reason, text string) {
	last := n.said[pod.UID]
	if last.text == text && time.Since(last.at) < 5*time.Second {
		return
	}
	n.said[pod.UID] = saying{text, time.Now()}
	n.log(pod, reason+": "+text)
	n.events.Event(pod, v1.EventTypeWarning, reason, text)
}

func (n *node) log(pod *v1.Pod, text string) {
	fmt.Printf("%s %s/%s: %s\n", time.Now().Format("15:04:05.000"), pod.Namespace, pod.Name, text)
}

func (n *node) sandbox(pod *v1.Pod) string {
	return filepath.Join(n.dir, "run", "sandboxes", string(pod.UID))
}

func (n *node) pods(ctx context.Context) ([]*v1.Pod, error) {
	list, err := n.cs.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + n.name})
	if err != nil {
		return nil, err
	}
	var pods []*v1.Pod
	for i := range list.Items {
		if list.Items[i].Annotations[notOurs] == "" {
			pods = append(pods, &list.Items[i])
		}
	}
	return pods, nil
}

// start does what kuberuntime_manager.go, SyncPod, does with devices: they are prepared before a sandbox is made, and the CDI devices are
// looked up when containers are.
func (n *node) start(ctx context.Context, pod *v1.Pod) {
	_, err := os.Stat(n.sandbox(pod))
	if err == nil && pod.Status.Phase == v1.PodRunning {
		// Containers that run are let alone. Only the health of their devices is reported.
		n.report(ctx, pod, v1.PodRunning, v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.Now()}})
		return
	}
	if _, err := os.Stat(n.sandbox(pod)); err != nil {
		if err := n.manager.PrepareResources(ctx, pod); err != nil {
			n.complain(pod, "FailedPrepareDynamicResources", fmt.Sprintf("Failed to prepare dynamic resources: %v", err))
			n.report(ctx, pod, v1.PodPending, waiting("ContainerCreating", ""))
			return
		}
		check(os.WriteFile(n.sandbox(pod), nil, 0o600))
	}
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		info, err := n.manager.GetResources(pod, container)
		if err != nil {
			n.complain(pod, "Failed", "Error: "+err.Error())
			n.report(ctx, pod, pod.Status.Phase, waiting("CreateContainerConfigError", err.Error()))
			return
		}
		var missing []string
		for _, device := range info.CDIDevices {
			if _, err := os.Stat(cdiFile(filepath.Join(n.dir, "run", "cdi"), device.Name)); err != nil {
				missing = append(missing, device.Name)
			}
		}
		if len(missing) > 0 {
			// In the words of containerd.
			text := "failed to create containerd container: CDI device injection failed: unresolvable CDI devices " + strings.Join(missing, ", ")
			n.complain(pod, "Failed", "Error: "+text)
			n.report(ctx, pod, v1.PodPending, waiting("CreateContainerError", text))
			return
		}
	}
	n.report(ctx, pod, v1.PodRunning, v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: metav1.Now()}})
}

func waiting(reason, message string) v1.ContainerState {
	return v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// report writes the pod's status where it changes.
func (n *node) report(ctx context.Context, pod *v1.Pod, phase v1.PodPhase, state v1.ContainerState) {
	updated := pod.DeepCopy()
	status := &updated.Status
	status.Phase = phase
	if status.StartTime == nil {
		now := metav1.Now()
		status.StartTime = &now
	}
	isReady := state.Running != nil
	var statuses []v1.ContainerStatus
	for _, container := range pod.Spec.Containers {
		next := v1.ContainerStatus{Name: container.Name, Image: container.Image, Ready: isReady, State: state}
		for _, old := range status.ContainerStatuses {
			if old.Name == container.Name {
				next.AllocatedResourcesStatus = old.AllocatedResourcesStatus
				if old.State.Running != nil && isReady {
					next.State = old.State
				}
			}
		}
		statuses = append(statuses, next)
	}
	status.ContainerStatuses = statuses
	for _, kind := range []v1.PodConditionType{v1.PodReadyToStartContainers, v1.ContainersReady, v1.PodReady} {
		set(status, kind, isReady)
	}
	set(status, v1.PodInitialized, true)
	n.manager.UpdateAllocatedResourcesStatus(klog.FromContext(ctx), updated, status)
	n.write(ctx, pod, updated)
}

// write returns the pod as it is then: as it was where the server refuses.
func (n *node) write(ctx context.Context, pod, updated *v1.Pod) *v1.Pod {
	before, _ := json.Marshal(pod.Status)
	after, _ := json.Marshal(updated.Status)
	if string(before) == string(after) {
		return updated
	}
	written, err := n.cs.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, updated, metav1.UpdateOptions{})
	if err != nil {
		n.log(pod, "status: "+err.Error())
		return pod
	}
	return written
}

func set(status *v1.PodStatus, kind v1.PodConditionType, isTrue bool) {
	value := v1.ConditionFalse
	if isTrue {
		value = v1.ConditionTrue
	}
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		if condition.Type == kind {
			if condition.Status != value {
				condition.Status, condition.LastTransitionTime = value, metav1.Now()
			}
			return
		}
	}
	status.Conditions = append(status.Conditions, v1.PodCondition{Type: kind, Status: value, LastTransitionTime: metav1.Now()})
}

// stop ends the containers, and tells so.
func (n *node) stop(ctx context.Context, pod *v1.Pod, code int32, reason string) *v1.Pod {
	_ = os.Remove(n.sandbox(pod))
	stopped := pod.DeepCopy()
	for i := range stopped.Status.ContainerStatuses {
		state := &stopped.Status.ContainerStatuses[i].State
		if state.Terminated == nil {
			*state = v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: metav1.Now()}}
		}
		stopped.Status.ContainerStatuses[i].Ready = false
	}
	set(&stopped.Status, v1.ContainersReady, false)
	set(&stopped.Status, v1.PodReady, false)
	return n.write(ctx, pod, stopped)
}

// unprepare gives the devices back. Where it cannot, the kubelet logs this and writes no event.
func (n *node) unprepare(ctx context.Context, pod *v1.Pod) bool {
	if err := n.manager.UnprepareResources(ctx, pod); err != nil {
		n.log(pod, "unprepare: "+err.Error())
		return false
	}
	n.log(pod, "unprepared")
	return true
}

// end does what kubelet.go, SyncTerminatingPod, does: containers stop, devices are given back, and only then the end is told. A pod that is
// told to have ended is removed, as status_manager.go, canBeDeleted, has it; one with finalizers stays.
func (n *node) end(ctx context.Context, pod *v1.Pod) {
	if !hasEnded(pod) && !n.give(ctx, pod, n.stop(ctx, pod, 137, "Error")) {
		return
	}
	now := int64(0)
	_ = n.cs.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now,
		Preconditions: &metav1.Preconditions{UID: &pod.UID}})
}

// complete does the same for a pod whose containers end by themselves.
func (n *node) complete(ctx context.Context, pod *v1.Pod) {
	n.give(ctx, pod, n.stop(ctx, pod, 0, "Completed"))
}

// give has the devices taken back, and tells of the end.
func (n *node) give(ctx context.Context, pod, stopped *v1.Pod) bool {
	if !n.unprepare(ctx, pod) {
		return false
	}
	ended := stopped.DeepCopy()
	ended.Status.Phase = v1.PodSucceeded
	for _, container := range ended.Status.ContainerStatuses {
		if container.State.Terminated != nil && container.State.Terminated.ExitCode != 0 {
			ended.Status.Phase = v1.PodFailed
		}
	}
	return hasEnded(n.write(ctx, stopped, ended))
}

func hasEnded(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

func (n *node) pass(ctx context.Context) {
	pods, err := n.pods(ctx)
	if err != nil {
		return
	}
	for _, pod := range pods {
		if ctx.Err() != nil {
			return
		}
		switch {
		case pod.DeletionTimestamp != nil:
			n.end(ctx, pod)
		case pod.Annotations[ends] != "" && pod.Status.Phase == v1.PodRunning:
			n.complete(ctx, pod)
		case pod.Status.Phase == v1.PodPending || pod.Status.Phase == v1.PodRunning:
			n.start(ctx, pod)
		}
	}
}

func runNode() {
	n := &node{said: map[types.UID]saying{}}
	kubeconfig := flag.String("kubeconfig", "", "")
	flag.StringVar(&n.name, "node", "", "")
	flag.StringVar(&n.dir, "dir", "", "the node's folder")
	klog.InitFlags(nil)
	flag.Parse()
	ctx := untilStopped()
	n.cs = client(*kubeconfig)
	state, registry := filepath.Join(n.dir, "state"), filepath.Join(n.dir, "plugins_registry")
	for _, folder := range []string{state, registry, filepath.Join(n.dir, "run", "sandboxes"), filepath.Join(n.dir, "run", "cdi")} {
		check(os.MkdirAll(folder, 0o750))
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedv1.EventSinkImpl{Interface: n.cs.CoreV1().Events("")})
	n.events = broadcaster.NewRecorder(scheme.Scheme, v1.EventSource{Component: "kubelet", Host: n.name})

	manager, err := dra.NewManager(klog.FromContext(ctx), n.cs, state)
	check(err)
	n.manager = manager
	active := func() []*v1.Pod {
		pods, _ := n.pods(ctx)
		return pods
	}
	own := func(ctx context.Context) (*v1.Node, error) {
		return n.cs.CoreV1().Nodes().Get(ctx, n.name, metav1.GetOptions{})
	}
	check(manager.Start(ctx, active, own, ready{}))
	plugins := pluginmanager.NewPluginManager(registry, n.events)
	plugins.AddHandler(registerapi.DRAPlugin, manager.GetWatcherHandler())
	go plugins.Run(ctx, ready{}, ctx.Done())
	// As kubelet.go, BirthCry, does.
	n.events.Event(&v1.ObjectReference{Kind: "Node", Name: n.name, UID: types.UID(n.name)}, v1.EventTypeNormal, "Starting", "Starting kubelet.")
	fmt.Println("running")
	tick := time.NewTicker(500 * time.Millisecond)
	for {
		select {
		case <-ctx.Done():
			manager.Stop()
			return
		case <-manager.Updates():
		case <-tick.C:
		}
		n.pass(ctx)
	}
}
