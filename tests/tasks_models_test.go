package tests

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent/models/client/modeltest"
)

// TestTasksWithAModel has a model work on the task, and another one judge, each
// at a scripted endpoint with a key of its own. The model does as the
// configuration says, which it sees among the files of the sandbox.
func TestTasksWithAModel(t *testing.T) {
	t.Parallel()
	worker := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Answer {
		word := "before"
		if r.Has("after") {
			word = "after"
		}
		answer := modeltest.Text("PLAN: as I was told\nFILE: file.txt\n<<<<<<< SEARCH\nfixture\n=======\n" + word +
			"\n>>>>>>> REPLACE\n")
		answer.Usage = modeltest.Tokens{Input: 700, Output: 30}
		return answer
	})
	judge := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Answer {
		if r.Has("+after") {
			return modeltest.Text(`{"score": 0.9, "rationale": "as it should be"}`)
		}
		return modeltest.Text(`{"score": 0.3, "rationale": "the old word"}`)
	})
	w := tasksWorld(t, map[string]string{"one": hasFile})
	w.write("suite/one/task.json",
		`{"id": "one", "title": "t", "fixtureDir": "fixture", "prompt": "write the word into file.txt",
		"checks": [{"kind": "fileContains", "path": "file.txt", "substring": "after"}], "judgeRubric": {"criteria": "which word is it?"}}`)
	w.env = append(w.env, "AUTOLOOP_MODELS_URL="+worker.URL+"/v1", "AUTOLOOP_MODELS_KEY="+theKey,
		"ANTHROPIC_BASE_URL="+judge.URL, "ANTHROPIC_API_KEY=the-key-of-the-judge")
	a := w.binary("iterate", "eval", "suite", "--against", "HEAD", "--agent", "models", "--model", "m-1",
		"--out", "out",
		"--json", "--settings", w.settings("judge-model: j-1", "cost-tolerance: 1000"))
	require.Zero(t, a.code, a.stderr)
	var report struct {
		Verdict, Judge string
		Promotable     bool
		Totals         struct {
			Candidate struct{ Cost struct{ Tokens int } }
		}
		PValue float64
	}
	require.NoError(t, json.Unmarshal([]byte(a.stdout), &report))
	assert.Equal(t, "improved", report.Verdict, a.stdout)
	assert.True(t, report.Promotable)
	assert.Equal(t, "j-1 at "+judge.URL, report.Judge)
	assert.Equal(t, 5*730, report.Totals.Candidate.Cost.Tokens)
	assert.InDelta(t, 1.0/252, report.PValue, 1e-6, "five runs a side are the most extreme of 252 arrangements")
	assert.Contains(t, w.read("out/report.md"), "candidate: 0.9 — as it should be")

	require.Len(t, worker.Requests(), 10)
	require.Len(t, judge.Requests(), 10)
	for _, asked := range worker.Requests() {
		assert.Equal(t, theKey, asked.Key())
		assert.False(t, asked.Has("fileContains"), "nobody sees the checks")
	}
	for _, asked := range judge.Requests() {
		assert.Equal(t, "the-key-of-the-judge", asked.Key())
		assert.Contains(t, string(asked.Body), "cache_control")
	}
	assert.NotContains(t, a.stdout+a.stderr+w.read("out/report.json"), theKey)
}
