// changes tells which functions, types and values of the code that decides about devices differ
// between two releases of Kubernetes, and where kubectl-dra mirrors them. Versions are those of
// k8s.io/dynamic-resource-allocation.
//
//	go run ./cmd/changes v0.38.0           # against the version in go.mod
//	go run ./cmd/changes v0.36.6 v0.37.1   # from one to another
//
// Comments and layout do not count. It exits with 1 if something differs, and with 2 if that cannot be found out.
//
// A release may need a newer Go than the installed one, which the module proxy has too. Unless GOTOOLCHAIN is set in the
// environment, go may fetch it.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// mirrored is a module with the folders that kubectl-dra mirrors.
type mirrored struct {
	module string
	// major is the first number of its versions, whose others are the same in all modules.
	major   string
	folders []string
}

// library comes first: its versions are the ones that are asked for.
var library = mirrored{
	"k8s.io/dynamic-resource-allocation", "v0.",
	[]string{"cel", "deviceclass", "resourceclaim", "resourceslice/tracker", "structured"},
}

var components = mirrored{
	"k8s.io/kubernetes", "v1.",
	[]string{
		"pkg/apis/resource/validation", "pkg/controller/devicetainteviction", "pkg/controller/resourceclaim", "pkg/kubelet/cm/dra",
		"pkg/registry/resource", "pkg/scheduler/framework/plugins/dynamicresources",
	},
}

func main() {
	different, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "changes:", err)
		os.Exit(2)
	}
	if different {
		os.Exit(1)
	}
}

func run(args []string) (bool, error) {
	var older, newer string
	switch len(args) {
	case 1:
		required, err := requiredVersion()
		if err != nil {
			return false, err
		}
		older, newer = required, args[0]
	case 2:
		older, newer = args[0], args[1]
	default:
		return false, fmt.Errorf("usage: changes [OLDER] NEWER, as in: changes v0.37.1 v0.38.0")
	}
	mirrors, err := mirrorsIn("../../src")
	if err != nil {
		return false, err
	}
	different := false
	var failed error
	for _, m := range []mirrored{library, components} {
		// An alpha can have some modules only. What there is still counts.
		count, err := m.compare(older, newer, mirrors)
		different = different || count > 0
		failed = errors.Join(failed, err)
	}
	if failed == nil && !different {
		fmt.Println("\nnothing differs")
	}
	return different, failed
}

// compare lists what differs in a module, and counts it.
func (m mirrored) compare(older, newer string, mirrors map[string][]string) (int, error) {
	from, err := m.download(older)
	if err != nil {
		return 0, err
	}
	to, err := m.download(newer)
	if err != nil {
		return 0, err
	}
	before, err := m.declarations(from)
	if err != nil {
		return 0, err
	}
	after, err := m.declarations(to)
	if err != nil {
		return 0, err
	}
	fmt.Printf("%s: %s to %s\n", m.module, from, to)
	if to.made.Before(from.made) {
		fmt.Printf("%s is the older one: what differs can be a fix that %s has and it has not\n", to.version, from.version)
	}
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, known := before[name]; !known {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, compare)
	different, pkg := 0, ""
	for _, name := range names {
		was, had := before[name]
		is, has := after[name]
		word := "changed"
		switch {
		case !had:
			word = "new"
		case !has:
			word = "gone"
		case was == is:
			continue
		}
		different++
		if name.pkg != pkg {
			pkg = name.pkg
			fmt.Printf("\n%s\n", pkg)
		}
		fmt.Printf("  %-8s %s", word, name.name)
		if files := mirrors[name.last()]; len(files) > 0 {
			fmt.Printf("  <- %s", strings.Join(files, ", "))
		}
		fmt.Println()
	}
	fmt.Println()
	return different, nil
}

// declared names a declaration: the folder of its package, and receiver and name.
type declared struct{ pkg, name string }

func compare(a, b declared) int {
	return strings.Compare(a.pkg+"\x00"+a.name, b.pkg+"\x00"+b.name)
}

// last is the name without its receiver.
func (d declared) last() string { return d.name[strings.LastIndexByte(d.name, '.')+1:] }

func requiredVersion() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", library.module).Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w (run it in tests/go)", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// release is a version of the module whose source is here.
type release struct {
	version, dir string
	made         time.Time
}

func (r release) String() string { return r.version + " (" + r.made.Format(time.DateOnly) + ")" }

// download has the Go module proxy bring a version, which is that of the library.
func (m mirrored) download(version string) (release, error) {
	version = strings.Replace(version, library.major, m.major, 1)
	command := exec.Command("go", "mod", "download", "-json", m.module+"@"+version)
	// Outside of a module: nothing here is to be written down as required.
	command.Dir = os.TempDir()
	if os.Getenv("GOTOOLCHAIN") == "" {
		command.Env = append(os.Environ(), "GOTOOLCHAIN=auto")
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	var downloaded struct{ Dir, Info, Error string }
	if jsonErr := json.Unmarshal(out, &downloaded); jsonErr == nil && downloaded.Error != "" {
		err = errors.New(downloaded.Error)
	}
	if err != nil {
		text := strings.TrimSpace(fmt.Sprintf("%v\n%s", err, stderr.String()))
		if strings.Contains(text, "requires go >=") {
			text += "\nLet go fetch that toolchain with GOTOOLCHAIN=auto, or install it: https://go.dev/dl"
		}
		return release{}, errors.New(text)
	}
	var info struct{ Time time.Time }
	text, err := os.ReadFile(downloaded.Info)
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	return release{version, downloaded.Dir, info.Time}, err
}

var goLine = regexp.MustCompile(`(?m)^go (\S+)$`)

// toolchain is the name of the oldest one that the release can be built with.
func (r release) toolchain() string {
	text, err := os.ReadFile(filepath.Join(r.dir, "go.mod"))
	if found := goLine.FindSubmatch(text); err == nil && found != nil {
		return "go" + string(found[1])
	}
	return "auto"
}

// declarations are those of a release, printed without comments.
func (m mirrored) declarations(r release) (map[declared]string, error) {
	root := r.dir
	found := map[declared]string{}
	for _, folder := range m.folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				// Older releases do not have all of them.
				return nil
			}
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			pkg, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil || strings.Contains(pkg, "testing") {
				return err
			}
			return collect(path, pkg, found)
		})
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read by %s: %w\nIf that is too old, name a newer one: GOTOOLCHAIN=%s go run ./cmd/changes %s",
				r.version, runtime.Version(), err, r.toolchain(), strings.Join(os.Args[1:], " "))
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has nothing in %s", r.version, strings.Join(m.folders, ", "))
	}
	return found, nil
}

func collect(path, pkg string, found map[declared]string) error {
	// Without comments: they are no code.
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				receiver, err := printed(d.Recv.List[0].Type)
				if err != nil {
					return err
				}
				name = strings.TrimPrefix(receiver, "*") + "." + name
			}
			if err := add(found, declared{pkg, name}, d); err != nil {
				return err
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					err = add(found, declared{pkg, s.Name.Name}, s)
				case *ast.ValueSpec:
					err = add(found, declared{pkg, s.Names[0].Name}, s)
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// add appends, because a name such as _ or init can be declared several times.
func add(found map[declared]string, name declared, node ast.Node) error {
	text, err := printed(node)
	if err == nil {
		found[name] += text + "\n"
	}
	return err
}

// printed is the code in one layout: positions of another file set do not count.
func printed(node ast.Node) (string, error) {
	var out bytes.Buffer
	if err := format.Node(&out, token.NewFileSet(), node); err != nil {
		return "", err
	}
	return strings.Join(strings.Fields(out.String()), " "), nil
}

var quoted = regexp.MustCompile("`([A-Za-z0-9_.]+)`")

// mirrorsIn finds the files that say that they mirror a function, by the name of the function.
func mirrorsIn(root string) (map[string][]string, error) {
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".rs") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(filepath.Dir(root), path)
		if err != nil {
			return err
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			if !strings.Contains(line, "irrors `") {
				continue
			}
			// The sentence may go on in the next line.
			if i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), "//") {
				line += lines[i+1]
			}
			for _, match := range quoted.FindAllStringSubmatch(line, -1) {
				function := match[1][strings.LastIndexByte(match[1], '.')+1:]
				if !slices.Contains(found[function], name) {
					found[function] = append(found[function], name)
				}
			}
		}
		return nil
	})
	return found, err
}
