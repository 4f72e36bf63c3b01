package taskrun_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/taskrun"
)

func TestOutcomesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, says string }{
		"good":    {`{"configLabel": "c", "scores": []}`, ""},
		"no JSON": {"no", "their outcome:1: is not JSON"},
		"two faults": {
			"{\"scores\": [{},\n{}]}",
			"their outcome:1: scores[0].taskId: is missing; their outcome:1: scores[0].objective: is missing; their " +
				"outcome:2: scores[1].taskId: is missing",
		},
		"many faults":    {`{"scores": [{}, {}, {}, {}]}`, "; and 3 more"},
		"not known here": {`{"kind": "other"}`, "scores: is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
			o, err := taskrun.ReadOutcome(file, "their outcome")
			if c.says == "" {
				require.NoError(t, err)
				assert.Equal(t, "c", o.ConfigLabel)
				return
			}
			require.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), "\n", "on one line")
			assert.Empty(t, o)
		})
	}
	_, err := taskrun.ReadOutcome(filepath.Join(dir, "none"), "x")
	require.EqualError(t, err, "x does not exist")
	_, err = taskrun.ReadOutcome(dir, "x")
	require.EqualError(t, err, "read x: is a directory")
}

// TestAReportIsOfItself: it can be moved, written again, and read; nothing else is cleared
// for it.
func TestAReportIsOfItself(t *testing.T) {
	t.Parallel()
	from := t.TempDir()
	run := func(name string) format.Run {
		require.NoError(t, os.MkdirAll(filepath.Join(from, name), 0o755))
		r := format.Run{Objective: format.Passed(1, 1)}
		r.Transcript, r.Diff = filepath.Join(from, name, "transcript.txt"), filepath.Join(from, name, "changes.diff")
		require.NoError(t, os.WriteFile(r.Transcript, []byte("said "+name), 0o600))
		require.NoError(t, os.WriteFile(r.Diff, []byte("+"+name), 0o600))
		return r
	}
	found := taskrun.Report{
		Schema: 1, Warnings: []string{"<b>look</b>"},
		Baseline: format.SuiteOutcome{
			ConfigLabel: "main",
			Scores: []format.Score{{
				TaskID: "t",
				Runs:   []format.Run{run("b1"), run("b2"), {Objective: format.Passed(0, 1)}},
			}},
		},
	}
	found.Candidate = format.SuiteOutcome{
		ConfigLabel: "pr",
		Scores:      []format.Score{{TaskID: "t", Runs: []format.Run{run("c1")}}},
	}
	before := found.Baseline.Scores[0].Runs[0].Transcript

	to := filepath.Join(t.TempDir(), "new", "report")
	written, err := taskrun.WriteReport(to, found)
	require.NoError(t, err)
	assert.Equal(t, before, found.Baseline.Scores[0].Runs[0].Transcript, "the given report stays as it is")
	for file, text := range map[string]string{
		"runs/baseline/t/1/transcript.txt": "said b1", "runs/baseline/t/2/changes.diff": "+b2",
		"runs/candidate/t/1/changes.diff": "+c1",
	} {
		data, err := os.ReadFile(filepath.Join(to, filepath.FromSlash(file)))
		require.NoError(t, err)
		assert.Equal(t, text, string(data))
	}
	assert.Equal(t, "runs/baseline/t/2/transcript.txt", written.Baseline.Scores[0].Runs[1].Transcript)
	assert.Empty(t, written.Baseline.Scores[0].Runs[2].Diff)
	back, err := taskrun.ReadOutcome(filepath.Join(to, "baseline.json"), "x")
	require.NoError(t, err)
	assert.Equal(t, written.Baseline, back, "an outcome of the report is one for the next comparison")
	shown, err := os.ReadFile(filepath.Join(to, "report.md"))
	require.NoError(t, err)
	assert.Contains(t, string(shown), "look")
	assert.NotContains(t, string(shown), "<b>")

	found.Baseline.Scores[0].Runs = found.Baseline.Scores[0].Runs[:1]
	_, err = taskrun.WriteReport(to, found)
	require.NoError(t, err, "in the place of an earlier report")
	assert.NoDirExists(t, filepath.Join(to, "runs", "baseline", "t", "2"), "nothing of it is left")

	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "thesis.txt"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(other, "runs"), 0o700))
	_, err = taskrun.WriteReport(other, found)
	require.ErrorContains(t, err, "it has other files; give an empty directory")
	assert.DirExists(t, filepath.Join(other, "runs"))
}

// TestAConfigurationAlone measures one side; a later comparison in which it is the
// baseline takes its runs.
func TestAConfigurationAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]object{"a": {"checks": []object{after(), {"kind": "fileExists", "path": "out.txt"}}}})
	loaded, err := taskrun.Load(t.Context(), w.at("suite"))
	require.NoError(t, err)
	alone, err := taskrun.Measure(t.Context(), loaded, w.side("before"), w.options(copyConfig, nil))
	require.NoError(t, err)
	assert.Equal(t, "before", alone.Baseline.ConfigLabel)
	require.Len(t, alone.Baseline.Scores, 1)
	assert.Equal(t, "1/2", alone.Baseline.Scores[0].Runs[0].Objective.String())
	assert.Nil(t, alone.Baseline.Stochastic, "of one run nobody knows")
	assert.Equal(t, int64(1), w.runs.Load())
	_, err = w.compare(t.Context(), copyConfig, func(o *taskrun.Options) { o.Runs = 1 })
	require.NoError(t, err)
	assert.Equal(t, int64(2), w.runs.Load(), "the candidate's alone")

	_, err = taskrun.Measure(t.Context(), loaded, w.side("before"), w.options("exit 3", nil))
	require.ErrorContains(t, err, "the agent failed in all 1 runs of the baseline")
}
