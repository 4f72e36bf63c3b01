package evals

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// anything is any JSON value of at most that depth, as encoding/json makes it.
func anything(random *rand.Rand, depth int) any {
	switch kind := random.IntN(7); {
	case kind == 0:
		return nil
	case kind == 1:
		return random.IntN(2) == 0
	case kind == 2:
		return json.Number([]string{"0", "1", "1.0", "10e-1", "-0", "1e400", "12345678901234567890"}[random.IntN(7)])
	case kind == 3 || depth == 0:
		return []string{"", "a", "a b", "1", "ü\xc3\xbc", `"`, "a.b", "[0]"}[random.IntN(8)]
	case kind == 4:
		list := make([]any, random.IntN(4))
		for i := range list {
			list[i] = anything(random, depth-1)
		}
		return list
	default:
		object := map[string]any{}
		for range random.IntN(4) {
			object[[]string{
				"", "a", "b c", `x"y`, `z\`, "a.b", "ü", "'", "\n", "[1]",
				"$",
			}[random.IntN(11)]] = anything(random, depth-1)
		}
		return object
	}
}

// places are the paths to all values in a value.
func places(value any, path JSONPath, each func(JSONPath, any)) {
	each(path, value)
	switch value := value.(type) {
	case []any:
		for i, inner := range value {
			places(inner, append(slices.Clip(path), JSONStep{Index: i, IsIndex: true}), each)
		}
	case map[string]any:
		for key, inner := range value {
			places(inner, append(slices.Clip(path), JSONStep{Key: key}), each)
		}
	}
}

// TestEveryPlaceHasAPath: what a path is written as leads there again, whatever the
// keys are.
func TestEveryPlaceHasAPath(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		root := anything(random, 4)
		places(root, JSONPath{}, func(path JSONPath, value any) {
			text := path.String()
			again, err := ParseJSONPath(text)
			require.NoError(t, err, text)
			require.Equal(t, path, again, text)
			found, ok := again.Find(root)
			require.True(t, ok, text)
			require.Equal(t, value, found, text)
		})
	}
}

// TestSameValues: equality is one, survives JSON, and is told from what differs.
func TestSameValues(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	var all []any
	for range 120 {
		value := anything(random, 3)
		text, err := json.Marshal(value)
		require.NoError(t, err)
		again, err := decodeJSON(text)
		require.NoError(t, err)
		assert.True(t, sameJSON(value, again), "%s", text)
		assert.True(t, containsJSON(value, again), "a value has all of itself: %s", text)
		wrapped := map[string]any{"x": value}
		assert.False(t, sameJSON(value, wrapped), "%s", text)
		assert.False(t, sameJSON([]any{value}, []any{value, value}), "%s", text)
		if object, is := value.(map[string]any); is {
			more := map[string]any{"more": true}
			for key, inner := range object {
				more[key] = inner
			}
			assert.True(t, containsJSON(more, object), "%s", text)
			assert.False(t, containsJSON(object, more), "%s", text)
			assert.False(t, sameJSON(more, object), "%s", text)
		}
		all = append(all, value)
	}
	for _, a := range all {
		for _, b := range all {
			require.Equal(t, sameJSON(a, b), sameJSON(b, a))
			if sameJSON(a, b) {
				require.True(t, containsJSON(a, b) && containsJSON(b, a), "%v and %v", a, b)
			}
		}
	}
	for _, pair := range [][2]string{
		{"1", "true"},
		{"0", "false"},
		{"0", "null"},
		{`"1"`, "1"},
		{`""`, "null"},
		{"[]", "{}"},
		{"[]", "null"},
		{"{}", "null"},
		{"[1,2]", "[2,1]"},
		{"1e400", "1e401"},
		{"0.1", "0.10000000000000000001"},
	} {
		a, err := decodeJSON([]byte(pair[0]))
		require.NoError(t, err)
		b, err := decodeJSON([]byte(pair[1]))
		require.NoError(t, err)
		assert.False(t, sameJSON(a, b), "%s and %s", pair[0], pair[1])
	}
}

// runsOf are so many runs of a suite of so many cases.
func runsOf(random *rand.Rand, runs, cases int) [][]CaseScore {
	totals := make([]int, cases)
	for i := range totals {
		totals[i] = 1 + random.IntN(5)
	}
	list := make([][]CaseScore, runs)
	for r := range list {
		for i, total := range totals {
			c := CaseScore{ID: fmt.Sprint(i), Total: total}
			if random.IntN(5) == 0 {
				c.Problem = "it crashed"
			} else {
				for k := range total {
					if random.IntN(2) == 0 {
						c.Passed++
						continue
					}
					c.Failed = append(c.Failed, Graded{
						Text:     fmt.Sprint("expectation ", k),
						Evidence: fmt.Sprint("run ", r),
					})
				}
			}
			list[r] = append(list[r], c)
		}
	}
	return list
}

// TestAggregateIsTheMean: a case's rate over its runs is the mean of its rates,
// what failed says in how many runs, and no run is changed by it.
func TestAggregateIsTheMean(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		runs := runsOf(random, 2+random.IntN(5), 1+random.IntN(4))
		before := fmt.Sprint(runs)
		all := Aggregate(runs...)
		require.Equal(t, before, fmt.Sprint(runs))
		require.Len(t, all, len(runs[0]))
		for i, c := range all {
			sum, broken := new(big.Rat), 0
			for r, run := range runs {
				sum.Add(sum, run[i].PassRate())
				assert.Equal(t, run[i], c.Runs[r], "the runs are in their order")
				if run[i].Problem != "" {
					broken++
				}
			}
			mean := sum.Quo(sum, big.NewRat(int64(len(runs)), 1))
			assert.Zero(t, mean.Cmp(c.PassRate()), "%s is not %s", c.PassRate(), mean)
			assert.Equal(t, broken == len(runs), c.Problem != "")
			assert.Equal(t, broken > 0, strings.Contains(c.Trouble(), "it crashed"))
			for _, failed := range c.Failed {
				times := 0
				for _, run := range runs {
					if failed.Text == "the whole case" && run[i].Problem != "" ||
						slices.ContainsFunc(run[i].Failed, func(g Graded) bool { return g.Text == failed.Text }) {
						times++
					}
				}
				assert.True(t, strings.HasPrefix(failed.Evidence, fmt.Sprintf("in %d of %d runs: ", times, len(runs))),
					failed.Evidence)
			}
		}
	}
}

// TestScoresAreFromNothingToAll whatever a grading says: no entry that is made up, or
// there twice, brings a case over what it has.
func TestScoresAreFromNothingToAll(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	c := Case{
		ID: "1", Expectations: []string{"a", "b", "file_exists x"},
		Checks: []Check{{Kind: OutputExists, File: "x"}, {Kind: JSONValid, File: "y", Description: "b"}},
	}
	texts := []string{"a", "b", "file_exists x", "json_valid y", "made up"}
	for range 500 {
		var g Grading
		for range random.IntN(8) {
			g.Expectations = append(g.Expectations, Graded{
				Text: texts[random.IntN(len(texts))], Passed: random.IntN(3) > 0,
				Source: []Source{"", Deterministic, ByGrader, "else"}[random.IntN(4)],
			})
		}
		scored := c.Score(g)
		require.Equal(t, 5, scored.Total)
		require.Equal(t, scored.Total, scored.Passed+len(scored.Failed), "each has passed or not")
		for _, text := range scored.Unanswered {
			require.True(t, slices.ContainsFunc(scored.Failed, func(f Graded) bool { return f.Text == text }),
				"no answer is a no")
		}
		for i := range g.Expectations {
			g.Expectations[i].Passed = false
		}
		require.Zero(t, c.Score(g).Passed, "what did not pass once has not passed")
	}
}

// TestGradingsSurviveTheirFile: what is written is read as it was.
func TestGradingsSurviveTheirFile(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(13, 14))
	texts := []string{"a", "ü", `"quoted"`, "two\nlines", "<b>&amp;</b>", "a\u2028b"}
	for range 200 {
		g := Grading{Feedback: json.RawMessage(`{"overall":"x"}`)}
		for range random.IntN(6) {
			g.Expectations = append(g.Expectations, Graded{
				Text: texts[random.IntN(len(texts))], Passed: random.IntN(2) == 0,
				Evidence: texts[random.IntN(len(texts))], Source: []Source{"", Deterministic, ByGrader}[random.IntN(3)],
			})
		}
		data, err := json.MarshalIndent(g, "", " ")
		require.NoError(t, err)
		var file struct {
			Summary struct {
				Passed, Failed, Total int
				Rate                  float64 `json:"pass_rate"`
			}
		}
		require.NoError(t, json.Unmarshal(data, &file))
		require.Equal(t, []int{g.Passed(), len(g.Expectations) - g.Passed(), len(g.Expectations)},
			[]int{file.Summary.Passed, file.Summary.Failed, file.Summary.Total})
		require.InDelta(t, float64(g.Passed())/max(1, float64(len(g.Expectations))), file.Summary.Rate, 1e-12)
		again, err := ParseGrading(data)
		require.NoError(t, err)
		again.Feedback = g.Feedback // its blanks are another's
		require.Equal(t, g, again)
	}
}
