package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// agentProject is a project whose agent runs a script, and an evaluator beside the
// target.
func agentProject(t *testing.T, script string) *project {
	t.Helper()
	w := newProject(t, map[string]string{
		".autoloop/programs/p.md": `---
metric: m
metric_direction: lower
evaluation-runs: 1
agent: command
agent-command: sh "$SIDE/agent.sh"
env: [SIDE]
---
## Goal
Move the number.
## Target
- ` + "`src/**`" + `
Do NOT modify ` + "`src/fixed.txt`" + `
## Evaluation
` + "```sh" + `
sh eval.sh
` + "```" + `
`,
		"eval.sh": "printf '{\"m\": %s}\\n' \"$(cat src/value.txt)\"\n", "src/value.txt": "5\n",
		"src/fixed.txt": "fixed\n",
		".gitignore":    "*.log\nbuild/\n", "docs/readme.md": "hello\n",
	})
	w.aside("agent.sh", "set -e\n"+script+"\n")
	return w
}

// TestAgentAttacksGit: inside its tree the agent may do to git what it wants;
// nothing of it reaches the repository, and nothing of it is run afterwards.
func TestAgentAttacksGit(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	hook := `printf '#!/bin/sh\ntouch %s\n' "$SIDE/executed"`
	w := agentProject(t, `
git status --porcelain > "$SIDE/status"
git log --oneline > "$SIDE/log"
git branch evil; git branch -f main HEAD; git update-ref refs/heads/memory/autoloop HEAD; git tag evil
git checkout -q -b elsewhere
for name in pre-commit post-checkout post-index-change reference-transaction post-commit pre-push post-merge; do
  mkdir -p .git/hooks; `+hook+` > .git/hooks/$name; chmod +x .git/hooks/$name
done
`+hook+` > "$SIDE/evil.sh"; chmod +x "$SIDE/evil.sh"
git config core.fsmonitor "$SIDE/evil.sh"
git config filter.evil.clean "$SIDE/evil.sh"; git config filter.evil.smudge "$SIDE/evil.sh"; git config filter.evil.process "$SIDE/evil.sh"
git config diff.evil.textconv "$SIDE/evil.sh"; git config alias.status "!$SIDE/evil.sh"; git config core.sshCommand "$SIDE/evil.sh"
git config core.pager "$SIDE/evil.sh"; git config core.editor "$SIDE/evil.sh"; git config credential.helper "$SIDE/evil.sh"
mkdir -p .git/info; printf '* filter=evil diff=evil text eol=crlf\n' > .git/info/attributes
printf '* diff=evil text eol=crlf\n' > src/.gitattributes
echo 4 > src/value.txt
rm -f "$SIDE/executed"
`)
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "values"), nil, 0o600))
	before, refs := w.checkout(),
		w.git("for-each-ref", "refs/heads/main", "refs/tags", "refs/heads/evil", "refs/heads/elsewhere")
	got := w.one()
	require.Equal(t, "accepted", got.Outcome, got.Reasons)
	assert.Equal(t, "4", text(got.Metric))
	status := readText(t, filepath.Join(w.side, "status"))
	assert.Empty(t, status, "git works in the tree, and finds it clean")
	log := readText(t, filepath.Join(w.side, "log"))
	assert.Contains(t, log, "start")
	assert.Equal(t, before, w.checkout())
	assert.Equal(t, refs, w.git("for-each-ref", "refs/heads/main", "refs/tags", "refs/heads/evil",
		"refs/heads/elsewhere"))
	w.one()
	w.binary("scheduler")
	assert.NoFileExists(t, filepath.Join(w.side, "executed"), "something that the agent installed was run")
	assert.Equal(t, "4", w.git("show", "autoloop/p:src/value.txt"),
		"no filter and no line end of the agent's touched it")
}

func TestAgentReplacesGit(t *testing.T) {
	t.Parallel()
	w := agentProject(t, "")
	script := fmt.Sprintf("rm -rf .git; echo 'gitdir: %s/.git' > .git; echo 4 > src/value.txt\n", w.dir)
	w.aside("agent.sh", script)
	before := w.checkout()
	assert.Equal(t, "accepted", w.one().Outcome)
	assert.Equal(t, before, w.checkout())
}

func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	w := agentProject(t, `env > "$SIDE/agent.env"; echo 4 > src/value.txt; echo "the token is $(cat "$SIDE/secret")"`)
	w.aside("secret", "hunter2hunter2\n")
	w.env = append(w.env, "GITHUB_TOKEN=hunter2hunter2", "OPENAI_API_KEY=sk-abcdefgh", "MY_SETTING=x")
	w.write("eval.sh", "env > \"$SIDE/eval.env\"; cat \"$SIDE/secret\" >&2; printf '{\"m\": %s}\\n' \"$(cat "+
		"src/value.txt)\"\n")
	w.commit("evaluation")
	require.Equal(t, "accepted", w.one().Outcome)
	for _, file := range []string{"agent.env", "eval.env"} {
		data := readText(t, filepath.Join(w.side, file))
		for _, secret := range []string{
			"hunter2", "sk-abcdefgh", "MY_SETTING", "GIT_DIR",
			filepath.Join(filepath.Dir(w.side), "home\n"),
		} {
			assert.NotContains(t, data, secret, file)
		}
	}
	assert.NotContains(t, w.ledger()+w.memory("p.md")+w.git("log", "--all", "-p"), "hunter2hunter2")
}
