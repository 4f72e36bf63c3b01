package tasks_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/tasks"
)

// vectors makes a subtest of each case of a table in testdata.
func vectors[T any](t *testing.T, file string, hold func(t *testing.T, c T)) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	var table struct{ Cases []json.RawMessage }
	require.NoError(t, json.Unmarshal(data, &table))
	require.NotEmpty(t, table.Cases)
	for _, text := range table.Cases {
		var c T
		var named struct{ Name string }
		require.NoError(t, json.Unmarshal(text, &c))
		require.NoError(t, json.Unmarshal(text, &named))
		t.Run(named.Name, func(t *testing.T) {
			t.Parallel()
			hold(t, c)
		})
	}
}

// TestCompositeVectors compares each run with one that is as good, and costs the reference.
func TestCompositeVectors(t *testing.T) {
	t.Parallel()
	type vector struct {
		Objective  [2]int
		Judge      *metric.Value
		Cost       tasks.Cost
		Reference  tasks.Cost
		Adjustment *float64
		Composite  float64
	}
	composite := func(c vector, run tasks.Run) float64 {
		run.Cost = c.Reference
		after := run
		after.Cost = c.Cost
		got := tasks.Compare(tasks.SuiteOutcome{Scores: []tasks.Score{{Runs: []tasks.Run{run}}}},
			tasks.SuiteOutcome{Scores: []tasks.Score{{Runs: []tasks.Run{after}}}}, tasks.DefaultThresholds())
		return got.Deltas[0].CandidateComposite.Float64()
	}
	vectors(t, "composite.json", func(t *testing.T, c vector) {
		run := tasks.Run{Objective: tasks.Objective{Passed: c.Objective[0], Total: c.Objective[1]}}
		if c.Judge != nil {
			run.Judge = &tasks.Judgement{Score: *c.Judge}
		}
		assert.InDelta(t, c.Composite, composite(c, run), 1e-9)
		if c.Adjustment != nil {
			assert.InDelta(t, 0.5+*c.Adjustment, composite(c, tasks.Run{Objective: tasks.Objective{Passed: 1, Total: 2}}), 1e-9)
		}
	})
}

// TestComparisonVectors: the sides have the form of the scores in a file with an outcome.
func TestComparisonVectors(t *testing.T) {
	t.Parallel()
	vectors(t, "comparison.json", func(t *testing.T, c struct {
		Baseline, Candidate json.RawMessage
		Verdict             decision.Verdict
		Promotable          bool
		ReasonMentions      string `json:"reason_mentions"`
		Thresholds          json.RawMessage
	},
	) {
		set := tasks.DefaultThresholds()
		if c.Thresholds != nil {
			require.NoError(t, json.Unmarshal(c.Thresholds, &set))
		}
		read := func(scores json.RawMessage) tasks.SuiteOutcome {
			o, err := tasks.ParseOutcome("outcome.json", []byte(`{"scores": `+string(scores)+`}`))
			require.NoError(t, err)
			return o
		}
		got := tasks.Compare(read(c.Baseline), read(c.Candidate), set)
		assert.Equal(t, c.Verdict, got.Verdict, got.Summary)
		assert.Equal(t, c.Promotable, got.Promotable, got.Summary)
		var texts []string
		for _, r := range got.Regressions {
			texts = append(texts, r.Text)
		}
		assert.Contains(t, strings.Join(texts, "\n"), c.ReasonMentions)
		assert.Equal(t, got.Verdict == decision.Regressed, len(got.Regressions) > 0)
	})
}
