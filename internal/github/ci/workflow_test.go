package ci_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/github/ci"
)

func TestStartsOnChange(t *testing.T) {
	t.Parallel()
	change := ci.Push{Files: []string{"src/a.go", "src/b/c.go"}, Branch: "autoloop/p", Into: "main"}
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"a word":                     {"on: push\n", true},
		"a quoted key":               {"\"on\":\n  push:\n", true},
		"a list":                     {"on: [workflow_dispatch, pull_request]\n", true},
		"a map without filters":      {"on:\n  pull_request:\n", true},
		"pull_request_target":        {"on:\n  pull_request_target:\n    types: [opened]\n", true},
		"pushes to the other branch": {"on:\n  push:\n    branches: [main]\n", false},
		"a filter that is no list":   {"on:\n  push:\n    branches: main\n    tags: ['v*']\n", true},
		"pushes to all branches":     {"on:\n  push:\n    branches: ['**']\n", true},
		"pushes to such branches":    {"on:\n  push:\n    branches: ['autoloop/*']\n", true},
		"pushes to no such branch":   {"on:\n  push:\n    branches-ignore: ['autoloop/**']\n", false},
		"pushes elsewhere, and merges": {
			"on:\n  push:\n    branches: [main]\n  pull_request:\n    branches: [main]\n",
			true,
		},
		"merges into another":          {"on:\n  pull_request:\n    branches: [develop]\n", false},
		"tags alone":                   {"on:\n  push:\n    tags: ['v*']\n", false},
		"tags and branches":            {"on:\n  push:\n    tags: ['v*']\n    branches: ['autoloop/*']\n", true},
		"paths of the target":          {"on:\n  pull_request:\n    paths: ['src/**']\n", true},
		"other paths":                  {"on:\n  pull_request:\n    paths: ['docs/**', AGENTS.md]\n", false},
		"paths, all but the target":    {"on:\n  pull_request:\n    paths: ['**', '!src/**']\n", false},
		"other paths, and every push":  {"on:\n  push:\n  pull_request:\n    paths: ['docs/**']\n", true},
		"ignored paths are not looked": {"on:\n  push:\n    paths-ignore: ['src/**']\n", true},
		"a clock, issues, dispatch": {
			"on:\n  schedule:\n    - cron: '1 * * * *'\n  issues:\n  workflow_dispatch:\n",
			false,
		},
		"other workflows": {"on:\n  workflow_run:\n    workflows: [CI]\n  check_suite:\n", false},
		"no trigger":      {"jobs: {}\n", false},
		"not YAML":        {"on: [push\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, change.Starts([]byte(c.text)))
		})
	}
	assert.True(t, ci.Push{Branch: "b"}.Starts([]byte("on:\n  push:\n    paths: ['docs/**']\n")),
		"no target file is known")
	elsewhere := map[string][]byte{"deploy.yml": []byte("on: {push: {branches: [main]}}\n")}
	one, names := change.Started(elsewhere)
	assert.Equal(t, []any{false, []string{"deploy.yml"}}, []any{one, names})
	maps.Copy(elsewhere, map[string][]byte{
		"ci.yml": []byte("on: push\n"), "bad.yml": []byte("on: [push\n"),
		"a.yml": []byte("name: Twice\non: {push: {branches: [main]}}\n"), "b.yml": []byte("name: Twice\non: push\n"),
	})
	one, names = change.Started(elsewhere)
	assert.Equal(t, []any{true, []string{"deploy.yml"}}, []any{one, names})
	assert.True(t, ci.IsWorkflow(".github/workflows/ci.yml"))
	assert.True(t, ci.IsWorkflow(".github/workflows/ci.yaml"))
	assert.False(t, ci.IsWorkflow(".github/workflows/old/ci.yml"))
	assert.False(t, ci.IsWorkflow(".github/workflows/README.md"))
}

func TestSkipped(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"Bump it [skip ci]": true, "[CI SKIP] docs": true, "one\n\nbody [no ci]\n": true, "x [actions skip]": true,
		"one\n\nskip-checks: true\n": true,
		"Skip CI":                    false, "do not skip-checks: true ever": false, "[skip] ci": false, "": false,
	} {
		assert.Equal(t, want, ci.Skipped(message), message)
	}
}
