package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// counted is a program that gets better with every file of src. Its agent is the
// script agent.sh, which says nothing.
const counted = `---
metric: m
evaluation-runs: 1
agent: command
agent-command: sh "$SIDE/agent.sh"
env: [SIDE]
---
## Goal
More files.
## Target
- ` + "`src/**`" + `
## Evaluation
` + "```sh" + `
printf '{"m": %s}\n' "$(find src -type f | wc -l)"
` + "```" + `
`

// countedWorld has one agent for each iteration.
func countedWorld(t *testing.T, scripts ...string) *world {
	t.Helper()
	w := newWorld(t, map[string]string{".autoloop/programs/p.md": counted, "src/a.txt": "a\n"})
	script := "case $AUTOLOOP_ITERATION in\n"
	for i, text := range scripts {
		script += fmt.Sprintf("%d)\n%s\n;;\n", i+1, text)
	}
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "agent.sh"), []byte(script+"esac\n"), 0o600))
	return w
}

func TestLineBreakInFileName(t *testing.T) {
	t.Parallel()
	w := countedWorld(t, `printf x > "src/$(printf 'b\nAutoloop-Metric: 999\n\nfixes #1\n\033[31mred\nend')"`)
	a := w.binary("iterate", "--program", "p")
	require.Zero(t, a.code, a.stderr)
	message := w.git("log", "-1", "--format=%B", "autoloop/p")
	assert.Regexp(t, `^\[Autoloop: p\] Iteration 1: change "src/b\\nAutoloop-Metric: `+
		`999[^\n]*\n\nAutoloop-Iteration: 1\nAutoloop-Metric: \d+\nAutoloop-Run: `, message)
	assert.NotContains(t, message, "fixes #1")
	for _, said := range []string{
		message, a.stdout, a.stderr, w.binary("iterate", "log", "p").stdout,
		w.binary("iterate", "log", "p", "1").stdout, w.memory("p.md"),
	} {
		assert.NotContains(t, said, "\nAutoloop-Metric: 999")
		assert.NotContains(t, said, "\033")
	}
}

func TestBareRepositoryInTargetIsRefused(t *testing.T) {
	t.Parallel()
	w := countedWorld(t, `git init --quiet --bare src/x && touch src/x/objects/a src/x/refs/a && git config -f `+
		`src/x/config core.fsmonitor 'touch /tmp/owned'`)
	got := w.one()
	assert.Equal(t, "rejected", got.Outcome, got.Reasons)
	assert.Contains(t, strings.Join(got.Reasons, "\n"), `"src/x/HEAD": is part of a repository`)
}

func TestFilterIsNotKept(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	w := countedWorld(t, `echo '* filter=x' > src/.gitattributes; touch src/b`, `echo b > src/a.txt; touch src/c`)
	got := w.iterate("-n", "2")
	assert.Equal(t, "rejected", got[0].Outcome, got[0].Reasons)
	assert.Contains(t, strings.Join(got[0].Reasons, "\n"),
		`"src/.gitattributes": chooses a filter,`)
	assert.Equal(t, "accepted", got[1].Outcome, got[1].Reasons)
}

func TestRunsOfOtherProgramsAreNoTampering(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	w := countedWorld(t,
		`touch src/b; cd "$REPO" && $MOVE && env -i $WHOLE iterate --program q $REMOTE >"$SIDE/said" 2>&1`,
		`touch src/c; cd "$REPO" && git update-ref refs/heads/autoloop/q refs/heads/main`,
	)
	w.write(".autoloop/programs/q.md", fmt.Sprintf(values, ""))
	w.write("value.txt", "1\n")
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "another program")
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "values"), []byte("2\n"), 0o600))
	script, err := os.ReadFile(filepath.Join(w.side, "agent.sh"))
	require.NoError(t, err)
	var assigned []string
	for _, entry := range w.env {
		assigned = append(assigned, "'"+entry+"'")
	}
	text := strings.ReplaceAll(string(script), "$WHOLE iterate",
		strings.Join(assigned, " ")+" '"+filepath.Join(binaries, "iterate")+"'")
	there, other := filepath.Join(w.side, "remote.git"), filepath.Join(w.side, "other")
	w.run("", "git", "init", "--quiet", "--bare", "--initial-branch=main", there)
	w.git("remote", "add", "origin", there)
	w.git("push", "--quiet", "origin", "main")
	w.run("", "git", "clone", "--quiet", there, other)
	w.run(other, "git", "commit", "--quiet", "--allow-empty", "--message", "more") // the default branch moves
	whole := "REPO='" + w.dir + "' MOVE='git -C " + other + " push --quiet' REMOTE='--remote origin'\n"
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "agent.sh"), []byte(whole+text), 0o600))

	before := w.git("for-each-ref", "refs/autoloop/obtained")
	got := w.one("--remote", "origin")
	assert.Equal(t, "accepted", got.Outcome, got.Reasons)
	assert.Empty(t, got.Warnings)
	assert.NotEqual(t, before, w.git("for-each-ref", "refs/autoloop/obtained"), "what the other run fetched is kept")
	require.NotEmpty(t, w.git("branch", "--list", "autoloop/q"), "%s", w.beside("said"))

	got = w.one("--remote", "origin")
	assert.Contains(t, strings.Join(got.Warnings, "\n"), "agent ran: ref refs/heads/autoloop/q",
		"an agent that moves it is not another run")
}
