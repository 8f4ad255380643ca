package generate

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kubectl-dra.test/internal/features"
)

const (
	zoneLabel = "topology.kubernetes.io/zone"
	rackLabel = "rack"
)

// buildNodes makes the target and one or two more nodes, which share none of its labels but the zone.
func (w *world) buildNodes() {
	for i := range w.between(2, 3) {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("node-%d", i+1),
			Labels: map[string]string{
				"kubernetes.io/hostname": fmt.Sprintf("node-%d", i+1),
				zoneLabel:                []string{"zone-a", "zone-b", "zone-a"}[i],
				rackLabel:                fmt.Sprint(i + 1),
			},
		}}
		if w.chance(0.75) || !w.want[features.OptionalNodeOperations] {
			node.Status.DeclaredFeatures = []string{"DRAOptionalNodeOperations"}
		}
		w.nodes = append(w.nodes, node)
	}
}

// nodeSelector returns a selector, most often one that the target satisfies, and whether it does.
func (w *world) nodeSelector() (*v1.NodeSelector, bool) {
	if w.chance(0.2) {
		return selectorOf(w.requirement(false)), false
	}
	selector := selectorOf(w.requirement(true))
	if w.chance(0.25) {
		second := w.requirement(true)
		term := &selector.NodeSelectorTerms[0]
		term.MatchExpressions = append(term.MatchExpressions, second.MatchExpressions...)
		term.MatchFields = append(term.MatchFields, second.MatchFields...)
	}
	return selector, true
}

func selectorOf(term v1.NodeSelectorTerm) *v1.NodeSelector {
	return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{term}}
}

// requirement returns a term with one requirement that holds for the target or does not.
func (w *world) requirement(holds bool) v1.NodeSelectorTerm {
	expression := func(key string, operator v1.NodeSelectorOperator, values ...string) v1.NodeSelectorTerm {
		return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
	}
	field := func(operator v1.NodeSelectorOperator, value string) v1.NodeSelectorTerm {
		return v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: operator, Values: []string{value}}}}
	}
	if holds {
		return pick(w.rng,
			expression(zoneLabel, v1.NodeSelectorOpIn, "zone-a"),
			expression(zoneLabel, v1.NodeSelectorOpIn, "zone-b", "zone-a"),
			expression(zoneLabel, v1.NodeSelectorOpNotIn, "zone-b"),
			expression(rackLabel, v1.NodeSelectorOpExists),
			expression("missing", v1.NodeSelectorOpDoesNotExist),
			expression(rackLabel, v1.NodeSelectorOpLt, "2"),
			expression(rackLabel, v1.NodeSelectorOpGt, "0"),
			field(v1.NodeSelectorOpIn, target),
		)
	}
	return pick(w.rng,
		expression(zoneLabel, v1.NodeSelectorOpIn, "zone-b"),
		expression(rackLabel, v1.NodeSelectorOpDoesNotExist),
		expression(rackLabel, v1.NodeSelectorOpGt, "1"),
		expression("missing", v1.NodeSelectorOpExists),
		field(v1.NodeSelectorOpNotIn, target),
		v1.NodeSelectorTerm{},
	)
}
