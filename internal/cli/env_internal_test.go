package cli

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheOutputDirectoryIsTheUsersOwn(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	home, state := filepath.Join(root, "home"), filepath.Join(root, "state")
	for name, c := range map[string]struct {
		flag        string
		environment map[string]string
		compat      bool
		want        string
	}{
		"by the home": {
			environment: map[string]string{"HOME": home},
			want:        filepath.Join(home, ".local", "state", "autoloop"),
		},
		"by XDG_STATE_HOME": {
			environment: map[string]string{"HOME": home, "XDG_STATE_HOME": state},
			want:        filepath.Join(state, "autoloop"),
		},
		"a relative one does not count": {
			environment: map[string]string{"HOME": home, "XDG_STATE_HOME": "state"},
			want:        filepath.Join(home, ".local", "state", "autoloop"),
		},
		"without a home": {
			environment: map[string]string{"XDG_RUNTIME_DIR": state},
			want:        filepath.Join(state, "autoloop"),
		},
		"AUTOLOOP_DIR": {
			environment: map[string]string{"HOME": home, "AUTOLOOP_DIR": state},
			want:        state,
		},
		"the flag": {
			flag: "here", environment: map[string]string{"AUTOLOOP_DIR": state},
			want: filepath.Join(root, "here"),
		},
		"in Actions": {
			environment: map[string]string{"HOME": home, "GITHUB_ACTIONS": "true"},
			want:        "/tmp/gh-aw",
		},
		"for the original's callers": {
			environment: map[string]string{"HOME": home}, compat: true,
			want: "/tmp/gh-aw",
		},
	} {
		env := Env{Dir: root, Getenv: func(name string) string { return c.environment[name] }}
		output := env.OutputDir
		if c.compat {
			output = env.CompatDir
		}
		dir, err := output(c.flag)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, dir, name)
	}
	_, err := Env{Dir: root, Getenv: func(string) string { return "" }}.OutputDir("")
	assert.ErrorContains(t, err, "set AUTOLOOP_DIR or HOME")
}

func TestRunIDsAreRecognized(t *testing.T) {
	t.Parallel()
	environment := map[string]string{}
	env := Env{Getenv: func(name string) string { return environment[name] }, Now: systemEnv().Now}
	assert.True(t, isRunID(env.NewRunID()))
	environment["GITHUB_ACTIONS"], environment["GITHUB_RUN_ID"], environment["GITHUB_RUN_ATTEMPT"] = "true",
		"123456", "2"
	assert.True(t, isRunID(env.NewRunID()))
	for _, name := range []string{"thesis", "2024-07", "20260101T000000Z", ""} {
		assert.False(t, isRunID(name), name)
	}
}
