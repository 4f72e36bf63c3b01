package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// compatDirectory is a directory as callers of the original scheduler have it: no
// repository, a token, and the name of a repository that cannot be.
func compatDirectory(t *testing.T) *directory {
	t.Helper()
	d := newDirectory(t)
	d.vars["GITHUB_TOKEN"], d.vars["GITHUB_REPOSITORY"] = "dummy", "bogus.invalid/x"
	return d
}

func (d *directory) compatProgram(name string) {
	d.write(filepath.Join(d.root, ".autoloop/programs", name+".md"),
		"---\nschedule: every 6h\n---\n\n# "+name+
			"\n\n## Goal\nMake it better.\n\n## Target\n- a.py\n\n## Evaluation\n```bash\npython measure.py\n```\n\n"+
			"The metric is `points`. Higher is better.\n")
}

const dash = "| Best Metric | — |\n| Target Metric | — |\n| Completed Reason | — |\n| Recent Statuses | — |\n"

func TestCompatScenarios(t *testing.T) {
	old, newer := "| Last Run | 2025-02-01T00:00:00Z |\n"+dash, "| Last Run | 2025-02-09T00:00:00Z |\n"+dash
	const paused = "| Paused | true |\n| Pause Reason | by hand |\n"
	skipped := func(name, reason string) any { return map[string]any{"name": name, "reason": reason, "next_due": nil} }
	for name, c := range map[string]struct {
		states            map[string]string // of the programs a and b, or nil
		forced            string
		code              int
		selected          any
		deferred, skipped []any
		says              []string
	}{
		"the most overdue": {
			map[string]string{"a": newer, "b": old},
			"", 0, "b",
			[]any{"a"},
			[]any{},
			[]string{"  b: last_run=2025-02-01T00:00:00Z, iteration_count=0\n", "Deferred (next run):   ['a']\n"},
		},
		"never run comes first": {
			map[string]string{"a": old},
			"", 0, "b",
			[]any{"a"},
			[]any{},
			[]string{"  b: no state file found (first run)\n", "  b: no state found (first run)\n"},
		},
		"forced though paused": {
			map[string]string{"a": paused, "b": old},
			"a", 0, "a",
			[]any{"b"},
			[]any{skipped("a", "paused: by hand")},
			[]string{"FORCED: running program 'a' (manual dispatch)\n"},
		},
		"forced and not there": {
			nil, "c", 1, nil,
			[]any{"a", "b"},
			[]any{},
			[]string{"ERROR: requested program 'c' not found. Available programs: ['a', 'b']\n"},
		},
		"paused": {
			map[string]string{"a": paused, "b": "| Completed | true |\n"},
			"", 1, nil,
			[]any{},
			[]any{skipped("a", "paused: by hand"), skipped("b", "completed: target metric reached")},
			[]string{"\nNo programs due this run. Exiting early.\n", "Programs skipped:      ['a', 'b']\n"},
		},
		"the head of the branch": {
			nil, "", 0, "a", []any{"b"}, []any{}, []string{"Selected program:      a (.autoloop/programs/a.md)\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := compatDirectory(t)
			d.compatProgram("a")
			d.compatProgram("b")
			for program, rows := range c.states {
				d.state(program, rows)
			}
			d.vars["AUTOLOOP_PROGRAM"] = c.forced
			a := d.run("--compat")
			assert.Equal(t, c.code, a.code, a.out+a.errors)
			assert.Contains(t, a.out, "could not fetch issue-based programs:")
			for _, says := range c.says {
				assert.Contains(t, a.out, says)
			}
			plan := d.plan()
			assert.Equal(t, c.selected, plan["selected"])
			assert.Equal(t, c.deferred, plan["deferred"])
			assert.Equal(t, c.skipped, plan["skipped"])
			assert.Nil(t, plan["existing_pr"])
			if c.selected == nil {
				assert.Nil(t, plan["head_branch"])
				assert.Equal(t, "higher", plan["selected_metric_direction"])
			} else {
				assert.Equal(t, fmt.Sprintf("autoloop/%v", c.selected), plan["head_branch"])
			}
		})
	}
}

func TestCompatWithoutPrograms(t *testing.T) {
	d := compatDirectory(t)
	a := d.run("--compat")
	require.Zero(t, a.code, a.errors)
	assert.Contains(
		t,
		a.out,
		"BOOTSTRAPPED: created .autoloop/programs/example.md locally (agent will create a draft PR)\n",
	)
	assert.NotContains(t, a.out, "  example: ", "the state of a program that is not configured is not looked at")
	assert.Equal(t, []any{"example"}, d.plan()["unconfigured"])
	assert.Nil(t, d.plan()["selected"])
	require.NoError(t, os.Remove(filepath.Join(d.root, ".autoloop/programs/example.md")))
	a = d.run("--compat")
	assert.Zero(t, a.code)
	assert.Contains(t, a.out, "NO_PROGRAMS_FOUND\n")
}

func TestImpossibleRepositoryNameIsError(t *testing.T) {
	d := compatDirectory(t)
	d.initialized()
	d.compatProgram("a")
	assert.Zero(t, d.iterate("validate").code, "a look at files asks nobody")
	assert.Zero(t, d.iterate("validate", "--keys").code)
	assert.Zero(t, d.iterate("init", "fresh").code)
	a := d.run()
	assert.Zero(t, a.code, "programs of files run without GitHub")
	assert.Contains(t, a.errors, "bogus.invalid/x")
	a = d.run("--repo", "bogus.invalid/x")
	assert.Equal(t, 2, a.code, "it was asked for by name")
	assert.Zero(t, d.run("--local").code)
}
