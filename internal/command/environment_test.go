package command_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/command"
)

func TestEnvironmentIsExplicit(t *testing.T) {
	t.Parallel()
	caller := []string{
		"PATH=/bin", "HOME=/home/u", "LANG=C.UTF-8", "LC_TIME=de", "GOMODCACHE=/mods", "GOCACHE=/cache", "API_URL=http://x",
		"GITHUB_TOKEN=t", "GH_TOKEN=t", "ACTIONS_RUNTIME_TOKEN=t", "OPENAI_API_KEY=k", "GIT_DIR=/x", "AUTOLOOP_PROGRAM=p", "SSH_AUTH_SOCK=/s", "OTHER=1",
	}
	env := command.Environment(caller, "/run/h", []string{"API_URL", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "GIT_DIR", "NOT_SET"})
	for _, want := range []string{"PATH=/bin", "HOME=/run/h", "TMPDIR=/run/h/tmp", "LANG=C.UTF-8", "LC_TIME=de", "GOMODCACHE=/mods", "GOCACHE=/cache", "API_URL=http://x"} {
		assert.Contains(t, env, want)
	}
	assert.Equal(t, "/home/u/.cargo", command.Getenv(env, "CARGO_HOME"), "caches of the caller's home are shared")
	for _, name := range []string{"GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "OPENAI_API_KEY", "GIT_DIR", "AUTOLOOP_PROGRAM", "SSH_AUTH_SOCK", "OTHER", "NOT_SET"} {
		assert.False(t, slices.ContainsFunc(env, func(v string) bool { return len(v) > len(name) && v[:len(name)+1] == name+"=" }), name)
	}
	assert.Equal(t, "k", command.Getenv(command.Environment(caller, "/run/h", []string{"OPENAI_API_KEY"}), "OPENAI_API_KEY"), "a key that the program lists is passed")
}

func TestMasker(t *testing.T) {
	t.Parallel()
	m := command.NewMasker([]string{"GITHUB_TOKEN=abcdefgh", "MY_API_KEY=abcdefgh-longer", "NAME=plainvalue", "DB_PASSWORD=short", "EMPTY_TOKEN="}, "handed-in-secret")
	assert.Equal(t, "a *** b *** c *** plainvalue short", m.String("a abcdefgh b abcdefgh-longer c handed-in-secret plainvalue short"))
	assert.Equal(t, "x", command.Masker{}.String("x"))
}
