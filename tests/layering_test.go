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

// layer is a floor of the building; imports go down.
type layer int

const (
	domain  layer = iota // pure: no I/O, no clock, no environment
	base                 // processes, git, model APIs
	adapter              // one kind of I/O each
	service              // the use cases
	edge                 // what services found or made: for the runner, a new repository, a skill's versions
	root                 // flags, environment, clock, exit codes; every adapter and service is built here
	command              // the mains
)

// layout says on which floor every package is. A new package is a decision:
// add it here, and to the picture in docs/explain/architecture.md.
func layout() map[string]layer {
	return map[string]layer{
		"cmd/iterate": command, "cmd/scheduler": command, "internal/cli/manual": command,
		"internal/github/githubtest/receive":     command,
		"internal/actions":                       edge,
		"internal/agent":                         adapter,
		"internal/agent/commandline":             domain,
		"internal/agent/models":                  domain,
		"internal/agent/models/client":           base,
		"internal/agent/models/client/modeltest": base,
		"internal/agent/tuner":                   domain,
		"internal/cli":                           root,
		"internal/decision":                      domain,
		"internal/decision/statistics":           domain,
		"internal/document":                      domain,
		"internal/files":                         base,
		"internal/git":                           base,
		"internal/git/tree":                      adapter,
		"internal/github/api":                    adapter,
		"internal/github/ci":                     domain,
		"internal/github/commands":               domain,
		"internal/github/githubtest":             base,
		"internal/github/lifecycle":              domain,
		"internal/github/sync":                   service,
		"internal/history":                       domain,
		"internal/history/audit":                 domain,
		"internal/history/memory":                adapter,
		"internal/history/results":               domain,
		"internal/history/state":                 domain,
		"internal/history/view":                  domain,
		"internal/lazyregexp":                    domain,
		"internal/loop":                          service,
		"internal/loop/budget":                   domain,
		"internal/loop/evaluation":               adapter,
		"internal/loop/proposal":                 adapter,
		"internal/loop/live":                     adapter,
		"internal/loop/strategy":                 domain,
		"internal/metric":                        domain,
		"internal/misuse":                        domain,
		"internal/plain":                         domain,
		"internal/process":                       base,
		"internal/program":                       domain,
		"internal/program/checkout":              adapter,
		"internal/prompt":                        domain,
		"internal/render":                        domain,
		"internal/render/page":                   domain,
		"internal/schedule":                      service,
		"internal/setup":                         edge,
		"internal/site":                          service,
		"internal/skill":                         edge,
		"internal/suite":                         domain,
		"internal/suite/evalrun":                 service,
		"internal/suite/evals":                   domain,
		"internal/skill/workspace":               adapter,
		"internal/suite/format":                  domain,
		"internal/suite/judge":                   adapter,
		"internal/suite/cache":                   adapter,
		"internal/suite/sandbox":                 adapter,
		"internal/suite/score":                   domain,
		"internal/suite/taskrun":                 service,
		"internal/suite/work":                    adapter,
	}
}

// TestPictureNamesEveryPackage holds docs/explain/architecture.md against layout.
func TestPictureNamesEveryPackage(t *testing.T) {
	t.Parallel()
	text := readText(t, "../docs/explain/architecture.md")
	floors := map[string]layer{"domain": domain, "base": base, "adapter": adapter, "service": service, "edge": edge}
	drawn := map[string]layer{}
	floor := ""
	for _, row := range regexp.MustCompile("(?m)^\\| (\\w*) ?\\| (`[^|]*`) \\|").FindAllStringSubmatch(
		text, -1) {
		if row[1] != "" {
			floor = row[1]
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			drawn["internal/"+name[1]] = floors[floor]
		}
	}
	for pkg, on := range layout() {
		if on < root {
			assert.Equal(t, on, drawn[pkg], pkg)
			assert.Contains(t, drawn, pkg)
		}
		delete(drawn, pkg)
	}
	assert.Empty(t, drawn, "packages that do not exist")
}

// exceptions are imports that do not go down one floor: git runs through command.
var exceptions = []string{
	"internal/git -> internal/process", "internal/agent/models/client -> internal/process",
	// What the runs of suites of both formats have in common uses what each needs.
	"internal/suite/work -> internal/agent", "internal/suite/work -> internal/suite/cache",
	"internal/suite/work -> internal/suite/judge", "internal/suite/work -> internal/suite/sandbox",
	"cmd/iterate -> internal/agent/models/client", // the one main that asks models hands the client to cli
}

// source is one file that is not a test.
type source struct {
	pkg, file string
	syntax    *ast.File
	files     *token.FileSet
}

func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	for _, top := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				if err == nil && entry.IsDir() && entry.Name() == "testdata" {
					return filepath.SkipDir
				}
				return err
			}
			set := token.NewFileSet()
			syntax, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			name := strings.TrimPrefix(filepath.ToSlash(file), "../")
			list = append(list, source{path.Dir(name), name, syntax, set})
			return nil
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

// uses lists the selectors of a package that a file uses, as "os.Getenv".
func (s source) uses(packages ...string) []string {
	var list []string
	ast.Inspect(s.syntax, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if name, ok := selector.X.(*ast.Ident); ok && slices.Contains(packages, name.Name) {
				list = append(list, name.Name+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return list
}

func TestEveryPackageHasItsFloor(t *testing.T) {
	table := layout()
	for _, s := range sources(t) {
		_, known := table[s.pkg]
		require.True(t, known, "package %s is not in the layout: decide where it belongs, add it to layout() in "+
			"tests/layering_test.go and to docs/explain/architecture.md", s.pkg)
	}
}

func TestImportsGoDown(t *testing.T) {
	table := layout()
	for _, s := range sources(t) {
		for _, name := range s.imports() {
			floor, ours := table[name]
			if !ours || slices.Contains(exceptions, s.pkg+" -> "+name) {
				continue
			}
			from := table[s.pkg]
			switch from {
			case command:
				assert.Equal(t, root, floor, "%s imports %s: a main calls cli and nothing else", s.file, name)
			case domain:
				assert.Equal(t, domain, floor, "%s imports %s: domain packages import domain packages alone",
					s.file, name)
			default:
				assert.Less(t, floor, from, "%s imports %s: let it declare the small interface that it needs",
					s.file, name)
			}
		}
	}
}

func TestDomainIsPure(t *testing.T) {
	impure := []string{
		"os", "io/fs", "os/exec", "os/signal", "os/user", "net", "net/http", "syscall", "log", "log/slog",
		"path/filepath", "runtime", "math/rand", "crypto/rand", "context",
	}
	table := layout()
	for _, s := range sources(t) {
		if table[s.pkg] != domain || s.pkg == "internal/lazyregexp" { // which asks whether it is in a test
			continue
		}
		for _, name := range s.imports() {
			assert.NotContains(t, impure, name, "%s imports %s: domain packages get what they need as values",
				s.file, name)
		}
	}
}

// standIn is GitHub in the tests.
const standIn = "internal/github/githubtest"

// hook is a program of its own: GitHub's answers to a push, which start git.
const hook = standIn + "/receive"

// lazy compiles at once in tests, which it knows by the name of the process.
const lazy = "internal/lazyregexp"

func TestOnlyTheseAskClockAndEnvironment(t *testing.T) {
	table := layout()
	environment := []string{"os.Args", "os.Getenv", "os.LookupEnv", "os.Environ", "os.Getwd", "os.Exit"}
	clock := []string{"time.Now", "time.Since", "time.Until", "time.After", "time.Tick", "time.Sleep"}
	for _, s := range sources(t) {
		floor := table[s.pkg]
		if s.pkg == lazy {
			continue
		}
		for _, use := range s.uses("os", "time") {
			if floor < root && !supervisor(s) {
				assert.NotContains(t, environment, use, "%s uses %s: only cli reads arguments and environment",
					s.file, use)
			}
			if floor == domain || floor == service || floor == edge {
				assert.NotContains(t, clock, use,
					"%s uses %s: the time comes in as a value; adapters may measure durations",
					s.file, use)
			}
		}
	}
}

// supervisor says whether a file is the supervisor's own process, a main of
// its own.
func supervisor(s source) bool {
	return s.pkg == "internal/process" && strings.HasPrefix(path.Base(s.file), "supervis")
}

// owners are the packages that alone may import a library.
func TestLibrariesHaveOneOwner(t *testing.T) {
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
		for _, name := range s.imports() {
			for library, owner := range owners {
				if s.pkg == hook && library == "os/exec" {
					continue
				}
				if s.pkg == "internal/cli/manual" && owner == "internal/cli" {
					continue // it writes what a release has beside the binaries
				}
				if strings.HasPrefix(name, library) {
					assert.Equal(t, owner, s.pkg, "%s imports %s, which only %s does", s.file, name, owner)
				}
			}
		}
	}
}

// reached are the packages and libraries that a main links.
func reached(t *testing.T, main string) map[string]bool {
	t.Helper()
	graph := map[string][]string{}
	for _, s := range sources(t) {
		graph[s.pkg] = append(graph[s.pkg], s.imports()...)
	}
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
	return seen
}

func TestSchedulerLinksNoModelClient(t *testing.T) {
	assert.False(t, reached(t, "cmd/scheduler")["internal/agent/models/client"],
		"cmd/scheduler reaches internal/agent/models/client: give cli what needs a model from cmd/iterate alone")
}

// TestMainsLinkNothingOfTests: the description of GitHub's API, and the stand-ins
// for it and for models, are for tests alone.
func TestMainsLinkNothingOfTests(t *testing.T) {
	for _, main := range []string{"cmd/iterate", "cmd/scheduler"} {
		for name := range reached(t, main) {
			assert.NotContains(t, []string{standIn, "internal/agent/models/client/modeltest"}, name,
				"%s links %s", main, name)
			for _, tested := range []string{"getkin/kin-openapi", "stretchr/testify", "santhosh-tekuri/jsonschema"} {
				assert.False(t, strings.HasPrefix(name, "github.com/"+tested), "%s links %s", main, name)
			}
		}
	}
}
