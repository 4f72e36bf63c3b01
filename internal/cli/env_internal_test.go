package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/actions"
)

func TestOutputDirectoryIsPrivate(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	home, state := filepath.Join(root, "home"), filepath.Join(root, "state")
	byHome := filepath.Join(home, ".local", "state", "autoloop")
	type vars = map[string]string
	for name, c := range map[string]struct {
		flag        string
		environment vars
		want        string
	}{
		"by the home": {"", vars{"HOME": home}, byHome},
		"by XDG_STATE_HOME": {
			"", vars{"HOME": home, "XDG_STATE_HOME": state}, filepath.Join(state, "autoloop"),
		},
		"a relative one does not count": {"", vars{"HOME": home, "XDG_STATE_HOME": "state"}, byHome},
		"without a home":                {"", vars{"XDG_RUNTIME_DIR": state}, filepath.Join(state, "autoloop")},
		"AUTOLOOP_DIR":                  {"", vars{"HOME": home, "AUTOLOOP_DIR": state}, state},
		"the flag":                      {"here", vars{"AUTOLOOP_DIR": state}, filepath.Join(root, "here")},
		"in Actions":                    {"", vars{"HOME": home, "GITHUB_ACTIONS": "true"}, "/tmp/gh-aw"},
		"for the original's callers":    {"", vars{"HOME": home}, "/tmp/gh-aw"},
	} {
		env := Env{Step: actions.Step{Dir: root, Getenv: func(name string) string { return c.environment[name] }}}
		a := &App{Env: env, Output: c.flag, Compat: strings.Contains(name, "original")}
		dir, err := a.outputDir()
		require.NoError(t, err, name)
		assert.Equal(t, c.want, dir, name)
	}
	_, err := (&App{Env: Env{Step: actions.Step{Dir: root, Getenv: func(string) string { return "" }}}}).outputDir()
	assert.ErrorContains(t, err, "set AUTOLOOP_DIR or HOME")
}

func TestRunIDsAreRecognized(t *testing.T) {
	t.Parallel()
	environment := map[string]string{}
	env := Env{
		Step: actions.Step{Getenv: func(name string) string { return environment[name] }}, Now: systemEnv().Now,
	}
	assert.True(t, runID().MatchString(env.NewRunID()))
	environment["GITHUB_ACTIONS"], environment["GITHUB_RUN_ID"], environment["GITHUB_RUN_ATTEMPT"] = "true",
		"123456", "2"
	assert.True(t, runID().MatchString(env.NewRunID()))
	for _, name := range []string{"thesis", "2024-07", "20260101T000000Z", ""} {
		assert.False(t, runID().MatchString(name), name)
	}
}
