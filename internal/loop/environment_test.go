package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/tests/golden"
)

// TestEnvironmentCannotBeMade leaves nothing of what was.
func TestEnvironmentCannotBeMade(t *testing.T) {
	t.Parallel()
	shared := newTrialRepo(t)
	broken := errors.New("no such login")
	for name, spoil := range map[string]func(*measurer){
		"its environment": func(m *measurer) {
			m.Environ = func(dir string, _ []string) ([]string, error) {
				return nil, errors.Join(broken, os.MkdirAll(dir, 0o700))
			}
		},
		"its configuration": func(m *measurer) { m.Configure = func(string) error { return broken } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r, at := shared.on(t, "", steady)
			spoil(r.measurer)
			env, err := r.newEnvironment(t.Context(), subjectOf(history.Candidate, at.Head), r.newDir("t"))
			require.ErrorIs(t, err, broken)
			assert.Nil(t, env)
			l.leavesNothing()
		})
	}
	_, r, at := shared.on(t, "", steady)
	var homes []string
	r.Configure = func(home string) error { homes = append(homes, home); return nil }
	env, err := r.newEnvironment(t.Context(), subjectOf(history.Candidate, at.Head), r.newDir("t"))
	require.NoError(t, err)
	defer env.Close()
	assert.Equal(t, []string{env.home}, homes)
}

// TestNamedOutput is that of the first evaluation that failed, of the files as
// they are: those that were broken on purpose should fail.
func TestNamedOutput(t *testing.T) {
	t.Parallel()
	l, r, at := newTrialRepo(t).on(t, "", nil)
	r.Transcripts = t.TempDir()
	prints := true
	l.runs = func(c call) evaluation.Result {
		if prints {
			assert.NoError(t, os.WriteFile(c.request.Keep, []byte("oh"), 0o600))
		}
		return failure
	}
	var kept []string
	for _, side := range []decision.Side{decision.Emptied, decision.Garbled, history.Candidate, history.Incumbent} {
		env, err := r.newEnvironment(t.Context(), subjectOf(side, at.Head), r.newDir("t"))
		require.NoError(t, err)
		defer env.Close()
		prints = false
		_, err = env.evaluate(t.Context())
		require.NoError(t, err)
		prints = true
		_, err = env.evaluate(t.Context())
		require.NoError(t, err)
		kept = append(kept, r.failed)
	}
	assert.Equal(t, []string{"", ""}, kept[:2])
	assert.Equal(t, "0-6-candidate-"+r.id+".txt", filepath.Base(kept[2]), "what printed nothing has no output")
	assert.Equal(t, kept[2], kept[3])
}

// TestFilesThatChangeBetweenTheRuns end the measurement, but for those that the
// evaluation writes itself; and as long as these are not known nothing is said.
func TestFilesThatChangeBetweenTheRuns(t *testing.T) {
	t.Parallel()
	shared := newTrialRepo(t)
	for name, c := range map[string]struct {
		own  map[string]bool
		ends bool
	}{
		"another's": {map[string]bool{}, true},
		"its own":   {map[string]bool{"other.txt": false}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r, at := shared.on(t, "", steady)
			r.own = c.own
			env := l.built(r, at)
			require.NoError(t, os.WriteFile(filepath.Join(env.tree.Dir, "other.txt"), []byte("3\n"), 0o600))
			_, err := env.evaluate(t.Context())
			var problem *endedError
			assert.Equal(t, c.ends, errors.As(err, &problem))
			if c.ends {
				golden.Line(t, err)
				assert.Empty(t, l.calls, "it does not run")
			}
		})
	}
}

// TestSpoiltDirectoriesAreTheCandidatesFailure: code under evaluation that closes, removes or
// replaces what it was given is rejected, and the next iteration goes on.
func TestSpoiltDirectoriesAreTheCandidatesFailure(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(request evaluation.Request) error{
		"closed HOME": func(r evaluation.Request) error { return os.Chmod(process.Getenv(r.Env, "HOME"), 0) },
		"link for HOME": func(r evaluation.Request) error {
			home := process.Getenv(r.Env, "HOME")
			return errors.Join(os.RemoveAll(home), os.Symlink("/", home))
		},
		"closed tree": func(r evaluation.Request) error { return os.Chmod(r.Dir, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, "evaluation-runs: 1", "1", "3", "5")
			b.service.Environ = func(dir string, _ []string) ([]string, error) {
				home := filepath.Join(dir, "home")
				return []string{"HOME=" + home}, os.MkdirAll(home, 0o700)
			}
			b.run = func(request evaluation.Request, value string) evaluation.Result {
				if value == "3" {
					assert.NoError(t, spoil(request))
				}
				return evaluation.Result{}
			}
			first := b.one()
			assert.Equal(t, history.Rejected, first.Outcome, "%v", first.Reasons)
			assert.Contains(t, strings.Join(decision.Texts(first.Reasons), "\n"), "what was evaluated")
			assert.Equal(t, history.Accepted, b.one().Outcome)
			left, err := filepath.Glob(filepath.Join(b.service.RunDir, "w", "*"))
			require.NoError(t, err)
			assert.Empty(t, left, "it is removed all the same")
		})
	}
}

// TestDirectoryThatWasNoneBeforeIsNoFailure: what an evaluation found so is not its doing, such as
// a link that the environment names for temporary files.
func TestDirectoryThatWasNoneBeforeIsNoFailure(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1", "3")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(t.TempDir(), link))
	b.service.Environ = func(dir string, _ []string) ([]string, error) {
		return []string{"HOME=" + dir, "TMPDIR=" + link}, os.MkdirAll(dir, 0o700)
	}
	assert.Equal(t, history.Accepted, b.one().Outcome)
}

// onceInATree is an evaluation that fails on what it left in a tree.
type onceInATree struct{ Evaluator }

func (e onceInATree) Run(ctx context.Context, request evaluation.Request) (evaluation.Result, error) {
	if err := os.Mkdir(filepath.Join(request.Dir, "build"), 0o700); err != nil {
		return evaluation.Result{Problem: "build exists"}, nil //nolint:nilerr // the evaluation's problem
	}
	return e.Evaluator.Run(ctx, request)
}

// TestTreeMeasuredOnce: where the evaluation fails on what it left in a tree, each
// run gets a new one, and decisions are those of any other evaluation. That is said once.
func TestTreeMeasuredOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		proposal string
		noise    []string
	}{
		"a gain": {"2", nil},
		"a gain in noise": {
			"5",
			[]string{"0.1", "-0.1", "0.3", "0", "0.2"},
		},
		"one that fails in noise": {
			"fail",
			[]string{"0.1", "-0.1", "0.3", "0", "0.2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, "", "1", c.proposal)
			b.noise, b.service.Eval = c.noise, onceInATree{b}
			got := b.one()
			numbers := regexp.MustCompile(`[-+]?[0-9.]+`) // which depend on what is drawn
			golden.Line(t, numbers.ReplaceAllString(fmt.Sprint(got.Outcome, got.Reasons), "N"))
			said := slices.DeleteFunc(got.Warnings, func(s string) bool { return !strings.Contains(s, "build exists") })
			assert.Len(t, said, 1)
		})
	}
}
