package tests

import (
	"encoding/json"
	"fmt"
	"maps"
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

// TestActionModes runs the modes one after the other, as the jobs of workflows do.
func TestActionModes(t *testing.T) {
	long.Only(t, long.TwoJobs)
	t.Parallel()
	r := newReleases(t)
	w := valuesProject(t, "metric_direction: lower", "9", "8", "8.5", "7", "6")
	w.git("mv", ".autoloop/programs", "below")
	origin := w.shared("start")
	type inputs = map[string]string
	first, second := w.side+"/handed on", w.side+"/another"
	for _, c := range []struct {
		mode string
		with inputs
		code int
		// outputs are some of those that are set, says is in the log or the summary.
		outputs inputs
		says    string
	}{
		{"iterate", nil, 2, nil, "`scheduler` first, or name a program"},
		{"propose", inputs{"PROGRAM": "p"}, 1, nil, "no start is recorded for this run"},
		{"begin", inputs{"PROGRAM": "p"}, 0, inputs{"has-work": "true", "matrix": `{"program":["p"]}`}, ""},
		{"propose", inputs{"PROGRAM": "p", "BUNDLE": first}, 0, inputs{"bundle": "true", "outcome": "accepted"}, ""},
		{
			"publish",
			inputs{"BUNDLE": first},
			0,
			inputs{"outcome": "accepted", "best-metric": "8", "bundle": ""},
			"## ✅ p, iteration 1: kept",
		},
		{
			"publish",
			inputs{"BUNDLE": first},
			1,
			inputs{"outcome": ""},
			"\n::error title=iterate::the bundle is refused: it was published before",
		},
		{"begin", inputs{"PROGRAM": "p"}, 0, nil, ""},
		{"propose", inputs{"PROGRAM": "p", "BUNDLE": second}, 0, inputs{"outcome": "rejected"}, ""},
		{
			"publish",
			inputs{"BUNDLE": second},
			0,
			inputs{"verdict": "regressed", "metric": "8.5"},
			"## ❌ p, iteration 2: not kept",
		},
		{"begin", inputs{"PROGRAM": "p"}, 0, nil, ""},
		{"publish", inputs{"PROGRAM": "p"}, 0, nil, "the start counts as no run"},
		{
			"schedule", nil, 0,
			inputs{"selected": "p", "matrix": `{"program":["p"]}`, "has-work": "true"},
			"Selected **p**",
		},
		{"iterate", inputs{"DRY_RUN": "true"}, 0, inputs{"outcome": "dry-run", "verdict": "improved"}, ""},
		{
			"iterate",
			inputs{"WORKING_DIRECTORY": w.dir, "ITERATIONS": "2"},
			0,
			inputs{"outcome": "accepted", "best-metric": "6"},
			"## ✅ p, iteration 4: kept",
		},
		{
			"iterate",
			inputs{"PROGRAM": "p", "+AUTOLOOP_PAUSED": "true"},
			0,
			inputs{"outcome": "idle"},
			"AUTOLOOP_PAUSED",
		},
		{"run", inputs{"PROGRAM": "q"}, 2, nil, `there is no program "q"`},
		{"run", inputs{"WORKING_DIRECTORY": "none"}, 2, nil, "input working-directory is no directory"},
		{"steer", inputs{"PROGRAM": "p"}, 2, nil, "are no comments to read without GitHub"},
	} {
		with := inputs{"MODE": c.mode, "PROGRAMS_DIR": "below"}
		maps.Copy(with, c.with)
		before := w.run(origin, "git", "for-each-ref")
		step := w.action(r, with)
		require.Equal(t, c.code, step.code, "%s %v: %s", c.mode, c.with, step.log)
		for name, value := range c.outputs {
			assert.Equal(t, value, step.outputs[name], "%s %v: %s", c.mode, c.with, name)
		}
		assert.Contains(t, step.log+step.summary, c.says, "%s %v", c.mode, c.with)
		if c.mode == "propose" || c.with["DRY_RUN"] != "" {
			assert.Equal(t, before, w.run(origin, "git", "for-each-ref"), "nothing is written yet")
		}
	}
	paused := w.binary("iterate", "--programs", "below", "pause", "p", "--remote", "origin")
	require.Zero(t, paused.code, paused.stderr)
	for force, work := range map[string]string{"": "false", "true": "true"} {
		begun := w.action(r, inputs{"MODE": "begin", "PROGRAM": "p", "PROGRAMS_DIR": "below", "FORCE": force})
		require.Zero(t, begun.code, begun.log)
		assert.Equal(t, work, begun.outputs["has-work"], begun.log)
	}
}

func TestActionCompares(t *testing.T) {
	t.Parallel()
	r := newReleases(t)
	w := newProject(t, map[string]string{
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
		data := readText(t, step.outputs["report"])
		require.NoError(t, json.Unmarshal([]byte(data), &report))
		assert.Equal(t, c.verdict, report.Verdict)
		assert.Contains(t, step.summary, c.verdict)
	}
	step := w.action(r, map[string]string{
		"MODE": "compare", "BASELINE": "HEAD", "CANDIDATE": "HEAD", "SUITE": "nowhere", "AGENT": "claude", "MODEL": "m",
		"BUDGET_USD": "2",
	})
	assert.Contains(t, step.log, "nowhere", "the command has every flag that it is given")
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
		"a machine that allows it": {
			"self-hosted", "", `echo 0`, "exit 1", "iterate", "Isolation: this machine allows it",
			"1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := valuesProject(t, "metric_direction: lower", "9", "8")
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
	w := newProject(t, map[string]string{
		".autoloop/programs/good.md": goodProgram,
		".autoloop/programs/bad.md":  "---\nschedule: sometimes\n---\n",
	})
	step := w.action(r, map[string]string{"MODE": "validate"})
	assert.Equal(t, 1, step.code, step.log)
	assert.Contains(t, step.log, "bad.md:2")
}

// TestActionEndsInOrder: a cancelled job hands its signal on, and waits.
func TestActionEndsInOrder(t *testing.T) {
	t.Parallel()
	r := newReleases(t)
	w := valuesProject(t, "metric_direction: lower", "9", "8", "7")
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

// outcomeOf is a file with one run of two tasks.
func outcomeOf(label string, passed int, tokens string) string {
	return fmt.Sprintf(`{"configLabel": %q, "scores": [
  {"taskId": "add-flag", "objective": {"passed": %d, "total": 4}, "judge": null, "cost": {"tokens": %s, "toolCalls": 3, "steps": 2, "wallClockMs": 900, "costUsd": 0}},
  {"taskId": "fix-bug", "objective": {"passed": 2, "total": 2}, "cost": {"tokens": 0}}
]}`, label, passed, tokens)
}
