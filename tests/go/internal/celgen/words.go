package celgen

import (
	"strings"

	"github.com/google/cel-go/common/types"
)

// Literals are chosen for the places where implementations differ: ends of ranges, characters of
// several bytes, texts that mean something to a library.
var (
	texts = []string{
		`"a"`, `"abc"`, `""`, `"A100-SXM4-80GB"`, `"12.4.0"`, `"1.2.3"`, `"v1.2"`, `"10Gi"`, `"500m"`, `"1e3"`, `"é日本"`,
		`"a,b,c"`, `"fast"`, `"nvlink"`, `"x y  z "`, `"1h30m"`, `"2024-01-02T03:04:05Z"`, `"2024-01-02T03:04:05+02:00"`,
		`"10.0.0.1"`, `"10.0.0.0/8"`, `"::1"`, `"fe80::/10"`, `"https://u:p@h:80/a%20b?x=1&x=2&y#f"`, `"/path"`, `"^a.*$"`,
		`"[a-z]+"`, `"(a|b)+"`, `"\\d+"`, `"UTC"`, `"America/New_York"`, `"-02:30"`, `"%s"`, `"%d %s"`, `"%.2f"`, `"true"`,
		`"123"`, `"-5"`, `"1.5"`, `"NaN"`, `"my-name"`, `"dns1123Label"`, `'it\'s'`, `r"\d"`, `"a\tb\n"`, `"dra.example.com"`,
		`"uuid"`, `"QQ=="`, `"İı"`, `"\U0001F600"`, `"%x %o %b %e"`, `"0x1F"`, `"1_000"`, `" 1"`,
	}
	ints    = []string{"0", "1", "2", "3", "-1", "7", "12", "100", "9223372036854775807", "-9223372036854775808", "64", "1000", "0x1F"}
	uints   = []string{"0u", "1u", "2u", "7u", "18446744073709551615u"}
	doubles = []string{
		"0.0", "1.0", "1.5", "-2.5", "1e10", "1e-3", "3.14", `double("NaN")`, `double("inf")`, "-0.0", "9007199254740993.0", "1e300", ".5",
	}
	byteTexts  = []string{`b"a"`, `b""`, `b"\xff\x00"`, `bytes("é")`}
	durations  = []string{`duration("1h")`, `duration("1s500ms")`, `duration("-1.5h")`, `duration("0s")`}
	timestamps = []string{
		`timestamp("2024-01-02T03:04:05Z")`, `timestamp("2023-12-31T23:59:59.999+05:30")`, "timestamp(0)", "timestamp(1700000000)",
	}
	typeNames  = []string{"int", "string", "type(1)", "list", "map", "type(device.driver)", "net.IP", "null_type"}
	quantities = []string{`"1"`, `"10Gi"`, `"500m"`, `"80Gi"`, `"1e3"`, `"0.5"`, `"-1k"`, `"x"`, `"99999999999999999999"`, `"1Ei"`, `"108"`, `"1n"`}
	semvers    = []string{`semver("1.2.3")`, `semver("v1.2", true)`, `semver("1.0.0-rc.1+b")`, `semver("12.4.0")`}
	addresses  = []string{`ip("10.0.0.1")`, `ip("::1")`, `ip("fe80::1")`}
	networks   = []string{`cidr("10.0.0.0/8")`, `cidr("10.1.2.3/16")`, `cidr("2001:db8::/32")`}
	locations  = []string{`url("https://h:8080/a/b?x=1#f")`, `url("/p")`}
	formats    = []string{
		"format.dns1123Label()", "format.uuid()", "format.date()", "format.qualifiedName()", "format.uri()", "format.byte()",
		"format.datetime()", "format.labelValue()",
	}
)

// leaf is an expression without calls of functions, as far as the type has such.
func (w *writer) leaf(of *types.Type, depth int, scope []variable) string {
	inner := func(i int) string { return w.expression(of.Parameters()[i], depth-1, scope) }
	switch of.Kind() {
	case types.IntKind:
		return pick(w, ints...)
	case types.UintKind:
		return pick(w, uints...)
	case types.DoubleKind:
		return pick(w, doubles...)
	case types.BoolKind:
		return pick(w, "true", "false")
	case types.StringKind:
		return pick(w, texts...)
	case types.BytesKind:
		return pick(w, byteTexts...)
	case types.DurationKind:
		return pick(w, durations...)
	case types.TimestampKind:
		return pick(w, timestamps...)
	case types.TypeKind:
		return pick(w, typeNames...)
	case types.ListKind:
		items := make([]string, w.IntN(4))
		for i := range items {
			items[i] = inner(0)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case types.MapKind:
		entries := make([]string, w.IntN(4))
		for i := range entries {
			entries[i] = inner(0) + ": " + inner(1)
		}
		return "{" + strings.Join(entries, ", ") + "}"
	}
	if isOptional(of) {
		switch w.IntN(5) {
		case 0:
			return "optional.none()"
		case 1:
			return "optional.of(" + inner(0) + ")"
		case 2:
			return "optional.ofNonZeroValue(" + inner(0) + ")"
		case 3:
			return "[" + inner(0) + "][?" + pick(w, "0", "1") + "]"
		default:
			return `{"a": ` + inner(0) + "}.?" + pick(w, "a", "b")
		}
	}
	switch of.TypeName() {
	case quantity.TypeName():
		return "quantity(" + pick(w, quantities...) + ")"
	case semver.TypeName():
		return pick(w, semvers...)
	case address.TypeName():
		return pick(w, addresses...)
	case network.TypeName():
		return pick(w, networks...)
	case location.TypeName():
		return pick(w, locations...)
	case format.TypeName():
		return pick(w, formats...)
	}
	return "null"
}
