package cases

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Objects is the decoded form of Case.Objects.
type Objects struct {
	Classes []*resourceapi.DeviceClass
	Slices  []*resourceapi.ResourceSlice
	Rules   []*DeviceTaintRule
	Nodes   []*v1.Node
	Claims  []*resourceapi.ResourceClaim
}

// DecodeObjects decodes the objects of a case. Unknown kinds are an error: ignoring one would
// silently turn the case into another problem.
func DecodeObjects(raw []json.RawMessage) (*Objects, error) {
	out := &Objects{}
	for i, r := range raw {
		var tm metav1.TypeMeta
		if err := json.Unmarshal(r, &tm); err != nil {
			return nil, fmt.Errorf("object #%d: %w", i, err)
		}
		var err error
		switch tm.APIVersion + "/" + tm.Kind {
		case "resource.k8s.io/v1/DeviceClass":
			out.Classes, err = appendDecoded(out.Classes, r)
		case "resource.k8s.io/v1/ResourceSlice":
			out.Slices, err = appendDecoded(out.Slices, r)
		case "resource.k8s.io/v1/DeviceTaintRule":
			out.Rules, err = appendDecoded(out.Rules, r)
		case "resource.k8s.io/v1/ResourceClaim":
			out.Claims, err = appendDecoded(out.Claims, r)
		case "v1/Node":
			out.Nodes, err = appendDecoded(out.Nodes, r)
		default:
			err = fmt.Errorf("unsupported type %s %s", tm.APIVersion, tm.Kind)
		}
		if err != nil {
			return nil, fmt.Errorf("object #%d: %w", i, err)
		}
	}
	return out, nil
}

func appendDecoded[T any](list []*T, raw json.RawMessage) ([]*T, error) {
	obj := new(T)
	if err := json.Unmarshal(raw, obj); err != nil {
		return nil, err
	}
	return append(list, obj), nil
}

// EncodeObject sets apiVersion and kind and leaves out what a Go struct adds without a value.
// Keys come out sorted, so the same object always gives the same bytes.
func EncodeObject(obj any) (json.RawMessage, error) {
	apiVersion, kind := "resource.k8s.io/v1", ""
	switch obj.(type) {
	case *resourceapi.DeviceClass:
		kind = "DeviceClass"
	case *resourceapi.ResourceSlice:
		kind = "ResourceSlice"
	case *DeviceTaintRule:
		kind = "DeviceTaintRule"
	case *resourceapi.ResourceClaim:
		kind = "ResourceClaim"
	case *v1.Node:
		apiVersion, kind = "v1", "Node"
	default:
		return nil, fmt.Errorf("unsupported object %T", obj)
	}
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil {
		return nil, err
	}
	m["apiVersion"], m["kind"] = apiVersion, kind
	if meta, ok := m["metadata"].(map[string]any); ok && meta["creationTimestamp"] == nil {
		delete(meta, "creationTimestamp")
	}
	if status, ok := m["status"].(map[string]any); ok {
		dropEmpty(status, kind == "Node")
		if len(status) == 0 {
			delete(m, "status")
		}
	}
	if spec, ok := m["spec"].(map[string]any); ok && len(spec) == 0 && kind == "Node" {
		delete(m, "spec")
	}
	return json.Marshal(m)
}

// dropEmpty removes the structs without a value that v1.NodeStatus always encodes.
func dropEmpty(status map[string]any, isNode bool) {
	if !isNode {
		return
	}
	for key, value := range status {
		inner, ok := value.(map[string]any)
		if ok && (len(inner) == 0 || key == "nodeInfo" || key == "daemonEndpoints") {
			delete(status, key)
		}
	}
}
