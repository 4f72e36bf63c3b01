package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

const (
	initWorkflow = ".github/workflows/autoloop.yml"
	initTemplate = ".github/ISSUE_TEMPLATE/autoloop-program.md"
)

// TestInitNamesTheDirectoryOfPrograms holds that the workflows look where the
// programs are, now and after an upgrade.
func TestInitNamesTheDirectoryOfPrograms(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--simple=false", "--simple"} {
		w := newWorld(t, map[string]string{
			"README.md":      "mine\n",
			"loops/suite.md": "---\nevaluation: tasks\ntasks: suite\n---\n## Goal\nx\n## Target\n- `AGENTS.md`\n",
		})
		a := w.binary("iterate", "--programs", "loops/", "init", "--yes", flag)
		require.Zero(t, a.code, a.stderr)
		files, err := filepath.Glob(filepath.Join(w.dir, ".github/workflows/*.yml"))
		require.NoError(t, err)
		uses := 0
		for _, file := range files {
			for _, job := range readWorkflow(t, file).Jobs {
				for _, step := range job.Steps {
					if step.mode() != "" {
						assert.Equal(t, "loops", step.With["programs-dir"], "%s: %s", file, step.mode())
						uses++
					}
				}
			}
		}
		assert.GreaterOrEqual(t, uses, 4)
		w.actionlint()
		a = w.binary("iterate", "init", "--yes")
		assert.Contains(t, a.stdout, "there is nothing to do")
	}
	w := newWorld(t, nil)
	a := w.binary("iterate", "--programs", "../loops", "init", "--yes") // where no workflow finds it
	assert.Equal(t, 2, a.code)
	assert.Contains(t, a.stderr, "--programs ../loops is not in the")
	assert.Empty(t, w.git("status", "--porcelain"))
}

func TestInitAsksAndUpgrades(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README.md": "mine\n"})
	a := w.binary("iterate", "init")
	require.Equal(t, 2, a.code, a.stderr)
	assert.Contains(t, a.stdout, "create  "+initWorkflow)
	assert.Contains(t, a.stdout, "nothing was changed")
	assert.Empty(t, w.git("status", "--porcelain"), "nothing is written without a yes")

	require.Zero(t, w.binary("iterate", "init", "--simple", "--yes").code)
	written := w.read(initWorkflow)
	assert.Contains(t, w.binary("iterate", "init", "--yes").stdout, "there is nothing to do")

	w.write(initWorkflow, strings.Replace(written, "17 * * * *", "5 * * * *", 1))
	edited := w.read(initWorkflow)
	a = w.binary("iterate", "init", "--yes")
	assert.Contains(t, a.stdout, "keep    "+initWorkflow+" (edited")
	assert.Equal(t, edited, w.read(initWorkflow), "what a person wrote stays")

	a = w.binary("iterate", "init", "--yes", "--force", "--simple=false")
	assert.Contains(t, a.stdout, "update  "+initWorkflow)
	assert.Contains(t, w.read(initWorkflow), "needs: schedule")

	w.write(initWorkflow, written)
	a = w.binary("iterate", "init", "--yes", "--simple=false")
	assert.Contains(t, a.stdout, "update  "+initWorkflow, "what an earlier init wrote is upgraded")
}

func TestInitWritesThroughNoLink(t *testing.T) {
	t.Parallel()
	for link, what := range map[string]string{".github": "--yes", ".autoloop": "example"} {
		w := newWorld(t, map[string]string{"README.md": "mine\n"})
		require.NoError(t, os.Symlink(w.side, filepath.Join(w.dir, link)))
		a := w.binary("iterate", "init", what)
		assert.Equal(t, 1, a.code, a.stdout)
		assert.Contains(t, a.stderr, "symbolic link")
		entries, err := os.ReadDir(w.side)
		require.NoError(t, err)
		assert.Empty(t, entries)
		assert.NoFileExists(t, filepath.Join(w.dir, initTemplate))
	}
}

// TestIssueTemplateIsUnconfigured holds that an issue made of the template as
// it is never runs.
func TestIssueTemplateIsUnconfigured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	require.Zero(t, w.binary("iterate", "init", "--yes").code)
	_, body, found := strings.Cut(strings.TrimPrefix(w.read(initTemplate), "---\n"), "---\n")
	require.True(t, found)
	w.write(".autoloop/programs/form.md", body)
	a := w.binary("scheduler", "--program", "form")
	assert.Equal(t, 2, a.code, a.stdout)
	assert.Contains(t, a.stderr, "not configured yet")
}

// TestInitNamesTheCI holds that finished CI starts the workflow, whatever it is
// called.
func TestInitNamesTheCI(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--simple"}} {
		w := newWorld(t, map[string]string{
			".github/workflows/a.yml": "name: 'It''s \"fast\": {{ x }} # <b>'\non: [push, pull_request]\n" +
				"jobs: {}\n",
			".github/workflows/e.yml":          "name: ${{ github.token }}\non: push\n",
			".github/workflows/b.yaml":         "name: |\n  two\n  lines\non:\n  pull_request:\n    branches: [main]\n",
			".github/workflows/c.yml":          "on: push\n",
			".github/workflows/by-hand.yml":    "name: By hand\non: workflow_dispatch\n",
			".github/workflows/broken.yml":     "name: [\n",
			".github/workflows/autoloop-x.yml": "name: Ours\non: push\n",
			".github/workflows/notes.txt":      "name: Notes\non: push\n",
		})
		a := w.binary("iterate", append([]string{"init", "--yes"}, flags...)...)
		require.Zero(t, a.code, a.stderr)
		events, _ := readWorkflow(t, filepath.Join(w.dir, initWorkflow)).On.(map[string]any)
		assert.Equal(t, map[string]any{
			"workflows": []any{".github/workflows/c.yml", "It's \"fast\": {{ x }} # <b>", "two\nlines\n"},
			"types":     []any{"completed"},
			"branches":  []any{"autoloop/**"},
		}, events["workflow_run"])
		assert.Contains(t, w.binary("iterate", "init", "--yes").stdout, "there is nothing to do")
	}
}

func TestInitMakesLabels(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"README.md": "mine\n"})
	h.Change(func(s *githubtest.State) { s.Labels = []string{"Automation", "bug"} })
	a := h.binary("iterate", "init")
	require.Equal(t, 2, a.code, a.stderr)
	assert.Contains(t, a.stdout, "create  label autoloop-program")
	h.Change(func(s *githubtest.State) { assert.Len(t, s.Labels, 2, "nothing is made without a yes") })

	a = h.binary("iterate", "init", "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.NotContains(t, a.stdout, "gh label create")
	h.Change(func(s *githubtest.State) {
		assert.Equal(t, []string{"Automation", "bug", "autoloop-program", "autoloop-completed", "autoloop"}, s.Labels)
	})
	assert.Contains(t, h.binary("iterate", "init", "--yes").stdout, "there is nothing to do")
}

func TestInitAdoptsBranches(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	program := strings.Replace(onIssue, "agent: command", "agent: tuner", 1)
	h := newHub(t, map[string]string{
		"README.md": "mine\n", ".autoloop/programs/speed.md": program, ".autoloop/programs/two.md": program,
		".autoloop/programs/done.md": program,
	})
	const digits = "-0123456789abcdef"
	for _, branch := range []string{
		"speed" + digits, "two-aaaaaa", "two-bbbbbb", "done", "done" + digits, "gone-cafe01",
		"speed-notes",
	} {
		h.git("commit", "--quiet", "--allow-empty", "--message", branch)
		h.git("push", "--quiet", h.bare, "HEAD:refs/heads/autoloop/"+branch)
	}
	h.git("reset", "--quiet", "--hard", "origin/main")
	before := h.run(h.bare, "git", "for-each-ref")
	at := head(t, h.bare, "autoloop/speed"+digits)
	h.Change(func(s *githubtest.State) {
		s.Labels = []string{"autoloop-program", "autoloop-completed", "automation", "autoloop"}
	})
	h.Change(func(s *githubtest.State) {
		issue := s.OpenIssue("github-actions[bot]", "[Autoloop: speed]", "", time.Now())
		s.Pulls = append(s.Pulls,
			&githubtest.Pull{Number: issue.Number, Head: "autoloop/speed" + digits, Base: "main", HeadOf: "org/repo"})
	})

	a := h.binary("iterate", "init", "--adopt")
	require.Equal(t, 2, a.code, a.stderr)
	assert.Contains(t, a.stdout,
		"rename  branch autoloop/speed"+digits+
			" to autoloop/speed; its pull request #1 is closed by that, and the next gain opens another\n")
	assert.Contains(t, a.stdout, "keep    branch autoloop/done"+digits+" (autoloop/done is there already")
	assert.Contains(t, a.stdout, "autoloop/two-aaaaaa (program two has 2")
	assert.Contains(t, a.stdout, "branch autoloop/gone-cafe01 (there is")
	assert.NotContains(t, a.stdout, "speed-notes")
	assert.Equal(t, before, h.run(h.bare, "git", "for-each-ref"), "nothing is changed without a yes")

	a = h.binary("iterate", "init", "--adopt", "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, at, head(t, h.bare, "autoloop/speed"))
	assert.NotContains(t, h.run(h.bare, "git", "for-each-ref"), "speed"+digits)
}

// TestInitLetsProgramsStartCI holds that a workflow may start others when a
// program asks for it, and only then.
func TestInitLetsProgramsStartCI(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{".autoloop/programs/p.md": onIssue, "value.txt": "1\n"})
	rights := func(file, job string) any {
		permissions, _ := readWorkflow(t,
			filepath.Join(w.dir, ".github/workflows", file)).Jobs[job].Permissions.(map[string]any)
		return permissions["actions"]
	}
	require.Zero(t, w.binary("iterate", "init", "--yes").code)
	assert.Equal(t, "read", rights("autoloop-iterate.yml", "publish"))

	w.write(".autoloop/programs/p.md", strings.Replace(onIssue, "metric: m", "ci-workflow: ci.yml\nmetric: m", 1))
	a := w.binary("iterate", "init", "--yes")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, "write", rights("autoloop-iterate.yml", "publish"))
	assert.Equal(t, "write", rights("autoloop.yml", "iterate"))
	assert.Equal(t, "read", rights("autoloop-iterate.yml", "propose"), "never beside a program's code")
	assert.Equal(t, "read", rights("autoloop.yml", "steer"))
}
