package generate

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/resource"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"

	"kubectl-dra.test/internal/cases"
)

// validatedCases is how many cases the API server's own code has to accept.
const validatedCases = 3000

// TestAPIServerAcceptsObjects passes the objects of cases through the strategies that the API
// server uses to create them. It lets the scheduler's gates vary, but has all of its own on. The
// foreign profile is the exception, and it may not be larger than it has to be.
func TestAPIServerAcceptsObjects(t *testing.T) {
	server := newFakeServer(t)
	for i := range uint64(validatedCases) {
		c, objects, err := Case(7, i, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		err = server.createAll(objects)
		switch {
		case c.Profile != foreignProfile && err != nil:
			t.Errorf("%s: %v", c.Name, err)
		case c.Profile == foreignProfile && err == nil:
			t.Errorf("%s is not foreign", c.Name)
		}
	}
}

// fakeServer creates objects like an API server, without a store.
type fakeServer struct {
	claims      rest.RESTCreateStrategy
	claimStatus rest.RESTUpdateStrategy
}

func newFakeServer(t *testing.T) *fakeServer {
	t.Helper()
	gates := []string{
		"DRADerivedAttributes", "DRADeviceCompatibilityGroups", "DRAFractionalCapacityRange",
		"DRAListTypeAttributes", "DRAOptionalNodeOperations",
	}
	if err := utilfeature.DefaultMutableFeatureGate.Set(strings.Join(gates, "=true,") + "=true"); err != nil {
		t.Fatal(err)
	}
	admin := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "admin", Labels: map[string]string{resourceapi.DRAAdminNamespaceLabelKey: "true"},
	}}
	other := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	strategy := resourceclaim.NewStrategy(fake.NewSimpleClientset(admin, other).CoreV1().Namespaces(), allowAll{})
	return &fakeServer{claims: strategy, claimStatus: resourceclaim.NewStatusStrategy(strategy)}
}

func (s *fakeServer) createAll(objects *cases.Objects) error {
	for _, class := range objects.Classes {
		if err := create[resource.DeviceClass](deviceclass.Strategy, class, ""); err != nil {
			return err
		}
	}
	for _, slice := range objects.Slices {
		if err := create[resource.ResourceSlice](resourceslice.Strategy, slice, ""); err != nil {
			return err
		}
	}
	for _, rule := range objects.Rules {
		if err := create[resource.DeviceTaintRule](devicetaintrule.Strategy, rule, ""); err != nil {
			return err
		}
	}
	for _, claim := range objects.Claims {
		if err := s.createClaim(claim); err != nil {
			return err
		}
	}
	return nil
}

// create lets the API server default and validate an object. It may not change it either: what
// the case says has to be what would be stored.
func create[T any](strategy rest.RESTCreateStrategy, obj metav1.Object, namespace string) error {
	internal, err := toInternal[T](obj)
	if err != nil {
		return err
	}
	before := reflect.ValueOf(internal).Elem().FieldByName("Spec").Interface()
	copied := any(internal).(runtime.Object).DeepCopyObject()
	ctx := requestContext(namespace)
	rest.FillObjectMetaSystemFields(copied.(metav1.Object))
	if err := rest.BeforeCreate(strategy, ctx, copied); err != nil {
		return err
	}
	after := reflect.ValueOf(copied).Elem().FieldByName("Spec").Interface()
	if !reflect.DeepEqual(before, after) {
		return fmt.Errorf("%T %s would be stored with another spec", obj, obj.GetName())
	}
	return nil
}

// toInternal decodes an object like a request body, except for defaults: filling in one would
// mean that the case is not what is stored.
func toInternal[T any](obj metav1.Object) (*T, error) {
	internal := new(T)
	if err := legacyscheme.Scheme.Convert(obj, internal, nil); err != nil {
		return nil, err
	}
	defaulted := obj.(runtime.Object).DeepCopyObject()
	legacyscheme.Scheme.Default(defaulted)
	if !reflect.DeepEqual(defaulted, obj) {
		return nil, fmt.Errorf("%T %s lacks defaults", obj, obj.GetName())
	}
	return internal, nil
}

func (s *fakeServer) createClaim(claim *resourceapi.ResourceClaim) error {
	fresh := claim.DeepCopy()
	fresh.Status = resourceapi.ResourceClaimStatus{}
	if err := create[resource.ResourceClaim](s.claims, fresh, claim.Namespace); err != nil {
		return err
	}
	if claim.Status.Allocation == nil {
		return nil
	}
	oldObj, err := toInternal[resource.ResourceClaim](fresh)
	if err != nil {
		return err
	}
	newObj, err := toInternal[resource.ResourceClaim](claim)
	if err != nil {
		return err
	}
	oldObj.ResourceVersion, newObj.ResourceVersion = "1", "1"
	want := newObj.Status.DeepCopy()
	if err := rest.BeforeUpdate(s.claimStatus, requestContext(claim.Namespace), newObj, oldObj); err != nil {
		return err
	}
	if !reflect.DeepEqual(*want, newObj.Status) {
		return fmt.Errorf("claim %s would be stored with another status", claim.Name)
	}
	return nil
}

func requestContext(namespace string) context.Context {
	ctx := genericapirequest.WithNamespace(context.Background(), namespace)
	return genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		APIGroup: resourceapi.GroupName, APIVersion: "v1", Namespace: namespace,
	})
}

// allowAll is an authorizer that lets everything pass.
type allowAll struct{}

func (allowAll) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}
