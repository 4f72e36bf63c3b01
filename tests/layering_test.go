package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/org/autoloop/"

// floors are those of the building; imports go down. In between are the floors of
// docs/explain/architecture.md, on which every other package has its place.
var floors = []string{
	"domain",  // pure: no I/O, no clock, no environment
	"base",    // processes, git, model APIs
	"adapter", // one kind of I/O each
	"service", // the use cases
	"edge",    // what services found or made: for the runner, a new repository, a skill's versions
	"root",    // flags, environment, clock, exit codes; every adapter and service is built here
	"command", // the mains
}

// layout is the floor of every package, by the picture in docs/explain/architecture.md. A
// new package is a decision: add it there.
func layout(t *testing.T) map[string]string {
	t.Helper()
	layout := map[string]string{
		"cmd/iterate": "command", "cmd/scheduler": "command", "internal/cli/manual": "command",
		hook: "command", "internal/cli": "root",
	}
	floor := ""
	for _, row := range regexp.MustCompile("(?m)^\\| (\\w*) ?\\| (`[^|]*`) \\|").FindAllStringSubmatch(
		readText(t, "../docs/explain/architecture.md"), -1) {
		if row[1] != "" {
			floor = row[1]
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			layout["internal/"+name[1]] = floor
		}
	}
	return layout
}

// exceptions are imports that do not go down one floor: git runs through command.
var exceptions = []string{
	"internal/git -> internal/process", "internal/agent/models/client -> internal/process",
	"cmd/iterate -> internal/agent/models/client", // the one main that asks models hands the client to cli
}

// source is one file that is not a test.
type source struct {
	pkg, file string
	syntax    *ast.File
}

func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && entry.Name() == "testdata":
				return filepath.SkipDir
			case entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
				return nil
			}
			syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			name := strings.TrimPrefix(filepath.ToSlash(file), "../")
			list = append(list, source{path.Dir(name), name, syntax})
			return err
		})
		require.NoError(t, err)
	}
	require.NotEmpty(t, list)
	return list
}

// imports lists what a file imports; packages of this module without its name.
func (s source) imports() []string {
	var list []string
	for _, spec := range s.syntax.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		list = append(list, strings.TrimPrefix(name, module))
	}
	return list
}

// uses lists the selectors that a file uses, as "os.Getenv".
func (s source) uses() []string {
	var list []string
	ast.Inspect(s.syntax, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if name, ok := selector.X.(*ast.Ident); ok {
				list = append(list, name.Name+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return list
}

func TestEveryPackageHasItsFloor(t *testing.T) {
	t.Parallel()
	there, places := map[string]bool{}, layout(t)
	for _, s := range sources(t) {
		there[s.pkg] = true
		assert.Contains(t, floors, places[s.pkg], "add package %s to docs/explain/architecture.md", s.pkg)
	}
	for name := range places {
		assert.True(t, there[name], "%s does not exist", name)
	}
}

func TestImportsGoDown(t *testing.T) {
	t.Parallel()
	places := layout(t)
	for _, s := range sources(t) {
		from := places[s.pkg]
		for _, name := range s.imports() {
			floor, ours := places[name]
			if !ours || slices.Contains(exceptions, s.pkg+" -> "+name) {
				continue
			}
			switch from {
			case "command":
				assert.Equal(t, "root", floor, "%s imports %s: a main calls cli and nothing else", s.file, name)
			case "domain":
				assert.Equal(t, "domain", floor, "%s imports %s, which is not domain", s.file, name)
			default:
				assert.Less(t, slices.Index(floors, floor), slices.Index(floors, from),
					"%s imports %s: let it declare the small interface that it needs", s.file, name)
			}
		}
	}
}

// standIn is GitHub in the tests, and hook its answers to a push: a program of its own.
const (
	standIn = "internal/github/githubtest"
	hook    = standIn + "/receive"
)

// TestFloorsGetWhatTheyNeedAsValues: the domain knows of no world; only cli reads arguments
// and environment; only adapters measure durations.
func TestFloorsGetWhatTheyNeedAsValues(t *testing.T) {
	t.Parallel()
	places := layout(t)
	for _, rule := range []struct{ floors, words string }{
		{
			"domain", "os io/fs os/exec os/signal os/user net net/http syscall log log/slog path/filepath runtime " +
				"math/rand crypto/rand context",
		},
		{"domain base adapter service edge", "os.Args os.Getenv os.LookupEnv os.Environ os.Getwd os.Exit"},
		{"domain service edge", "time.Now time.Since time.Until time.After time.Tick time.Sleep"},
	} {
		for _, s := range sources(t) {
			// Of two files the process is a main of its own: the supervisor. Lazy expressions
			// ask the name of the process whether it is a test.
			supervisor := s.pkg == "internal/process" && strings.HasPrefix(path.Base(s.file), "supervis")
			if !slices.Contains(strings.Fields(rule.floors), places[s.pkg]) || supervisor ||
				s.pkg == "internal/lazyregexp" {
				continue
			}
			for _, word := range append(s.imports(), s.uses()...) {
				assert.NotContains(t, strings.Fields(rule.words), word, s.file)
			}
		}
	}
}

func TestLibrariesHaveOneOwner(t *testing.T) {
	t.Parallel()
	owners := map[string]string{
		"os/exec":                            "internal/process",
		"github.com/google/go-github":        "internal/github/api",
		"golang.org/x/oauth2":                "internal/github/api",
		"github.com/spf13/cobra":             "internal/cli",
		"github.com/openai/":                 "internal/agent/models/client",
		"github.com/sashabaranov/go-openai":  "internal/agent/models/client",
		"github.com/anthropics/":             "internal/agent/models/client",
		"google.golang.org/genai":            "internal/agent/models/client",
		"github.com/google/generative-ai-go": "internal/agent/models/client",
	}
	for _, s := range sources(t) {
		if s.pkg == hook || s.pkg == "internal/cli/manual" { // which run git, and write the pages of cobra's commands
			continue
		}
		for _, name := range s.imports() {
			for library, owner := range owners {
				if strings.HasPrefix(name, library) {
					assert.Equal(t, owner, s.pkg, "%s imports %s", s.file, name)
				}
			}
		}
	}
}

// TestMainsLinkNothingOfTests: the description of GitHub's API, and the stand-ins for it and
// for models, are for tests alone; and the scheduler asks no model.
func TestMainsLinkNothingOfTests(t *testing.T) {
	t.Parallel()
	graph := map[string][]string{}
	for _, s := range sources(t) {
		graph[s.pkg] = append(graph[s.pkg], s.imports()...)
	}
	for main, forbidden := range map[string][]string{
		"cmd/iterate": nil, "cmd/scheduler": {"internal/agent/models/client"},
	} {
		seen := map[string]bool{}
		var visit func(name string)
		visit = func(name string) {
			if !seen[name] {
				seen[name] = true
				for _, next := range graph[name] {
					visit(next)
				}
			}
		}
		visit(main)
		require.True(t, seen["internal/schedule"])
		for name := range seen {
			for _, not := range append(forbidden, standIn, "internal/agent/models/client/modeltest",
				"github.com/getkin/kin-openapi", "github.com/stretchr/testify", "github.com/santhosh-tekuri/jsonschema") {
				assert.False(t, name == not || strings.HasPrefix(name, not+"/") && !strings.HasPrefix(not, "internal"),
					"%s links %s", main, name)
			}
		}
	}
}
