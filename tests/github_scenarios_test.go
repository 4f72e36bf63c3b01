package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// scenario is what people, CI and the binaries do with a repository, on
// whichever server.
type scenario struct {
	name string
	play func(t *testing.T, on maker)
}

// scenarios, whose assertions are in their functions, are those that run on our own
// server and on the emulator by others.
// What the emulator does not have runs on our own server alone, in tests of
// their own: reactions, commit statuses, answers 304, the dispatch of
// workflows, variables, permissions of tokens, rate limits and faults.
func scenarios() []scenario {
	return []scenario{
		{"a program's whole life", aProgramsWholeLife},
		{"CI is waited for across runs", ciIsWaitedForAcrossRuns},
		{"red is fixed by the agent", redIsFixedByTheAgent},
		{"a failure of the base is not the candidate's", aFailureOfTheBaseIsNotTheCandidates},
		{"the same failure twice is stuck", theSameFailureTwiceIsStuck},
		{"maintainers steer by comments", maintainersSteerByComments},
		{"a closed pull request waits for a person", aClosedPullRequestWaitsForAPerson},
		{"a paused program hears", aPausedProgramHears},
		{"title and body may be edited", titleAndBodyMayBeEdited},
		{"strangers are not run", strangersAreNotRun},
		{"a token that is printed is masked", aTokenThatIsPrintedIsMasked},
		{"programs are found on all pages", programsAreFoundOnAllPages},
		{"the issue of a file program is adopted", theIssueOfAFileProgramIsAdopted},
		{"a fork's pull request is not ours", aForksPullRequestIsNotOurs},
		{"prune removes what gone programs left", pruneRemovesWhatGoneProgramsLeft},
	}
}

func TestScenariosOnOurServer(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.play(t, onOurServer)
		})
	}
}

// TestEveryScenarioIsPlayed finds the functions that are scenarios by their parameters:
// one that no list names would assert nothing.
func TestEveryScenarioIsPlayed(t *testing.T) {
	t.Parallel()
	played := map[string]bool{}
	for _, s := range append(scenarios(), splittable()...) {
		name := runtime.FuncForPC(reflect.ValueOf(s.play).Pointer()).Name()
		played[name[strings.LastIndex(name, ".")+1:]] = true
	}
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && isScenario(f.Type) {
				found++
				assert.True(t, played[f.Name.Name], "%s is in no list", f.Name.Name)
			}
		}
	}
	assert.Len(t, played, found)
}

// isScenario reports whether a function has the parameters of one, and no result.
func isScenario(f *ast.FuncType) bool {
	if f.Results != nil || len(f.Params.List) != 2 {
		return false
	}
	last, ok := f.Params.List[1].Type.(*ast.Ident)
	return ok && last.Name == "maker"
}
