// changes tells which functions, types and values of the code that decides about devices differ
// between two releases of k8s.io/dynamic-resource-allocation, and where kubectl-dra mirrors them.
//
//	go run ./cmd/changes v0.38.0           # against the version in go.mod
//	go run ./cmd/changes v0.36.6 v0.37.1   # from one to another
//
// Comments and layout do not count. It exits with 1 if something differs.
package main

import (
	"bytes"
	"encoding/json"
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
	"slices"
	"strings"
)

const module = "k8s.io/dynamic-resource-allocation"

// folders hold what the allocator, the selectors and the tainted slices come from.
var folders = []string{"structured", "cel", "resourceslice/tracker"}

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
	before, err := declarations(older)
	if err != nil {
		return false, err
	}
	after, err := declarations(newer)
	if err != nil {
		return false, err
	}
	mirrors, err := mirrorsIn("../../src")
	if err != nil {
		return false, err
	}
	fmt.Printf("%s: %s to %s\n", module, older, newer)
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
	if different == 0 {
		fmt.Println("nothing differs")
	}
	return different > 0, nil
}

// declared names a declaration: the folder of its package, and receiver and name.
type declared struct{ pkg, name string }

func compare(a, b declared) int {
	return strings.Compare(a.pkg+"\x00"+a.name, b.pkg+"\x00"+b.name)
}

// last is the name without its receiver.
func (d declared) last() string { return d.name[strings.LastIndexByte(d.name, '.')+1:] }

func requiredVersion() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w (run it in tests/go)", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// source has the Go module proxy bring a version and returns its folder.
func source(version string) (string, error) {
	command := exec.Command("go", "mod", "download", "-json", module+"@"+version)
	// Outside of a module: nothing here is to be written down as required.
	command.Dir = os.TempDir()
	out, err := command.Output()
	var downloaded struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &downloaded); jsonErr == nil && downloaded.Error != "" {
		return "", fmt.Errorf("%s: %s", version, downloaded.Error)
	}
	if err != nil {
		return "", fmt.Errorf("go mod download %s@%s: %w", module, version, err)
	}
	return downloaded.Dir, nil
}

// declarations are those of a version, printed without comments.
func declarations(version string) (map[declared]string, error) {
	root, err := source(version)
	if err != nil {
		return nil, err
	}
	found := map[declared]string{}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
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
			return nil, err
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s has nothing in %s", version, strings.Join(folders, ", "))
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
