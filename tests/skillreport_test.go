package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const trajectory = `iteration	timestamp	score	best_score	action	changelog
0	2025-01-15T10:30:00+00:00	0.5	0.5	baseline	Initial evaluation
1	2025-01-15T11:30:00+00:00	0.75	0.75	kept	Say it | <b>again</b>
2	2025-01-15T12:30:00+00:00	0.25	0.75	reverted	Say it less
3	2025-01-15T13:30:00+00:00		0.75	reverted	@nobody
`

// improvedWorld has skill `s` and its workspace `s-autoresearch` with a v1 that
// differs in every way that a file can.
func improvedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, map[string]string{
		"s/SKILL.md": "# s\none\ntwo\nthree\nfour\nfive\nsix\n", "s/evals/evals.json": evalSuite(2, 2),
		"s/run.sh": "#!/bin/sh\n", "s/old": "old\n",
		"s/evals/trigger-eval.json": `[{"query": "write the notes", "should_trigger": true}, {"query": ` +
			`"</script><script>alert(1)</script>", "should_trigger": false}]`,
		"s/binary": "\x00\x01\x02", "s/not \xff utf8": "caf\xe9\n", "s/keep": "kept\n",
		"s/dir/file": "x\n",
	})
	ws, skill := "s-autoresearch", filepath.Join(w.dir, "s")
	require.Zero(t, w.binary("iterate", "skill", "snapshot", "s", ws+"/v0").code)
	w.run("", "cp", "-a", skill, filepath.Join(w.dir, "next"))
	next := filepath.Join(w.dir, "next")
	w.write("next/SKILL.md", "# s\none\ntwo\nthree\nfour\nfive\nsix, better\n```\nfenced\n```\n")
	w.write("next/binary", "\x00\x01\x03")
	w.write("next/not \xff utf8", "caf\xe9s\n")
	w.write("next/new dir/\"quoted\"\n\ttext", "new\n")
	require.NoError(t, os.Remove(filepath.Join(next, "old")))
	require.NoError(t, os.Chmod(filepath.Join(next, "run.sh"), 0o755))
	require.NoError(t, os.Symlink("dir/file", filepath.Join(next, "link")))
	a := w.binary("iterate", "skill", "snapshot", "next", ws+"/v1")
	require.Zero(t, a.code, a.stderr)
	w.write(ws+"/results.tsv", trajectory)
	w.write(ws+"/iteration-0/eval-c0/grading.json", graded(2, 2))
	w.write(ws+"/iteration-0/eval-c1/grading.json", graded(0, 2))
	w.write(ws+"/iteration-1/eval-c0/grading.json", graded(1, 2))
	w.write(ws+"/iteration-1/eval-c1/grading.json", graded(2, 2))
	return w
}

func TestSkillReportAsAPage(t *testing.T) {
	t.Parallel()
	w := improvedWorld(t)
	const hostile = `</script><script>alert(1)</script>`
	w.write("s-autoresearch/iteration-1/eval-c0/grading.json", `{"expectations": [
		{"text": "expectation 0", "passed": true, "evidence": "line 3 names it"}, {"text": "expectation 1", "passed": false, "evidence": "`+hostile+`"}],
		"claims": [{"claim": "all commits were read", "type": "process", "verified": false, "evidence": "git log -5"}],
		"eval_feedback": {"suggestions": [{"assertion": "expectation 0", "reason": "a guess would pass"}], "overall": "`+hostile+`"}}`)
	for version, passed := range map[string]string{"0": "false", "1": "true"} {
		for id, label := range map[string]string{
			"trigger-1": "the skill is taken up",
			"trigger-2": "the skill is left alone",
		} {
			w.write("s-autoresearch/triggers/iteration-"+version+"/eval-"+id+"/grading.json",
				`{"expectations": [{"text": "`+label+`", "passed": `+passed+`, "evidence": "e"}]}`)
		}
	}
	a := w.binary("iterate", "log", "s-autoresearch", "--html", "report.html")
	require.Zero(t, a.code, a.stderr)
	text := w.read("report.html")
	for _, want := range []string{
		`<td class="rate4 num"><a href="#case-1-0">2/2</a></td><td class="rate2 num"><a href="#case-1-1">1/2</a></td>`,
		`<td class="rate0 num"><a href="#case-2-0">0/2</a></td><td class="rate4 num"><a href="#case-2-1">2/2</a></td>`,
		">v0</th>", ">v1</th>", "Say it | &lt;b&gt;again&lt;/b&gt;", `<span class="add">&#43;six, better`,
		`<section id="case-1-1" class="cell"><h3>v1: 1 of 2</h3>`,
		`<span class="sign">passed</span> <div><bdi>expectation 0</bdi><br><span class="quiet"><bdi>line 3 names ` +
			`it</bdi>`,
		`<span class="sign">failed</span> <div><bdi>expectation 1</bdi>`,
		`<span class="sign">not true</span> <div><bdi>all commits were read</bdi><br><span class="quiet"><bdi>git ` +
			`log -5</bdi>`,
		"<bdi>expectation 0: a guess would pass</bdi>",
		`<bdi>write the notes</bdi></th><td>used</td><td class="rate0">wrong</td><td class="rate4">right</td>`,
		"<td>0 of 2</td><td>2 of 2</td>", "What to do: <strong>investigate</strong>",
	} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "<script")
	assert.NotContains(t, text, "<b>")
}

func TestSkillReport(t *testing.T) {
	t.Parallel()
	w := improvedWorld(t)
	a := w.binary("iterate", "log", "s-autoresearch", "--json")
	require.Zero(t, a.code, a.stderr)
	var got struct {
		Class, Gain, Recommendation string
		Start, Best                 float64
		BestVersion                 int `json:"best_version"`
		Kept, Reverted              int
		RegressedCases              []string                      `json:"regressed_cases"`
		Failures                    []struct{ Case, Text string } `json:"remaining_failures"`
		Changes                     []struct {
			Path, What, Mode string
			Binary           bool
		}
		Trajectory []struct{ Score *float64 }
	}
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &got))
	assert.Equal(t, "plateau", got.Class)
	assert.Equal(t, "+0.25", got.Gain)
	assert.Equal(t, "investigate", got.Recommendation, "a case was lost")
	assert.Equal(t, []string{"c0"}, got.RegressedCases)
	assert.Equal(t, 1, got.BestVersion)
	assert.Equal(t, []int{1, 2}, []int{got.Kept, got.Reverted})
	require.Len(t, got.Failures, 1)
	assert.Equal(t, "expectation 1", got.Failures[0].Text)
	require.Len(t, got.Trajectory, 4)
	assert.Nil(t, got.Trajectory[3].Score)
	changes := map[string]string{}
	for _, c := range got.Changes {
		changes[c.Path] = c.What + c.Mode
		assert.Equal(t, c.Path == "binary", c.Binary, c.Path)
	}
	assert.Equal(t, map[string]string{
		"SKILL.md": "changed", "binary": "changed", `"not \xff utf8"`: "changed", "new dir": "added",
		`"new dir/\"quoted\"\n\ttext"`: "added",
		"old":                          "deleted", "run.sh": "mode0644 -> 0755", "link": "added",
	}, changes)

	a = w.binary("iterate", "log", "s-autoresearch")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "# s: plateau\n")
	assert.Contains(t, a.stdout, "- mode run.sh (mode 0644 -> 0755)")
	assert.Contains(t, a.stdout, "````diff\n")
	assert.NotContains(t, a.stdout, "<b>")
}
