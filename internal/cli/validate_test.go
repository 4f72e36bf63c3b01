package cli_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// printedResult warns of an evaluation that prints its result.
const printedResult = "the evaluation's result is what is printed last, and code under test may share that output " +
	"and print another: give it as a file, with `> \"$AUTOLOOP_RESULT\"` after the command that prints it"

func TestValidateJSON(t *testing.T) {
	d := newDesk(t)
	d.write(filepath.Join(d.root, "a.go"), "package a\n")
	d.write(filepath.Join(d.root, "Makefile"), "all:\n")
	d.write(filepath.Join(d.root, "e.sh"), "echo 1\n")
	d.write(filepath.Join(d.root, ".autoloop/programs/speed.md"),
		"---\nschedule: every 6h\nmetric_direction: lower\ntarget-metric: 0.50\ncolour: blue\n---\n"+
			"## Goal\nFast.\n## Target\n`a.go`, the `Makefile` of `speed`\n\nDo NOT modify `e.sh`\n## Evaluation\n"+
			"```sh\nsh e.sh\n```\nThe metric is `ms`.\n")
	d.write(filepath.Join(d.root, ".autoloop/programs/other.md"),
		"---\nschedule: 0 3 * * *\nskill: s\n---\n## Target\n`s/`\n")
	a := d.iterate("validate", "--json")
	require.Zero(t, a.code, a.errors)
	assert.JSONEq(t, `[
	  {"file": ".autoloop/programs/other.md", "name": "other", "ok": true, "errors": [],
	   "warnings": [".autoloop/programs/other.md:6: there is no `+"`s/`"+` yet"], "unconfigured": false,
	   "schedule": "0 3 * * *", "interval_seconds": null, "cron": "0 3 * * *", "target_metric": 1, "metric_direction": "higher",
	   "metric": null, "targets": ["s/"], "protected": ["s/evals/"], "evaluation": "skill", "evaluation_script": null},
	  {"file": ".autoloop/programs/speed.md", "name": "speed", "ok": true, "errors": [],
	   "warnings": [`+strconv.Quote(printedResult)+`, ".autoloop/programs/speed.md:5: unknown key `+"`colour`"+
		` is ignored"], "unconfigured": false,
	   "schedule": "every 6h", "interval_seconds": 21600, "cron": null, "target_metric": 0.5, "metric_direction": "lower",
	   "metric": "ms", "targets": ["a.go", "Makefile"], "protected": ["e.sh"], "evaluation": "metric", "evaluation_script": "sh e.sh\n", "taken_as_prose": ["speed"]}]`, a.out)
}

func TestValidateNothing(t *testing.T) {
	d := newDesk(t).repository()
	a := d.iterate("validate")
	assert.Zero(t, a.code)
	assert.Equal(t, "no programs: make one with `iterate init NAME`\n", a.out)
	a = d.iterate("validate", "--json")
	assert.Zero(t, a.code)
	assert.Equal(t, "[]\n", a.out)
}

func TestValidateMisuse(t *testing.T) {
	d := newDesk(t)
	for says, args := range map[string][]string{
		"nowhere.md does not exist": {"validate", "nowhere.md"},
		"unknown flag":              {"validate", "--yaml"},
		"does not exist; name":      {"validate", "--programs", "nowhere"},
		"is no directory":           {"validate", "--repo-dir", "nowhere"},
	} {
		a := d.iterate(args...)
		assert.Equal(t, 2, a.code, a.errors)
		assert.Contains(t, a.errors, says)
		assert.Empty(t, a.out)
	}
}

func TestValidateShowsWhatItUnderstood(t *testing.T) {
	d := newDesk(t)
	d.write(filepath.Join(d.root, "src/a.go"), "package a\n")
	d.write(filepath.Join(d.root, "src/Makefile"), "all:\n")
	d.write(filepath.Join(d.root, ".autoloop/programs/p.md"),
		"## Target\n- `src/lib/`\n- client/server code\n\nDo NOT modify `Makefile`, and `Parser` stays. Off-limits: "+
			"`src/gen/`.\n"+
			"## Evaluation\n```\necho '\x1b[31mred' # \u202egnp.exe\n```\nIt prints\n```\n5\n```\n")
	a := d.iterate("validate")
	require.Zero(t, a.code, a.out)
	assert.Contains(t, a.out, "  never       Makefile at any depth (line 5)\n              src/gen/ (line 5)\n")
	assert.Contains(t, a.out, "taken as prose, since nothing has that name: client/server, Parser\n")
	assert.Contains(t, a.out, "  evaluation  echo 'red' # gnp.exe\n",
		"the script that will run, and nothing of the output shown")
	assert.NotContains(t, a.out, "\x1b")
	assert.NotContains(t, a.out, "\u202e")
}
