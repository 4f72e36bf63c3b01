package tests

import (
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

func TestActionProposesAndPublishes(t *testing.T) {
	long.Only(t, long.TwoJobs)
	t.Parallel()
	r := newReleases(t)
	w := valuesWorld(t, "metric_direction: lower", "9", "8", "8.5")
	origin := w.shared("start")
	dir := filepath.Join(w.side, "handed on")
	early := w.action(r, map[string]string{"MODE": "propose", "PROGRAM": "p", "BUNDLE": dir})
	assert.Equal(t, 1, early.code)
	assert.Contains(t, early.log, "no start is recorded for this run", "an agent would leave no trace")
	begun := w.action(r, map[string]string{"MODE": "begin", "PROGRAM": "p"})
	require.Zero(t, begun.code, begun.log)
	assert.JSONEq(t, `{"program":["p"]}`, begun.outputs["matrix"])
	assert.Equal(t, "true", begun.outputs["has-work"])
	proposed := w.action(r, map[string]string{"MODE": "propose", "PROGRAM": "p", "BUNDLE": dir})
	require.Zero(t, proposed.code, proposed.log)
	assert.Equal(t, "true", proposed.outputs["bundle"])
	assert.Equal(t, "accepted", proposed.outputs["outcome"])
	assert.Empty(t, w.run(origin, "git", "branch", "--list", "autoloop/*"), "nothing is written yet")

	published := w.action(r, map[string]string{"MODE": "publish", "PROGRAM": "p", "BUNDLE": dir})
	require.Zero(t, published.code, published.log)
	delete(proposed.outputs, "bundle")
	delete(proposed.outputs, "best-metric")
	for name, value := range proposed.outputs {
		assert.Equal(t, value, published.outputs[name], name)
	}
	assert.Equal(t, "8", published.outputs["best-metric"])
	assert.NotContains(t, published.outputs, "bundle")
	assert.Equal(t, "8", w.run(origin, "git", "show", "autoloop/p:value.txt"))
	assert.Contains(t, published.summary, "## ✅ p, iteration 1: kept")

	again := w.action(r, map[string]string{"MODE": "publish", "PROGRAM": "p", "BUNDLE": dir})
	assert.Equal(t, 1, again.code, again.log)
	require.Len(t, again.annotations(), 1)
	assert.True(t, strings.HasPrefix(again.annotations()[0],
		"::error title=iterate::the bundle is refused: it was published before"), again.log)
	assert.Empty(t, again.outputs["outcome"])

	require.Zero(t, w.action(r, map[string]string{"MODE": "begin", "PROGRAM": "p"}).code)
	rejected := w.action(r, map[string]string{"MODE": "propose", "PROGRAM": "p"})
	require.Zero(t, rejected.code, rejected.log)
	assert.Equal(t, "rejected", rejected.outputs["outcome"])
	assert.DirExists(t, filepath.Join(w.side, "autoloop", "bundle"), "where publish looks for it")
	published = w.action(r, map[string]string{"MODE": "publish"})
	require.Zero(t, published.code, published.log)
	assert.Equal(t, "regressed", published.outputs["verdict"])
	assert.Equal(t, "8.5", published.outputs["metric"])
	assert.Contains(t, published.summary, "## ❌ p, iteration 2: not kept")

	require.Zero(t, w.action(r, map[string]string{"MODE": "begin", "PROGRAM": "p"}).code)
	require.NoError(t, os.RemoveAll(filepath.Join(w.side, "autoloop", "bundle")))
	back := w.action(r, map[string]string{"MODE": "publish", "PROGRAM": "p"})
	require.Zero(t, back.code, back.log)
	assert.Contains(t, back.log, "the start counts as no run")
	paused := w.binary("iterate", "pause", "p", "--remote", "origin")
	require.Zero(t, paused.code, paused.stderr)
	begun = w.action(r, map[string]string{"MODE": "begin", "PROGRAM": "p"})
	require.Zero(t, begun.code, begun.log)
	assert.Equal(t, "false", begun.outputs["has-work"])
	assert.Contains(t, begun.log, "p: does not begin: paused: ")
	begun = w.action(r, map[string]string{"MODE": "begin", "PROGRAM": "p", "FORCE": "true"})
	require.Zero(t, begun.code, begun.log)
	assert.Equal(t, "true", begun.outputs["has-work"])
}

func TestActionIteratesWhatWasScheduled(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	r := newReleases(t)
	w := valuesWorld(t, "metric_direction: lower", "9", "8", "7")
	w.git("mv", ".autoloop/programs", "below")
	origin := w.shared("start")
	alone := w.action(r, map[string]string{"MODE": "iterate", "PROGRAMS_DIR": "below"})
	assert.Equal(t, 2, alone.code, alone.log)
	assert.Contains(t, alone.log, "run `scheduler` first, or name a program with --program")
	step := w.action(r, map[string]string{"MODE": "schedule", "PROGRAMS_DIR": "below"})
	require.Zero(t, step.code, step.log)
	dry := w.action(r, map[string]string{"MODE": "iterate", "PROGRAMS_DIR": "below", "DRY_RUN": "true"})
	require.Zero(t, dry.code, dry.log)
	assert.Equal(t, "dry-run", dry.outputs["outcome"])
	assert.Equal(t, "improved", dry.outputs["verdict"])
	assert.Empty(t, w.run(origin, "git", "branch", "--list", "autoloop/*"))
	step = w.action(r, map[string]string{"MODE": "iterate", "PROGRAMS_DIR": "below", "WORKING_DIRECTORY": w.dir})
	require.Zero(t, step.code, step.log)
	assert.Equal(t, "accepted", step.outputs["outcome"])

	paused := w.action(r, map[string]string{
		"MODE": "iterate", "PROGRAM": "p", "PROGRAMS_DIR": "below",
		"+AUTOLOOP_PAUSED": "true",
	})
	require.Zero(t, paused.code, paused.log)
	assert.Equal(t, "idle", paused.outputs["outcome"])
	assert.Contains(t, paused.summary, "AUTOLOOP_PAUSED")
	nowhere := w.action(r, map[string]string{"WORKING_DIRECTORY": "none"})
	assert.Equal(t, 2, nowhere.code)
	assert.Contains(t, nowhere.log, "::error title=Autoloop::the input working-directory is no directory")
	unknown := w.action(r, map[string]string{"PROGRAM": "q"})
	assert.Equal(t, 2, unknown.code)
	assert.Len(t, unknown.annotations(), 1)
}

func TestActionCompares(t *testing.T) {
	t.Parallel()
	r := newReleases(t)
	w := newWorld(t, map[string]string{
		"main.json": outcomeOf("main", 2, "0"), "pr.json": outcomeOf("pr", 4, "0"),
		".autoloop/programs/strict.md": "---\ntasks: tasks\nmin-composite-gain: 0.9\n---\n## Goal\nx\n## Target\n" +
			"`AGENTS.md`\n",
	})
	for name, c := range map[string]struct {
		baseline, candidate, program, verdict string
		code                                  int
	}{
		"improved":  {"main.json", "pr.json", "", "improved", 0},
		"neutral":   {"main.json", "pr.json", "strict", "neutral", 0},
		"regressed": {"pr.json", "main.json", "", "regressed", 1},
	} {
		step := w.action(r, map[string]string{
			"MODE": "compare", "BASELINE": c.baseline, "CANDIDATE": c.candidate,
			"PROGRAM": c.program,
		})
		assert.Equal(t, c.code, step.code, "%s: %s", name, step.log)
		assert.Equal(t, c.verdict, step.outputs["verdict"], name)
		var report struct{ Verdict string }
		data, err := os.ReadFile(step.outputs["report"])
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &report))
		assert.Equal(t, c.verdict, report.Verdict)
		assert.Contains(t, step.summary, c.verdict)
	}
	step := w.action(r, map[string]string{
		"MODE": "compare", "BASELINE": "main.json", "CANDIDATE": "pr.json",
		"PROGRAM": "none",
	})
	assert.Equal(t, 2, step.code, step.log)
	assert.Len(t, step.annotations(), 1)
}

// TestActionMakesIsolationPossible has a sysctl and a sudo that note what is
// asked of them.
func TestActionMakesIsolationPossible(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	r := newReleases(t)
	const forbidden = `echo "$*" >>"$SIDE/asked"; if [ "$1" = -n ]; then cat "$SIDE/userns"; else echo 0 ` +
		`>"$SIDE/userns"; fi`
	for name, c := range map[string]struct {
		runner, isolation, sysctl, sudo, mode string
		says, now                             string
	}{
		"GitHub's runner": {
			"github-hosted", "", forbidden, `shift; "$@"`, "iterate",
			"Isolation: allowed for this job (kernel.apparmor_restrict_unprivileged_userns=0)", "0",
		},
		"without sudo": {
			"github-hosted", "", forbidden, "exit 1", "iterate",
			"Isolation: this machine forbids it, and sudo may not change that", "1",
		},
		"somebody's machine": {
			"self-hosted", "", forbidden, `shift; "$@"`, "iterate",
			"is not GitHub's: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0 allows it", "1",
		},
		"isolation is not wanted": {"github-hosted", "off", forbidden, `shift; "$@"`, "iterate", "", "1"},
		"another kernel":          {"github-hosted", "", "exit 255", `shift; "$@"`, "iterate", "", "1"},
		"a job without a program": {"github-hosted", "", forbidden, `shift; "$@"`, "schedule", "", "1"},
		"a machine that allows it": {
			"self-hosted", "", `echo 0`, "exit 1", "iterate", "Isolation: this machine allows it",
			"1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := valuesWorld(t, "metric_direction: lower", "9", "8")
			w.shared("start")
			w.aside("userns", "1")
			tools := t.TempDir()
			for tool, script := range map[string]string{"sysctl": c.sysctl, "sudo": c.sudo} {
				require.NoError(t, os.WriteFile(filepath.Join(tools, tool),
					[]byte("#!/bin/sh\nSIDE='"+w.side+"'\n"+script+"\n"),
					0o700)) //nolint:gosec // it is run
			}
			step := w.action(r, map[string]string{
				"MODE": c.mode, "PROGRAM": "p", "+PATH": tools + ":" + os.Getenv("PATH"),
				"+RUNNER_ENVIRONMENT": c.runner,
				"+AUTOLOOP_ISOLATION": c.isolation,
			})
			require.Zero(t, step.code, step.log)
			if c.says == "" {
				assert.NotContains(t, step.log, "Isolation:")
			} else {
				assert.Contains(t, step.log, c.says+"\n")
				assert.Equal(t, 1, strings.Count(step.log, "Isolation:"), "one line")
			}
			assert.Equal(t, c.now, strings.TrimSpace(w.beside("userns")))
		})
	}
}

func TestActionValidates(t *testing.T) {
	t.Parallel()
	r := newReleases(t)
	w := newWorld(t, map[string]string{
		".autoloop/programs/good.md": goodProgram,
		".autoloop/programs/bad.md":  "---\nschedule: sometimes\n---\n",
	})
	step := w.action(r, map[string]string{"MODE": "validate"})
	assert.Equal(t, 1, step.code, step.log)
	assert.Contains(t, step.log, "bad.md:2")
	step = w.action(r, map[string]string{"MODE": "steer", "PROGRAM": "good"})
	assert.Equal(t, 2, step.code)
	assert.Contains(t, step.log, "there are no comments to read without GitHub")
}

// TestActionEndsInOrder: a cancelled job hands its signal on, and waits.
func TestActionEndsInOrder(t *testing.T) {
	t.Parallel()
	r := newReleases(t)
	w := valuesWorld(t, "metric_direction: lower", "9", "8", "7")
	w.write(".autoloop/programs/p.md",
		strings.Replace(w.read(".autoloop/programs/p.md"), "agent-command: ",
			"agent-command: touch \"$SIDE/begun\"; sleep 600; ", 1))
	w.shared("start")
	step := w.script(r, "get", map[string]string{"MODE": "iterate", "PROGRAM": "p"})
	require.Zero(t, step.code, step.log)
	// A shell cannot trap what was ignored when it began, as in a background job; what is
	// caught here is at its default there.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT)
	defer signal.Stop(caught)
	cmd := exec.CommandContext(t.Context(), "bash", "../workflows/action.sh", "run")
	cmd.Env = append(w.actionEnv(r, map[string]string{"MODE": "iterate", "PROGRAM": "p"}),
		"GITHUB_OUTPUT="+filepath.Join(w.side, "out"))
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(w.side, "begun")); return err == nil },
		5*time.Minute, 10*time.Millisecond)
	begun := time.Now()
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	require.Error(t, cmd.Wait())
	assert.Less(t, time.Since(begun), 5*time.Minute)
	assert.Contains(t, log.String(), "::endgroup::", "it went on to its own end: %s", log.String())
}
