package celgen

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// signature is one overload of a function that expressions can call.
type signature struct {
	function string
	member   bool
	args     []*types.Type
	result   *types.Type
}

// notCalled are functions that the parser makes of operators and macros, or that never give a result
// here because there is no authorizer.
var notCalled = []string{
	"@not_strictly_false", "__not_strictly_false__", "in", "_in_", "@sortByAssociatedKeys", "cel.@mapInsert", "_?._",
}

// signatures of an environment in an order that does not vary.
func signatures(env *cel.Env) []signature {
	var found []signature
	functions := env.Functions()
	for _, name := range slices.Sorted(mapKeys(functions)) {
		if slices.Contains(notCalled, name) {
			continue
		}
		for _, overload := range functions[name].OverloadDecls() {
			if authorizes(overload.ResultType()) || slices.ContainsFunc(overload.ArgTypes(), authorizes) {
				continue
			}
			found = append(found, signature{name, overload.IsMemberFunction(), overload.ArgTypes(), overload.ResultType()})
		}
	}
	return found
}

func authorizes(of *types.Type) bool { return strings.Contains(of.TypeName(), "authorization") }

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// writer makes up one expression.
type writer struct {
	*rand.Rand
	signatures []signature
}

type variable struct {
	name string
	of   *types.Type
}

func pick[T any](w *writer, values ...T) T { return values[w.IntN(len(values))] }

func (w *writer) chance(p float64) bool { return w.Float64() < p }

var (
	quantity = types.NewObjectType("kubernetes.Quantity")
	semver   = types.NewObjectType("kubernetes.Semver")
	address  = types.NewOpaqueType("net.IP")
	network  = types.NewOpaqueType("net.CIDR")
	location = types.NewObjectType("kubernetes.URL")
	format   = types.NewObjectType("kubernetes.NamedFormat")
)

var basic = []*types.Type{
	types.IntType, types.UintType, types.DoubleType, types.BoolType, types.StringType, types.BytesType,
	types.DurationType, types.TimestampType,
}

// someType nests containers at most depth deep.
func (w *writer) someType(depth int) *types.Type {
	switch r := w.Float64(); {
	case r < 0.65 || depth <= 0:
		return pick(w, types.IntType, types.IntType, types.StringType, types.StringType, types.BoolType, types.DoubleType, types.UintType)
	case r < 0.75:
		return pick(w, basic...)
	case r < 0.85:
		return types.NewListType(w.someType(depth - 1))
	case r < 0.9:
		return types.NewMapType(pick(w, types.StringType, types.IntType, types.BoolType), w.someType(depth-1))
	case r < 0.94:
		return types.NewOptionalType(w.someType(depth - 1))
	default:
		return pick(w, quantity, semver, address, network, location, format, types.TypeType, types.NullType)
	}
}

// bindings of type parameters.
type bindings map[string]*types.Type

func unify(declared, wanted *types.Type, bound bindings) bool {
	if declared.Kind() == types.TypeParamKind {
		if known, ok := bound[declared.TypeName()]; ok {
			return known.IsExactType(wanted)
		}
		bound[declared.TypeName()] = wanted
		return true
	}
	if declared.Kind() != wanted.Kind() || declared.TypeName() != wanted.TypeName() {
		return false
	}
	if declared.Kind() == types.TypeKind {
		return true
	}
	if len(declared.Parameters()) != len(wanted.Parameters()) {
		return false
	}
	for i, param := range declared.Parameters() {
		if !unify(param, wanted.Parameters()[i], bound) {
			return false
		}
	}
	return true
}

func (w *writer) instantiate(declared *types.Type, bound bindings) *types.Type {
	switch {
	case declared.Kind() == types.TypeParamKind:
		if _, ok := bound[declared.TypeName()]; !ok {
			bound[declared.TypeName()] = w.someType(1)
		}
		return bound[declared.TypeName()]
	case declared.Kind() == types.ListKind:
		return types.NewListType(w.instantiate(declared.Parameters()[0], bound))
	case declared.Kind() == types.MapKind:
		return types.NewMapType(w.instantiate(declared.Parameters()[0], bound), w.instantiate(declared.Parameters()[1], bound))
	case isOptional(declared):
		return types.NewOptionalType(w.instantiate(declared.Parameters()[0], bound))
	}
	return declared
}

func isOptional(t *types.Type) bool {
	return t.TypeName() == "optional_type" && len(t.Parameters()) == 1
}

// anywhere are parts of the device, and other expressions whose type is not known before they are evaluated.
var anywhere = []string{
	`device.attributes["dra.example.com"].model`, `device.attributes["dra.example.com"].ids`,
	`device.attributes["dra.example.com"].tags`, `device.attributes["dra.example.com"].flags`,
	`device.attributes["dra.example.com"].versions`, `device.attributes["dra.example.com"].version`,
	`device.attributes["dra.example.com"].int`, `device.attributes["dra.example.com"].missing`,
	`device.attributes["nope"].x`, `device.attributes["dra.example.com"].?model.orValue("x")`,
}

var ofDevice = map[string][]string{
	"string":              {`device.driver`, `device.attributes["dra.example.com"].model`, `device.attributes["dra.example.com"].name`},
	"int":                 {`device.attributes["dra.example.com"].int`, `device.attributes["other.example.com"].numa`},
	"bool":                {`device.allowMultipleAllocations`, `device.attributes["dra.example.com"].bool`},
	"kubernetes.Quantity": {`device.capacity["dra.example.com"].memory`, `device.capacity["dra.example.com"]["cores"]`, `device.capacity["nope"].x`},
	"kubernetes.Semver":   {`device.attributes["dra.example.com"].version`},
}

// expression of a type. Some are of another type on purpose.
func (w *writer) expression(of *types.Type, depth int, scope []variable) string {
	var fitting []string
	for _, v := range scope {
		if v.of.IsExactType(of) {
			fitting = append(fitting, v.name)
		}
	}
	if len(fitting) > 0 && w.chance(0.35) {
		return pick(w, fitting...)
	}
	if of.Kind() == types.DynKind || of.Kind() == types.AnyKind {
		switch r := w.Float64(); {
		case r < 0.4:
			return pick(w, anywhere...)
		case r < 0.7:
			return "dyn(" + w.expression(w.someType(1), depth-1, scope) + ")"
		default:
			return w.expression(w.someType(1), depth-1, scope)
		}
	}
	if w.chance(0.1) {
		if w.chance(0.6) {
			return pick(w, anywhere...)
		}
		return "dyn(" + w.expression(w.someType(1), depth-1, scope) + ")"
	}
	if parts := ofDevice[of.TypeName()]; parts != nil && w.chance(0.25) {
		return pick(w, parts...)
	}
	if depth <= 0 || w.chance(0.15) {
		return w.leaf(of, depth, scope)
	}
	switch r := w.Float64(); {
	case r < 0.1:
		return "(" + w.expression(types.BoolType, depth-1, scope) + " ? " + w.expression(of, depth-1, scope) + " : " + w.expression(of, depth-1, scope) + ")"
	case r < 0.14:
		name, bound := pick(w, "v", "w", "x"), w.someType(1)
		init := w.expression(bound, depth-1, scope)
		return "cel.bind(" + name + ", " + init + ", " + w.expression(of, depth-1, with(scope, variable{name, bound})) + ")"
	case r < 0.30:
		if text := w.macro(of, depth, scope); text != "" {
			return text
		}
	case r < 0.5 && of.Kind() == types.BoolKind:
		return w.condition(depth, scope)
	}
	return w.call(of, depth, scope)
}

func with(scope []variable, more ...variable) []variable {
	return append(slices.Clone(scope), more...)
}

func (w *writer) condition(depth int, scope []variable) string {
	switch operator := pick(w, "==", "!=", "&&", "||", "!", "<", "in", "has"); operator {
	case "&&", "||":
		terms := make([]string, 2+w.IntN(3))
		for i := range terms {
			terms[i] = w.expression(types.BoolType, depth-1, scope)
		}
		return "(" + strings.Join(terms, " "+operator+" ") + ")"
	case "!":
		return "!(" + w.expression(types.BoolType, depth-1, scope) + ")"
	case "has":
		return "has(" + pick(w, `device.attributes["dra.example.com"].model`, `device.attributes["dra.example.com"].nope`,
			`device.attributes["dra.example.com"].model.x`, `device.attributes.foo`, `device.attributes`, `device.driver`,
			`device.capacity["dra.example.com"].memory`, `{"a": 1}.a`) + ")"
	case "in":
		of := w.someType(1)
		in := types.NewListType(of)
		if w.chance(0.3) {
			in = types.NewMapType(of, types.IntType)
		}
		return "(" + w.expression(of, depth-1, scope) + " in " + w.expression(in, depth-1, scope) + ")"
	default:
		of := w.someType(1)
		if operator == "<" {
			operator, of = pick(w, "<", "<=", ">", ">="), pick(w, basic...)
		}
		return "(" + w.expression(of, depth-1, scope) + " " + operator + " " + w.expression(of, depth-1, scope) + ")"
	}
}

var operators = map[string]string{
	"_+_": "+", "_-_": "-", "_*_": "*", "_/_": "/", "_%_": "%", "_==_": "==", "_!=_": "!=", "_<_": "<", "_<=_": "<=",
	"_>_": ">", "_>=_": ">=", "_&&_": "&&", "_||_": "||", "@in": "in",
}

func (w *writer) call(of *types.Type, depth int, scope []variable) string {
	type candidate struct {
		signature
		bound bindings
	}
	var candidates []candidate
	for _, s := range w.signatures {
		if bound := (bindings{}); unify(s.result, of, bound) {
			candidates = append(candidates, candidate{s, bound})
		}
	}
	if len(candidates) == 0 {
		return w.leaf(of, depth, scope)
	}
	chosen := pick(w, candidates...)
	args := make([]string, len(chosen.args))
	for i, arg := range chosen.args {
		args[i] = w.expression(w.instantiate(arg, chosen.bound), depth-1, scope)
	}
	if operator, ok := operators[chosen.function]; ok && len(args) == 2 {
		return "(" + args[0] + " " + operator + " " + args[1] + ")"
	}
	switch chosen.function {
	case "_?_:_":
		return "(" + args[0] + " ? " + args[1] + " : " + args[2] + ")"
	case "!_":
		return "!" + operand(args[0])
	case "-_":
		return "-" + operand(args[0])
	case "_[_]":
		return operand(args[0]) + "[" + args[1] + "]"
	case "_[?_]":
		return operand(args[0]) + "[?" + args[1] + "]"
	}
	if chosen.member {
		return operand(args[0]) + "." + chosen.function + "(" + strings.Join(args[1:], ", ") + ")"
	}
	return chosen.function + "(" + strings.Join(args, ", ") + ")"
}

var plain = regexp.MustCompile(`^[A-Za-z_"\[(][\w.\[\]"()]*$`)

// operand puts parentheses around what does not bind tightly.
func operand(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "(" + text + ")"
}

// macro is one of the macros that give a value of the type, or nothing.
func (w *writer) macro(of *types.Type, depth int, scope []variable) string {
	name, element := pick(w, "e", "f", "i"), w.someType(0)
	over := func() string {
		if w.chance(0.7) {
			return operand(w.expression(types.NewListType(element), depth-1, scope))
		}
		return operand(w.expression(types.NewMapType(element, w.someType(0)), depth-1, scope))
	}
	one := with(scope, variable{name, element})
	two := with(scope, variable{name, types.IntType}, variable{"k", element})
	switch {
	case of.Kind() == types.BoolKind:
		macro := pick(w, "all", "exists", "exists_one", "all", "exists", "existsOne")
		if w.chance(0.5) {
			return over() + "." + macro + "(" + name + ", k, " + w.expression(of, depth-1, two) + ")"
		}
		return over() + "." + macro + "(" + name + ", " + w.expression(of, depth-1, one) + ")"
	case of.Kind() == types.ListKind:
		item := of.Parameters()[0]
		switch macro := pick(w, "map", "map3", "filter", "transformList", "transformList4", "sortBy"); macro {
		case "map":
			return over() + ".map(" + name + ", " + w.expression(item, depth-1, one) + ")"
		case "map3":
			return over() + ".map(" + name + ", " + w.expression(types.BoolType, depth-1, one) + ", " + w.expression(item, depth-1, one) + ")"
		case "transformList":
			return over() + ".transformList(" + name + ", k, " + w.expression(item, depth-1, two) + ")"
		case "transformList4":
			return over() + ".transformList(" + name + ", k, " + w.expression(types.BoolType, depth-1, two) + ", " + w.expression(item, depth-1, two) + ")"
		default:
			list := operand(w.expression(of, depth-1, scope))
			inner := with(scope, variable{name, item})
			if macro == "sortBy" {
				return list + ".sortBy(" + name + ", " + w.expression(pick(w, types.IntType, types.StringType, types.DoubleType), depth-1, inner) + ")"
			}
			return list + ".filter(" + name + ", " + w.expression(types.BoolType, depth-1, inner) + ")"
		}
	case of.Kind() == types.MapKind:
		key, value := of.Parameters()[0], of.Parameters()[1]
		if w.chance(0.5) {
			return over() + ".transformMap(" + name + ", k, " + w.expression(value, depth-1, two) + ")"
		}
		return over() + ".transformMapEntry(" + name + ", k, {" + w.expression(key, depth-1, two) + ": " + w.expression(value, depth-1, two) + "})"
	case isOptional(of):
		inner := w.someType(0)
		optional := operand(w.expression(types.NewOptionalType(inner), depth-1, scope))
		known := with(scope, variable{name, inner})
		if w.chance(0.5) {
			return optional + ".optMap(" + name + ", " + w.expression(of.Parameters()[0], depth-1, known) + ")"
		}
		return optional + ".optFlatMap(" + name + ", " + w.expression(of, depth-1, known) + ")"
	}
	return ""
}
