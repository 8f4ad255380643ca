// Package celgen makes up CEL expressions and devices to evaluate them on.
//
// Most expressions are written by the declarations of the real environment, so that most of them compile
// and each function occurs with each kind of argument; some parts are of a wrong or unknown type. Others
// are such expressions with tokens left out, doubled and exchanged, which exercises the parser and its
// recovery, or long and deep ones, which exercise the limits.
package celgen

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"kubectl-dra.test/internal/cases"
)

// maxLength keeps expressions readable.
const maxLength = 3000

// Generator makes up cases.
type Generator struct {
	signatures []signature
}

// NewGenerator returns a generator for the functions of an environment.
func NewGenerator(env *cel.Env) *Generator {
	return &Generator{signatures(env)}
}

// Case returns a case that depends on the seed and its number alone.
func (g *Generator) Case(seed, number uint64) *cases.CELCase {
	w := &writer{rand.New(rand.NewPCG(seed, number)), g.signatures}
	c := &cases.CELCase{
		Name:                      fmt.Sprintf("fuzz/%d/%d", seed, number),
		ListTypeAttributes:        w.chance(0.5),
		DisableConsumableCapacity: w.chance(0.1),
		New:                       w.chance(0.3),
	}
	c.Group, c.Expression = w.text()
	for len(c.Expression) > maxLength && c.Group != "hostile" {
		c.Group, c.Expression = w.text()
	}
	c.Device = w.device()
	return c
}

func (w *writer) text() (group, text string) {
	switch r := w.Float64(); {
	case r < 0.2:
		return "mutated", w.mutated()
	case r < 0.23:
		return "soup", w.soup()
	case r < 0.26:
		return "hostile", w.hostile()
	case r < 0.4:
		// A value of any type, shown by an error.
		of := w.someType(2)
		return "value", `{"": true}[string(dyn(` + w.expression(of, 1+w.IntN(3), nil) + `))]`
	case r < 0.5:
		of := w.someType(2)
		return "equality", w.expression(of, 3, nil) + pick(w, " == ", " != ") + w.expression(of, 3, nil)
	default:
		return "typed", w.expression(types.BoolType, 1+w.IntN(4), nil)
	}
}

var token = regexp.MustCompile(`"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\w+|==|!=|<=|>=|&&|\|\||\s+|(?s:.)`)

var tokens = []string{
	"(", ")", "[", "]", "{", "}", ".", ",", "-", "!", "?", ":", "+", "*", "/", "%", "true", "false", "null", "1", "2u", "1.5",
	`"s"`, "b'x'", "x", "device", "in", "&&", "||", "==", "!=", "<", "<=", ">", ">=", "has", "map", "all", "`a`", "`a-b`", "=",
	"&", "|", "#", "@", "$", "\\", `"`, "'", "\n", "//c\n", " ", "for", "while", "as", "e", "_", "0x1F", ".5", "1e", "é",
	`r"\d"`, "[?", ".?", "device.driver", "size", "string", "int", "dyn", "optional", "cel", "bind", "\"\"\"", "\t", "\x00", "😀",
}

func (w *writer) mutated() string {
	list := token.FindAllString(w.expression(types.BoolType, 1+w.IntN(2), nil), -1)
	for range pick(w, 1, 1, 1, 2, 2, 3) {
		if len(list) == 0 {
			list = []string{"1"}
		}
		at := w.IntN(len(list))
		switch r := w.Float64(); {
		case r < 0.3:
			list = append(list[:at:at], list[at+1:]...)
		case r < 0.45:
			list = insert(list, at, list[w.IntN(len(list))])
		case r < 0.7:
			list = insert(list, at, pick(w, tokens...))
		case r < 0.9:
			list[at] = pick(w, tokens...)
		default:
			other := token.FindAllString(w.expression(types.BoolType, 1, nil), -1)
			from := w.IntN(len(other))
			list = insert(list, at, other[from:min(len(other), from+1+w.IntN(5))]...)
		}
	}
	return strings.Join(list, "")
}

func insert(list []string, at int, more ...string) []string {
	return append(append(append([]string(nil), list[:at]...), more...), list[at:]...)
}

func (w *writer) soup() string {
	var text strings.Builder
	for range 1 + w.IntN(8) {
		text.WriteString(pick(w, tokens...))
	}
	return text.String()
}

// hostile expressions are about limits: of nesting, length, cost and memory.
func (w *writer) hostile() string {
	n := pick(w, 10, 60, 130, 249, 251, 400, 1000)
	inner := w.leaf(types.IntType, 0, nil)
	switch w.IntN(12) {
	case 0:
		return strings.Repeat("(", n) + "true" + strings.Repeat(")", n)
	case 1:
		return strings.Repeat("[", n) + inner + strings.Repeat("]", n) + ".size() == 1"
	case 2:
		return inner + strings.Repeat(" + 1", n) + " > 0"
	case 3:
		return strings.Repeat("!", n) + "device.allowMultipleAllocations"
	case 4:
		return strings.Repeat("true && ", n) + "true"
	case 5:
		return "device" + strings.Repeat(".a", n)
	case 6:
		return fmt.Sprintf("lists.range(%d).all(x, lists.range(%d).all(y, x >= y || x < y))", n, n)
	case 7:
		return fmt.Sprintf("lists.range(%d).map(x, lists.range(%d)).flatten().size() == %d", n, n, n*n)
	case 8:
		return strings.Repeat("true ? true : ", n) + "false"
	case 9:
		return `"` + strings.Repeat("a", n) + `".matches("` + strings.Repeat("a?", min(n, 400)) + strings.Repeat("a", min(n, 400)) + `")`
	case 10:
		return fmt.Sprintf(`"a{%d}".matches("a{%d}")`, n, n)
	default:
		return strings.Repeat("cel.bind(x, [1, 2], ", min(n, 130)) + "x.size() == 2" + strings.Repeat(")", min(n, 130))
	}
}
