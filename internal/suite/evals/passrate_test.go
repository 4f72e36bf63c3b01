package evals

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPassRateVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/passrate.json")
	require.NoError(t, err)
	var vectors struct {
		Cases []struct {
			Name    string
			Cases   []*[2]int
			Score   string
			Rounded float64
		}
	}
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.NotEmpty(t, vectors.Cases)
	for _, vector := range vectors.Cases {
		var scores []CaseScore
		for i, c := range vector.Cases {
			one := Case{ID: strconv.Itoa(i), Expectations: []string{"x"}}.Crashed("it crashed")
			if c != nil {
				one = CaseScore{ID: strconv.Itoa(i), Passed: c[0], Total: c[1]}
			}
			scores = append(scores, one)
		}
		rate := MeanPassRate(scores)
		assert.Equal(t, vector.Score, rate.RatString(), vector.Name)
		rounded, _ := strconv.ParseFloat(rate.FloatString(3), 64)
		assert.InDelta(t, vector.Rounded, rounded, 0, vector.Name)
	}
}

func TestEqualScoresAreATieInAnyOrder(t *testing.T) {
	t.Parallel()
	cases := []CaseScore{{Passed: 1, Total: 10}, {Passed: 2, Total: 10}, {Passed: 3, Total: 10}, {Passed: 1, Total: 3}}
	want := RateValue(MeanPassRate(cases))
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		random.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		assert.Equal(t, 0, want.Cmp(RateValue(MeanPassRate(cases))))
	}
	assert.Equal(t, "0.805555555556", RateValue(big.NewRat(29, 36)).String())
	assert.Equal(t, "1", RateValue(big.NewRat(1, 1)).String())
	assert.Equal(t, "0", RateValue(MeanPassRate(nil)).String())
}

func TestScoreCountsTheSuiteAlone(t *testing.T) {
	t.Parallel()
	c := Case{ID: "1", Expectations: []string{"a", "b", "c"}, Checks: []Check{{Kind: JSONValid, File: "x.json"}}}
	scored := c.Score(Grading{Expectations: []Graded{
		{Text: "json_valid x.json", Passed: true, Source: Deterministic},
		{Text: "a", Passed: true, Source: ByGrader},
		{Text: "b", Passed: true},
		{Text: "b", Passed: false, Evidence: "no"},
		{Text: "made up", Passed: true, Source: ByGrader},
		{Text: "c", Passed: true, Source: Deterministic},
	}})
	assert.Equal(t, 2, scored.Passed)
	assert.Equal(t, 4, scored.Total)
	assert.Equal(t, []string{"c"}, scored.Unanswered)
	assert.Equal(t, []string{"made up", "c"}, scored.Extra)
	assert.Len(t, scored.Failed, 2)
	assert.Equal(t, "1/2", scored.PassRate().RatString())
	assert.False(t, scored.Perfect())
}

func TestGradingIsReadInBothSpellings(t *testing.T) {
	t.Parallel()
	g, err := ParseGrading([]byte(`{"summary": {"pass_rate": 1, "passed": 900, "failed": "x", "total": 1},
		"expectations": [{"text": "a", "passed": true, "evidence": "e"}, {"expectation": "b", "passed": false,
			"source": "llm"}],
		"timing": {"executor_duration_seconds":3}, "eval_feedback": {"overall":"fine"},
			"claims": [{"claim":"c","verified":true,"evidence":"e"},{}]}`))
	require.NoError(t, err)
	assert.Equal(t, 1, g.Passed())
	text, err := json.Marshal(g)
	require.NoError(t, err)
	assert.JSONEq(t, `{"summary": {"pass_rate": 0.5, "passed": 1, "failed": 1, "total": 2},
		"expectations": [{"text": "a", "expectation": "a", "passed": true, "evidence": "e"},
			{"text": "b", "expectation": "b", "passed": false, "evidence": "", "source": "llm"}],
		"timing": {"executor_duration_seconds": 3}, "eval_feedback": {"overall": "fine"},
			"claims": [{"claim": "c", "verified": true, "evidence": "e"}, {}]}`, string(text))
	assert.Equal(t, []Claim{{"c", true, "e"}}, g.ReadClaims())
	assert.Empty(t, Grading{Claims: json.RawMessage(`{"of another": "shape"}`)}.ReadClaims())
	again, err := ParseGrading(text)
	require.NoError(t, err)
	assert.Equal(t, g, again)
	for _, bad := range []string{
		"", "[]", "{}", `{"expectations": [{"text": "a"}]}`, `{"expectations": [{"passed": true}]}`,
		`{"expectations": [{"text": "a", "passed": "yes"}]}`,
		`{"expectations": [{"text": "a", "passed": false, "passed": true}]}`,
		`{"expectations": [{"text": "a", "passed": false, "Passed": true}]}`,
		`{"expectations": [{"text": "a", "Passed": true}]}`, `{"expectations": [{"Text": "a", "passed": true}]}`,
		`{"Expectations": [{"text": "a", "passed": true}]}`,
		`{"expectations": [], "expectations": [{"text": "a", "passed": true}]}`,
		`{"expectations": [{"text": "a", "passed": true}], "claims": [{"claim": "a", "claim": "b"}]}`,
	} {
		_, err := ParseGrading([]byte(bad))
		assert.Error(t, err, bad)
	}
}

func TestMergingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	words := []Graded{{Text: "a", Source: ByGrader, Passed: true}, {Text: "b", Source: ByGrader}}
	checks := []Graded{{Text: "b", Source: Deterministic, Passed: true}, {Text: "c", Source: Deterministic}}
	once := Grading{}.Merge(words...).Merge(checks...)
	assert.Equal(t, slices.Concat(checks, words), once.Expectations)
	assert.Equal(t, once, once.Merge(checks...))
	assert.Equal(t, once, once.Merge(words...).Merge(checks...))
	assert.Equal(t, once, Grading{}.Merge(checks...).Merge(words...))
	assert.True(t, once.Merge(Graded{Text: "c", Source: Deterministic, Passed: true}).Expectations[1].Passed,
		fmt.Sprint(once))
}
