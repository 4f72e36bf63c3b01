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

// agentWorld is a world whose agent runs a script, and an evaluator beside the
// target.
func agentWorld(t *testing.T, script string) *world {
	t.Helper()
	w := newWorld(t, map[string]string{
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
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "agent.sh"), []byte("set -e\n"+script+"\n"), 0o600))
	return w
}

// TestAgentsThatDoWhatTheyMayNot: each candidate is rejected with the path
// named, and the evaluation is never spent on it.
func TestAgentsThatDoWhatTheyMayNot(t *testing.T) {
	long.Only(t, long.Hostile)
	for name, c := range map[string]struct{ script, says string }{
		"edits the evaluator":    {`echo 'echo 0' > eval.sh; echo 4 > src/value.txt`, `"eval.sh"`},
		"edits the program file": {`echo x >> .autoloop/programs/p.md`, `".autoloop/programs/p.md"`},
		"adds a workflow": {
			`mkdir -p .github/workflows; echo x > .github/workflows/a.yml`,
			`".github/workflows/a.yml"`,
		},
		"edits a protected file":  {`echo x > src/fixed.txt`, `"src/fixed.txt": is protected`},
		"adds outside the target": {`echo x > new.txt; echo 4 > src/value.txt`, `"new.txt": is outside the target`},
		"deletes outside":         {`rm docs/readme.md`, `"docs/readme.md": is outside the target`},
		"changes a mode outside": {
			`chmod +x docs/readme.md`,
			`"docs/readme.md": is outside the target`,
		},
		"links out of the tree":      {`ln -s /etc/passwd src/link`, `"src/link": is a link that leaves the`},
		"links out by dots":          {`ln -s ../../../secret src/link`, `leaves the tree`},
		"links into git":             {`ln -s ../.git/config src/link`, `leaves the tree`},
		"a directory becomes a link": {`rm -r docs; ln -s /etc docs`, `"docs": is a link that leaves the tree`},
		"a fifo":                     {`mkfifo src/pipe`, `"src/pipe": is no regular file`},
		"a nested repository":        {`git init -q src/inner; echo 1 > src/inner/a`, `is a repository inside`},
		"a large file":               {`head -c 11000000 /dev/zero > src/big`, `has 11000000 bytes`},
		"changes nothing":            {`true`, `no change proposed`},
		"writes the same bytes":      {`echo 5 > src/value.txt`, `no change proposed`},
		"only ignored files":         {`echo x > src/a.log; mkdir build; echo x > build/b`, `no change proposed`},
		"its own ignore rules": {
			`echo 'new.txt' >> src/.gitignore; echo x > src/../new.txt`,
			`"new.txt": is outside`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := agentWorld(t, c.script)
			before := w.checkout()
			got := w.one()
			assert.Equal(t, "rejected", got.Outcome)
			assert.Contains(t, strings.Join(got.Reasons, "\n"), c.says)
			assert.Nil(t, got.Metric, "nothing was measured")
			assert.Equal(t, before, w.checkout())
		})
	}
}

// TestAgentAttacksGit: inside its tree the agent may do to git what it wants;
// nothing of it reaches the repository, and nothing of it is run afterwards.
func TestAgentAttacksGit(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	hook := `printf '#!/bin/sh\ntouch %s\n' "$SIDE/executed"`
	w := agentWorld(t, `
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
	status, err := os.ReadFile(filepath.Join(w.side, "status"))
	require.NoError(t, err)
	assert.Empty(t, string(status), "git works in the tree, and finds it clean")
	log, err := os.ReadFile(filepath.Join(w.side, "log"))
	require.NoError(t, err)
	assert.Contains(t, string(log), "start")
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
	w := agentWorld(t, "")
	script := fmt.Sprintf("rm -rf .git; echo 'gitdir: %s/.git' > .git; echo 4 > src/value.txt\n", w.dir)
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "agent.sh"), []byte(script), 0o600))
	before := w.checkout()
	assert.Equal(t, "accepted", w.one().Outcome)
	assert.Equal(t, before, w.checkout())
}

// TestAgentReachesOut: an agent that finds the repository by its alternates
// and changes its configuration is found out.
func TestAgentReachesOut(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]string{
		"hook":          `mkdir -p "$REAL/hooks"; echo x > "$REAL/hooks/pre-commit"`,
		"configuration": `printf '[core]\n\tfsmonitor = /bin/true\n' >> "$REAL/config"`,
		"branch":        `git --git-dir="$REAL" update-ref refs/heads/autoloop/p HEAD`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := agentWorld(t, `REAL=$(dirname "$(cat .git/objects/info/alternates)")
`+attack+`
echo 4 > src/value.txt`)
			got := w.one()
			assert.Equal(t, "error", got.Outcome)
			assert.Contains(t, got.Reasons[0], "the repository itself was changed")
		})
	}
}

// TestAgentMovesAnotherBranch: without isolation that is not held, and said.
func TestAgentMovesAnotherBranch(t *testing.T) {
	t.Parallel()
	w := agentWorld(t, `REAL=$(dirname "$(cat .git/objects/info/alternates)")
for ref in heads/other tags/v1 heads/autoloop/q; do git --git-dir="$REAL" update-ref refs/$ref main; done
echo 4 > src/value.txt`)
	w.git("branch", "other")
	w.git("commit", "--quiet", "--allow-empty", "--message", "later")
	got := w.one()
	assert.Equal(t, "accepted", got.Outcome, got.Reasons)
	for _, says := range []string{
		"ref refs/heads/other moved", "ref refs/tags/v1 was added",
		"ref refs/heads/autoloop/q was added",
	} {
		assert.Contains(t, strings.Join(got.Warnings, "\n"), "changed while the agent ran: ", says)
		assert.Contains(t, strings.Join(got.Warnings, "\n"), says)
	}
}

func TestEvaluations(t *testing.T) {
	long.Only(t, long.Hostile)
	for name, c := range map[string]struct{ script, outcome, says string }{
		"prints nothing": {
			`[ "$(cat src/value.txt)" = 5 ] && echo '{"m": 5}'; true`, "rejected",
			"printed nothing",
		},
		"fails after a number": {`echo '{"m": 1}'; [ "$(cat src/value.txt)" = 5 ]`, "rejected", "exit code 1"},
		"prints NaN": {
			`[ "$(cat src/value.txt)" = 5 ] && echo '{"m": 5}' || echo '{"m": NaN}'`, "rejected",
			"NaN",
		},
		"prints infinity": {
			`[ "$(cat src/value.txt)" = 5 ] && echo '{"m": 5}' || echo '{"m": -Infinity}'`,
			"rejected", "infinity",
		},
		"prints null": {`[ "$(cat src/value.txt)" = 5 ] && echo '{"m": 5}' || echo '{"m": null, "rejected_reason": ` +
			`"overlap"}'`, "rejected", "not scored: overlap"},
		"prints 40 MB": {
			`head -c 40000000 /dev/zero | tr '\0' 'x'; echo; echo "{\"m\": $(cat src/value.txt)}"`,
			"accepted", "better",
		},
		"a daemon that hangs": {
			`(setsid sh -c 'trap "" TERM; sleep 300' &); echo "{\"m\": $(cat src/value.txt)}"`,
			"accepted", "better",
		},
		"outside the range": {
			`[ "$(cat src/value.txt)" = 5 ] && echo '{"m": 5}' || echo '{"m": -1121}'`, "rejected",
			"implausible",
		},
		"fails on both": {
			`[ -e "$SIDE/broken" ] && exit 7; touch "$SIDE/broken"; echo '{"m": 5}'`, "error",
			"unchanged files too",
		},
		"killed by itself": {
			`[ "$(cat src/value.txt)" = 5 ] && echo '{"m": 5}' || kill -9 $$`, "rejected",
			"exit code 137",
		},
		"a key that is not there": {
			`[ "$(cat src/value.txt)" = 5 ] && echo '{"m": 5}' || echo '{"n": 1}'`, "rejected",
			`no key "m"`,
		},
		"writes into its tree": {
			`echo junk > src/value2.txt; echo junk > junk; echo "{\"m\": $(cat src/value.txt)}"`,
			"accepted", "better",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := agentWorld(t, `echo 4 > src/value.txt`)
			w.write("eval.sh", c.script+"\n")
			w.frontmatter("metric-range: [0, 100]")
			w.git("commit", "--quiet", "--all", "--message", "evaluation")
			got := w.one()
			assert.Equal(t, c.outcome, got.Outcome, got.Reasons)
			assert.Contains(t, strings.Join(got.Reasons, "\n"), c.says)
			w.alone()
			if c.outcome == "accepted" {
				assert.Equal(t, "src/value.txt", w.git("diff", "--name-only", "main", "autoloop/p"))
			}
		})
	}
}

func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	w := agentWorld(t, `env > "$SIDE/agent.env"; echo 4 > src/value.txt; echo "the token is $(cat "$SIDE/secret")"`)
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "secret"), []byte("hunter2hunter2\n"), 0o600))
	w.env = append(w.env, "GITHUB_TOKEN=hunter2hunter2", "OPENAI_API_KEY=sk-abcdefgh", "MY_SETTING=x")
	w.write("eval.sh", "env > \"$SIDE/eval.env\"; cat \"$SIDE/secret\" >&2; printf '{\"m\": %s}\\n' \"$(cat "+
		"src/value.txt)\"\n")
	w.git("commit", "--quiet", "--all", "--message", "evaluation")
	require.Equal(t, "accepted", w.one().Outcome)
	for _, file := range []string{"agent.env", "eval.env"} {
		data, err := os.ReadFile(filepath.Join(w.side, file))
		require.NoError(t, err)
		for _, secret := range []string{
			"hunter2", "sk-abcdefgh", "MY_SETTING", "GIT_DIR",
			filepath.Join(filepath.Dir(w.side), "home\n"),
		} {
			assert.NotContains(t, string(data), secret, file)
		}
	}
	assert.NotContains(t, w.ledger()+w.memory("p.md")+w.git("log", "--all", "-p"), "hunter2hunter2")
}
