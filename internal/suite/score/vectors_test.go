package score_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/score"
)

// vectors reads a table of cases from testdata.
func vectors[T any](t *testing.T, file string) []T {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	var table struct{ Cases []T }
	require.NoError(t, json.Unmarshal(data, &table))
	require.NotEmpty(t, table.Cases)
	return table.Cases
}

func TestCompositeVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors[struct {
		Name       string
		Objective  [2]int
		Judge      *float64
		Cost       format.Cost
		Reference  *format.Cost
		Adjustment *float64
		Composite  float64
	}](t, "composite.json") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			run := format.Run{Objective: format.Passed(c.Objective[0], c.Objective[1]), Cost: c.Cost}
			if c.Judge != nil {
				run.Judge = &format.Judgement{Score: metric.NumberFromFloat(*c.Judge)}
			}
			composite, ok := score.Composite(run, c.Reference, nil, metric.Value{})
			require.True(t, ok)
			assert.InDelta(t, c.Composite, composite.Float64(), 1e-9)
			if c.Adjustment != nil && c.Reference != nil {
				assert.InDelta(t, *c.Adjustment, score.Adjustment(c.Cost, *c.Reference, metric.Value{}).Float64(), 1e-9)
			}
		})
	}
}

// comparisonCase is one case of comparison.json; its sides have the form of
// the scores in a file with an outcome.
type comparisonCase struct {
	Name                string
	Baseline, Candidate json.RawMessage
	Verdict             decision.Verdict
	Promotable          bool
	ReasonMentions      string `json:"reason_mentions"`
	Thresholds          struct {
		MinCompositeGain          *float64
		RegressionCompositeDrop   *float64
		ObjectiveDropIsRegression *bool
		NetLossIsRegression       *bool
	}
}

func (c comparisonCase) thresholds(t *testing.T) score.Thresholds {
	t.Helper()
	set := score.DefaultThresholds()
	for value, to := range map[*float64]*metric.Value{
		c.Thresholds.MinCompositeGain:        &set.MinCompositeGain,
		c.Thresholds.RegressionCompositeDrop: &set.RegressionCompositeDrop,
	} {
		if value != nil {
			v, err := metric.FromFloat(*value)
			require.NoError(t, err)
			*to = v
		}
	}
	if given := c.Thresholds.ObjectiveDropIsRegression; given != nil {
		set.ObjectiveDropIsRegression = *given
	}
	if given := c.Thresholds.NetLossIsRegression; given != nil {
		set.NetLossIsRegression = *given
	}
	return set
}

func outcome(t *testing.T, scores string) format.SuiteOutcome {
	t.Helper()
	o, problems := format.ParseOutcome("outcome.json", []byte(`{"configLabel": "c", "scores": `+scores+`}`))
	require.NoError(t, problems.Err())
	return o
}

func TestComparisonVectors(t *testing.T) {
	t.Parallel()
	for _, c := range vectors[comparisonCase](t, "comparison.json") {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			got := score.Compare(outcome(t, string(c.Baseline)), outcome(t, string(c.Candidate)), c.thresholds(t))
			assert.Equal(t, c.Verdict, got.Verdict, got.Summary)
			assert.Equal(t, c.Promotable, got.Promotable, got.Summary)
			if c.ReasonMentions != "" {
				var texts []string
				for _, r := range got.Regressions {
					texts = append(texts, r.Text)
				}
				assert.Contains(t, strings.Join(texts, "\n"), c.ReasonMentions)
			}
			assert.Equal(t, got.Verdict == decision.Regressed, len(got.Regressions) > 0)
		})
	}
}
