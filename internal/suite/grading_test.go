package suite

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
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
		exact, ok := new(big.Rat).SetString(vector.Score)
		require.True(t, ok)
		assert.Equal(t, RateValue(exact), rate, vector.Name)
		rounded, _ := strconv.ParseFloat(exact.FloatString(3), 64)
		assert.InDelta(t, vector.Rounded, rounded, 0, vector.Name)
	}
}

func TestEqualScoresAreATieInAnyOrder(t *testing.T) {
	t.Parallel()
	cases := []CaseScore{{Passed: 1, Total: 10}, {Passed: 2, Total: 10}, {Passed: 3, Total: 10}, {Passed: 1, Total: 3}}
	want := MeanPassRate(cases)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		random.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		assert.Equal(t, 0, want.Cmp(MeanPassRate(cases)))
	}
	assert.Equal(t, "0.805555555556", RateValue(big.NewRat(29, 36)).String())
	assert.Equal(t, "1", RateValue(big.NewRat(1, 1)).String())
	assert.Equal(t, "0", MeanPassRate(nil).String())
}

func TestScoreCountsTheSuiteAlone(t *testing.T) {
	t.Parallel()
	c := Case{
		ID: "1", Expectations: []string{"a", "b", "c"},
		Checks: []Check{{Kind: JSONValid, File: "x.json"}},
	}
	scored := c.Score(Grading{Expectations: []Graded{
		{Text: "json_valid x.json", Passed: true, Source: Deterministic},
		{Text: "a", Passed: true, Source: ByGrader},
		{Text: "b", Passed: true},
		{Text: "b", Passed: false, Evidence: "no"},
		{Text: "b", Passed: true},
		{Text: "made up", Passed: true, Source: ByGrader},
		{Text: "c", Passed: true, Source: Deterministic},
	}})
	assert.Equal(t, 2, scored.Passed)
	assert.Equal(t, 4, scored.Total)
	assert.Equal(t, []string{"c"}, scored.Unanswered)
	assert.Len(t, scored.Failed, 2)
	assert.Equal(t, "1/2", scored.PassRate().Rat().RatString())
}

func TestGradingIsReadInBothSpellings(t *testing.T) {
	t.Parallel()
	g, err := ParseGrading("grading.json", []byte(`{
		"summary": {"pass_rate": 1, "passed": 900, "failed": "x", "total": 1},
		"expectations": [{"text": "a", "passed": true, "evidence": "e"}, {"expectation": "b", "passed": false,
			"source": "llm"}, {"text": "c", "passed": true}],
		"timing": {"executor_duration_seconds":3}, "eval_feedback": {"overall":"fine"}, "claims": [{}]}`))
	require.NoError(t, err)
	assert.True(t, g.Expectations[0].Passed)
	assert.False(t, g.Expectations[1].Passed)
	text, err := json.Marshal(g)
	require.NoError(t, err)
	golden.Row(t, "written", string(text))
	again, err := ParseGrading("grading.json", text)
	require.NoError(t, err)
	assert.Equal(t, g, again)
}

// TestGradingsOfOthers have keys twice, in other letters, entries of other shapes: what is
// read of them is what they say, or nothing.
func TestGradingsOfOthers(t *testing.T) {
	t.Parallel()
	of := func(entries string) string { return `{"expectations": [` + entries + `]}` }
	golden.Table(t, map[string]string{ // each entry as text=passed, or, in testdata, what is wrong
		"an expectation":           of(`{"expectation": "a", "passed": false}`) + "=> a=false",
		"both names":               of(`{"expectation": "a", "text": "b", "passed": false}`) + "=> b=false",
		"an empty text":            of(`{"expectation": "a", "text": " ", "passed": true}`) + "=> a=true",
		"blanks around it":         of(`{"text": " a\n", "passed": true}`) + "=> a=true",
		"a mark at its head":       "\ufeff" + of(`{"text": "a", "passed": true}`) + "=> a=true",
		"a summary that is a text": `{"summary": "good", "expectations": []} =>`,
		"a list of null":           `{"expectations": null}`,
		"an entry of null":         of("null"),
		"no verdict":               of(`{"text": "a"}`),
		"a second without one":     of(`{"text": "a", "passed": true}, {"text": "b", "passed": null}`),
		"no text":                  of(`{"passed": true}`),
		"a verdict of 1":           of(`{"text": "a", "passed": 1}`),
		"a verdict of yes":         of(`{"text": "a", "passed": "yes"}`),
		"two verdicts":             of(`{"text": "a", "passed": false, "passed": true}`),
		"two, in other letters":    of(`{"text": "a", "passed": false, "Passed": true}`) + "=> a=false",
		"one in other letters":     of(`{"text": "a", "Passed": true}`),
		"a text in other letters":  of(`{"Text": "a", "passed": true}`),
		"all in other letters":     `{"Expectations": [{"text": "a", "passed": true}]}`,
		"two lists":                `{"expectations": [], "expectations": [{"text": "a", "passed": true}]}`,
		"two remarks in one":       `{"expectations": [], "eval_feedback": {"overall": "a", "overall": "b"}}`,
		"cut off":                  `{"expectations": [{"text": "a", "passed": true}`,
		"two of them":              of("") + of(""),
		"nothing":                  "",
		"a list":                   "[]",
		"no expectations":          "{}",
		"too large":                `{"expectations": []` + strings.Repeat(" ", 8<<20) + `}`,
	}, func(t *testing.T, text string) any {
		t.Helper()
		g, err := ParseGrading("grading.json", []byte(text))
		if err != nil {
			assert.Empty(t, g)
			return err
		}
		var list []string
		for _, entry := range g.Expectations {
			list = append(list, fmt.Sprintf("%s=%v", entry.Text, entry.Passed))
		}
		return strings.Join(list, " ")
	})
}

func TestWordsOfACase(t *testing.T) {
	t.Parallel()
	for name, score := range map[string]CaseScore{
		"none":       {Passed: 1, Total: 1},
		"a crash":    {Problem: "it crashed", Unanswered: []string{"x"}},
		"some runs":  Aggregate([]CaseScore{{}}, []CaseScore{{Problem: "killed"}}, []CaseScore{{Problem: "other"}})[0],
		"unanswered": {Unanswered: []string{"is it short?"}},
	} {
		golden.Row(t, name, score.Trouble())
	}
	golden.Row(t, "line", CaseScore{ID: "a", Passed: 1, Total: 4, Problem: "why"}.Line(2, 3))
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	run := func(passed int, failed ...string) []CaseScore {
		c := CaseScore{ID: "a", Passed: passed, Total: 2}
		for _, text := range failed {
			c.Failed = append(c.Failed, Graded{Text: text, Evidence: "seen", Source: ByGrader})
		}
		return []CaseScore{c, {ID: "b", Passed: 1, Total: 1}}
	}
	crashed := []CaseScore{{ID: "a", Total: 2, Problem: "crashed"}, {ID: "b", Total: 1, Problem: "crashed"}}
	one := run(1, "x")
	assert.Equal(t, one, Aggregate(one), "one run stays as it is")
	assert.Nil(t, Aggregate())
	got := Aggregate(run(2), run(1, "x"), crashed, run(0, "x", "y"))
	assert.Equal(t, []int{3, 8, 3, 4}, []int{got[0].Passed, got[0].Total, got[1].Passed, got[1].Total})
	assert.Equal(t, "3/8", got[0].PassRate().Rat().RatString(), "the mean of 1, 1/2, 0 and 0")
	assert.Empty(t, got[0].Problem, "it counts 0 in one run alone")
	assert.Equal(t, []Graded{
		{Text: "x", Evidence: "in 2 of 4 runs: seen", Source: ByGrader},
		{Text: "the whole case", Evidence: "in 1 of 4 runs: crashed"},
		{Text: "y", Evidence: "in 1 of 4 runs: seen", Source: ByGrader},
	}, got[0].Failed)
	got = Aggregate(crashed, crashed)
	assert.Equal(t, "in all 2 runs: crashed", got[0].Problem)
	assert.Equal(t, "0", got[0].PassRate().Rat().RatString())
}
