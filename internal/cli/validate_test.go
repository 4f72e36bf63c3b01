package cli_test

import (
	"encoding/json"
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

func TestValidateText(t *testing.T) {
	d := newDesk(t)
	d.write(filepath.Join(d.root, "a.go"), "package a\n")
	d.program("good", "schedule: daily\ntarget-metric: 3")
	d.write(filepath.Join(d.root, ".autoloop/programs/todo.md"), "## Goal\nTODO: say what\n")
	a := d.iterate("validate")
	require.Zero(t, a.code, a.out)
	assert.Equal(t, ".autoloop/programs/good.md: ok\n  warning: "+printedResult+"\n"+
		"  schedule    daily\n  metric      the only number, higher is better, completed at 3\n"+
		"  may change  a.go (line 8)\n  evaluation  echo 1\n"+
		".autoloop/programs/todo.md: not configured yet: fill in line 2\n", a.out)
}

func TestValidateErrors(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"frontmatter": {
			"---\nschedule: never\n---\n## Target\n`a.go`\n",
			"error: .autoloop/programs/p.md:2: `schedule`: \"never\" is no schedule",
		},
		"no target": {"## Evaluation\n```\necho 1\n```\n", "error: .autoloop/programs/p.md: no target: "},
		"only prose": {
			"## Target\nThe `speed` of it\n## Evaluation\n```\necho 1\n```\n",
			"error: .autoloop/programs/p.md: no target: ",
		},
		"no evaluation":     {"## Target\n`a.go`\n", "error: .autoloop/programs/p.md: no evaluation: "},
		"no target of task": {"---\ntasks: t\n---\n", "error: .autoloop/programs/p.md: no target: "},
		"nothing may change": {
			"## Target\n`src/*.go`\n\nDo NOT modify `src/`\n## Evaluation\n```\necho 1\n```\n",
			"error: .autoloop/programs/p.md: nothing may change: ",
		},
		"unclear list": {
			"## Target\n- `a.go`\n\nHelpers\n\n- `b.go`\n## Evaluation\n```\necho 1\n```\n",
			"error: .autoloop/programs/p.md:6: this list does not say",
		},
		"no command": {
			"---\nagent: command\n---\n## Target\n`a.go`\n## Evaluation\n```\necho 1\n```\n",
			"error: .autoloop/programs/p.md: `agent: command` has no command",
		},
		"gate": {
			"---\nci-gate: required\n---\n## Target\n`a.go`\n## Evaluation\n```\necho 1\n```\n",
			"error: .autoloop/programs/p.md: `ci-gate: required` needs the repository on GitHub",
		},
		"contradiction": {
			"## Target\n`a.go`\n## Evaluation\nLower is better.\n```\necho 1\n```\n",
			"error: .autoloop/programs/p.md:4: the text says",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.program("good", "schedule: daily")
			d.write(filepath.Join(d.root, ".autoloop/programs/p.md"), c.text)
			a := d.iterate("validate")
			assert.Equal(t, 1, a.code)
			assert.Contains(t, a.out, ".autoloop/programs/good.md: ok\n")
			assert.Contains(t, a.out, ".autoloop/programs/p.md: does not run\n  "+c.says)
			assert.Empty(t, a.errors)
			a = d.iterate("validate", "--json", ".autoloop/programs/p.md")
			assert.Equal(t, 1, a.code)
			var list []struct {
				OK     bool
				Errors []string
			}
			require.NoError(t, json.Unmarshal([]byte(a.out), &list))
			require.Len(t, list, 1)
			assert.False(t, list[0].OK)
			assert.Len(t, list[0].Errors, 1)
		})
	}
}

func TestValidateTargetsThatMatchNothing(t *testing.T) {
	d := newDesk(t)
	d.write(filepath.Join(d.root, "src/a.go"), "package a\n")
	d.write(filepath.Join(d.root, ".autoloop/programs/p.md"),
		"---\ntarget: [src, src/a.go, src/a.go/, new.go, '*.md']\n---\n## Evaluation\n```\necho 1\n```\n")
	a := d.iterate("validate")
	assert.Zero(t, a.code, a.out)
	assert.Contains(t, a.out, ":2: target `src` is a directory; write it with a slash")
	assert.Contains(t, a.out, ":2: target `src/a.go/` is no directory")
	assert.Contains(t, a.out, ":2: there is no `new.go` yet")
	assert.NotContains(t, a.out, "`*.md`")
	assert.NotContains(t, a.out, "`src/a.go` ")
}

// TestValidateNamesWhatStaysClosed: what a sentence cannot open is a warning, and not among
// the files that may change.
func TestValidateNamesWhatStaysClosed(t *testing.T) {
	d := newDesk(t)
	d.write(filepath.Join(d.root, "a.go"), "package a\n")
	d.write(filepath.Join(d.root, ".autoloop/programs/p.md"),
		"## Target\n- `a.go`\n\nYou may also modify `.github/workflows/x.yml`.\n## Evaluation\n```\necho 1\n```\n")
	a := d.iterate("validate")
	assert.Zero(t, a.code, a.out)
	assert.Contains(t, a.out, ":4: `.github/workflows/x.yml` is automation of the repository")
	assert.Contains(t, a.out, "  may change  a.go (line 2)\n")
}

func TestValidateFiles(t *testing.T) {
	d := newDesk(t)
	d.program("a", "")
	d.program("b", "")
	a := d.iterate("validate", ".autoloop/programs/b.md", filepath.Join(d.root, ".autoloop/programs/a.md"))
	assert.Zero(t, a.code, a.out)
	assert.Regexp(t, `(?s)^\.autoloop/programs/b\.md: ok.*\.autoloop/programs/a\.md: ok`, a.out)
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
