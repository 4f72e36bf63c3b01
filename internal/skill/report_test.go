package skill_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/tests/golden"
)

// improved is a loop of v0, v1 and a candidate that was reverted, with gradings.
func improved(t *testing.T) *skillLoop {
	t.Helper()
	k := newSkillLoop(t, "4 2 0")
	k.says["better"], k.says["worse"] = []string{"3 4 2"}, []string{"4 0 -"}
	k.loop.Most, k.loop.Improver = 2, k.texts("better", "worse")
	_, err := k.run()
	require.NoError(t, err)
	require.Equal(t, "bkr", k.actions())
	return k
}

func TestPageHasEveryGradedIteration(t *testing.T) {
	t.Parallel()
	k := improved(t)
	k.write(k.Workspace.Iteration(0), "eval-2/grading.json",
		`{"expectations": [{"text": "a", "passed": true}], "eval_feedback": {"suggestions": ["check more"], `+
			`"overall": "good"}}`)
	k.write(k.Workspace.Iteration(1), "eval-2/grading.json",
		`{"expectations": [{"text": "a", "passed": true}], "eval_feedback": {"suggestions": ["check more", "and `+
			`less"]}}`)
	// an iteration that was never graded, such as one that proposed nothing
	require.NoError(t, k.Workspace.Append(results.Row{
		Iteration: 3, Action: results.Reverted,
		Changelog: "no change proposed",
	}))
	v := k.versions()
	r, _, err := v.Report(t.Context(), skill.BestVersion)
	require.NoError(t, err)
	shown, err := v.Page(t.Context(), r)
	require.NoError(t, err)
	var columns []string
	for _, column := range shown.Columns {
		graded := 0
		for _, c := range column.Cases {
			graded += min(1, len(c.Gradings))
		}
		columns = append(columns, fmt.Sprintf("%s %d of 3 graded", column.Name(), graded))
		assert.Len(t, column.Cases, 3)
	}
	assert.Equal(t, []string{"v0 3 of 3 graded", "v1 3 of 3 graded", "2 2 of 3 graded"}, columns)
	assert.Equal(t, map[string][]string{"2": {"check more", "good", "and less"}}, shown.Feedback, "each thing once")
	assert.Empty(t, shown.Queries)
}

func TestScoreOfEveryIteration(t *testing.T) {
	t.Parallel()
	k := improved(t)
	for n, c := range map[int]struct{ score, last string }{
		0: {"0.5", "score 0.5"}, 1: {"0.75", "score 0.75"}, 2: {"0.333333333333", "score 0.333333"},
	} {
		scored, err := k.versions().Score(t.Context(), n)
		require.NoError(t, err)
		assert.Equal(t, c.score, scored.Score.String(), "iteration %d", n)
		assert.Equal(t, []skill.ScoredRun{{Dir: ".", Score: scored.Score}}, scored.Runs)
		lines := strings.Split(strings.TrimSpace(scored.String()), "\n")
		assert.True(t, strings.HasPrefix(lines[len(lines)-1], c.last[:8]), lines[len(lines)-1])
	}
	scored, err := k.versions().Score(t.Context(), 2)
	require.NoError(t, err)
	require.NotNil(t, scored.Cases[2].Problem)
	assert.Equal(t, "there is no eval-3/grading.json", *scored.Cases[2].Problem)
	assert.Nil(t, scored.Cases[0].Problem)
	assert.Equal(t, []int{4}, scored.Cases[0].Runs)
}

// triggered is a workspace whose suite has three queries, with what they came to for
// each version: "+" is right, "-" wrong, "." not graded.
func triggered(t *testing.T, versions map[int]string) *skillLoop {
	t.Helper()
	k := newSkillLoop(t, "4 2 0")
	require.NoError(t, files.RemoveAll(k.Workspace.Dir))
	k.write(k.dir, "evals/trigger-eval.json",
		`[{"query": "say it", "should_trigger": true}, {"query": "what time is it", "should_trigger": false}, `+
			`{"query": "say more", "should_trigger": true}]`)
	var err error
	k.Workspace, err = workspace.Create(t.Context(), k.Workspace.Dir, k.dir)
	require.NoError(t, err)
	k.says["better"], k.says["worse"] = []string{"4 4 0"}, []string{"0 0 0"}
	k.loop.Workspace, k.loop.Most, k.loop.Improver = k.Workspace, 2, k.texts("better", "worse")
	_, err = k.run()
	require.NoError(t, err)
	labels := []string{"the skill is taken up", "the skill is left alone", "the skill is taken up"}
	for version, signs := range versions {
		require.NoError(t, os.MkdirAll(filepath.Join(k.Workspace.Iteration(version), "triggers"), 0o755))
		for i, sign := range signs {
			if sign != '.' {
				k.write(filepath.Join(k.Workspace.Dir, "triggers", filepath.Base(k.Workspace.Iteration(version))),
					fmt.Sprintf("eval-trigger-%d/grading.json", i+1),
					fmt.Sprintf(`{"expectations": [{"text": %q, "passed": %v, "evidence": "seen", "source": `+
						`"deterministic"}]}`, labels[i], sign == '+'))
			}
		}
	}
	return k
}

func TestTriggersOfTheVersions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		versions map[int]string
		figures  []string
		// the last figure's
		queries []page.Query
		note    bool
	}{
		"none was run": {nil, nil, nil, false},
		"the original": {
			map[int]string{0: "+-+"},
			[]string{"v0 2 of 3"},
			[]page.Query{
				{Text: "say it", Should: true, Right: []bool{true}},
				{Text: "what time is it", Right: []bool{false}},
				{Text: "say more", Should: true, Right: []bool{true}},
			},
			false,
		},
		"and the best": {
			map[int]string{0: "+++", 1: "-+."},
			[]string{"v0 3 of 3", "v1 1 of 3"},
			[]page.Query{
				{Text: "say it", Should: true, Right: []bool{true, false}},
				{Text: "what time is it", Right: []bool{true, true}},
				{Text: "say more", Should: true, Right: []bool{true, false}},
			},
			true,
		},
		"not of what was reverted": {map[int]string{2: "+++"}, nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := triggered(t, c.versions)
			r, _, err := k.versions().Report(t.Context(), skill.BestVersion)
			require.NoError(t, err)
			var figures, failed []string
			for _, f := range r.Triggers {
				figures, failed = append(figures, fmt.Sprintf("v%d %d of %d", f.Version, f.Right, f.Total)), nil
				for _, one := range f.Failures {
					failed = append(failed, fmt.Sprintf("%s %s (%s)", one.Case, one.Text, one.Evidence))
				}
			}
			assert.Equal(t, c.figures, figures)
			golden.Line(t, strings.Join(failed, ", "))
			assert.Equal(t, c.note, strings.Contains(strings.Join(r.Notes, "\n"),
				"agents take up v1 when they should, and leave it when not, less often"))
			shown, err := k.versions().Page(t.Context(), r)
			require.NoError(t, err)
			assert.Equal(t, c.queries, shown.Queries)
		})
	}
}

// TestSuiteStaysSame has what happens to the suite of a workspace's v0.
func TestSuiteStaysSame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change       func(k *skillLoop, v0 string)
		warns, fails string
	}{
		"as it was": {func(*skillLoop, string) {}, "", ""},
		"another text": {
			func(k *skillLoop, v0 string) { k.write(v0, evals.File, "[]") }, "",
			`"evals/evals.json" is not what its`,
		},
		"all of it": {func(k *skillLoop,
			v0 string,
		) {
			require.NoError(k.t, files.RemoveAll(filepath.Join(v0, "evals")))
		}, "", "cannot be read: "},
		"beside it": {func(k *skillLoop, v0 string) { k.write(v0, "SKILL.md", front+"mine") }, "", ""},
		"no manifest": {
			func(k *skillLoop, v0 string) { require.NoError(k.t, os.Remove(workspace.ManifestFile(v0))) }, "",
			"has no manifest",
		},
		"another's v0": {func(k *skillLoop, v0 string) {
			k.Workspace.SuiteHash = ""
			require.NoError(k.t, os.Remove(workspace.ManifestFile(v0)))
		}, "says that its suite is the one it began", ""},
		"taken of others": {
			func(k *skillLoop, _ string) { k.Workspace.SuiteHash = strings.Repeat("0", 64) }, "",
			"is not that of manifest.json: its cases",
		},
		"unusable": {func(k *skillLoop, v0 string) {
			k.Workspace.SuiteHash = ""
			require.NoError(k.t, os.Remove(workspace.ManifestFile(v0)))
			k.write(v0, evals.File, "[]")
		}, "has no manifest", "with --fresh: evals/evals.json:1: has"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newSkillLoop(t, "4 2 0")
			v0 := k.Workspace.Version(0)
			for _, name := range []string{"", "SKILL.md", "evals", evals.File} {
				require.NoError(t, os.Chmod(filepath.Join(v0, name), 0o755))
			}
			c.change(k, v0)
			v, said := k.versions(), &bytes.Buffer{}
			v.Err = said
			suite, err := v.Suite(t.Context())
			if c.warns == "" {
				assert.Empty(t, said.String())
			}
			assert.Contains(t, said.String(), c.warns)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			assert.Len(t, suite.Evals.Cases, 3)
		})
	}
}

func TestValidateSaysFileAndLine(t *testing.T) {
	t.Parallel()
	const skillMD = "---\nname: s\n---\n"
	one := func(more string) string {
		return "[\n{\"id\": 1, \"prompt\": \"p\", \"expectations\": [\"x\"]" + more + "}]"
	}
	for name, c := range map[string]struct {
		files  map[string]string
		errors []string
		says   string
	}{
		"a suite": {
			map[string]string{"SKILL.md": skillMD, evals.File: one("")},
			[]string{},
			"case 1: 1 expectation, 0 deterministic checks, 0 files\ns: ok\n",
		},
		"fields of others": {
			map[string]string{
				"SKILL.md": skillMD,
				evals.File: `{"version": 2, "skill_name": "other", "config": {"a": [1e999]}, "evals": ` +
					one(`, "tags": ["x"], "weight": 2`) + `}`,
			},
			[]string{},
			"case 1: 1 expectation, 0 deterministic checks, 0 files\ns: ok\n",
		},
		"all suites": {
			map[string]string{
				"SKILL.md": skillMD, evals.File: one(
					`, "files": ["in.txt"], "deterministic_checks": [{"type": "file_exists", "file": "a"}]`),
				"in.txt":          "x",
				evals.TriggerFile: `[{"query": "a", "should_trigger": true}]`,
				evals.AnswerFile:  "<evaluation><qa_pair><question>q</question><answer>a</answer></qa_pair></evaluation>",
			},
			[]string{},
			"case 1: 1 expectation, 1 deterministic check, 1 file\ntriggers: 1 query\nanswers: 1 question\n" +
				"s: ok\n",
		},
		"no suite": {
			map[string]string{"SKILL.md": skillMD},
			[]string{"evals/evals.json: there is no such file in the skill; write the cases that it is graded by"},
			"",
		},
		"no skill": {
			map[string]string{evals.File: one("")},
			[]string{"SKILL.md: no such file or directory; a skill is a directory with this file"},
			"",
		},
		"cut off": {
			map[string]string{"SKILL.md": skillMD, evals.File: one("")[:20]},
			[]string{"evals/evals.json:2: ends in the middle of its JSON value"},
			"",
		},
		"every file": {map[string]string{
			evals.File:        "[\n\n{\"id\": \"a b\", \"prompt\": \"p\"}]",
			evals.TriggerFile: "[\n{}]", evals.AnswerFile: "<evaluation>\n<pair/></evaluation>",
		}, []string{
			"SKILL.md: no such file or directory; a skill is a directory with this file",
			`evals/evals.json:3: [0].id: "a b" cannot name a directory: give a number, or letters, digits, ` +
				"`.`, `_` and `-`",
			"evals/evals.json:3: [0]: has nothing to check; give `expectations` or `deterministic_checks`",
			"evals/trigger-eval.json:2: [0].query: is missing",
			"evals/trigger-eval.json:2: [0].should_trigger: is missing",
			"evals/evaluation.xml:2: pair: does not belong here; there are `evaluation`, in it `qa_pair`, and in " +
				"that `question` and `answer`",
			"evals/evaluation.xml:2: evaluation: has no `qa_pair`",
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "s")
			for name, text := range c.files {
				putFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
			}
			found, err := skill.Validate(dir)
			require.NoError(t, err)
			assert.Equal(t, len(c.errors) == 0, found.OK)
			require.Len(t, found.Errors, len(c.errors), "%q", found.Errors)
			for i, want := range c.errors {
				assert.True(t, strings.HasPrefix(found.Errors[i], want), "%q is not %q", found.Errors[i], want)
			}
			if found.OK {
				assert.Equal(t, c.says, found.String())
			} else {
				assert.Equal(t, "error: "+strings.Join(found.Errors, "\nerror: ")+"\n", found.String())
				assert.Equal(t, []skill.ValidatedCase{}, found.Cases)
			}
		})
	}
}
