package results_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
)

func start() time.Time { return time.Date(2025, 1, 15, 10, 30, 0, 0, time.UTC) }

func row(iteration int, key string, action results.Action, changelog string) results.Row {
	r := results.Row{
		Iteration: iteration, Time: start().Add(time.Duration(iteration) * time.Hour), Action: action,
		Changelog: changelog,
	}
	if key != "" {
		v := metric.MustValue(key)
		r.Score = &v
	}
	return r
}

func text(value *metric.Value) string {
	if value == nil {
		return ""
	}
	return value.String()
}

func TestTrajectory(t *testing.T) {
	data, err := os.ReadFile("testdata/passrate.json")
	require.NoError(t, err)
	var vectors struct {
		Trajectory struct {
			Scores, Best []metric.Value
			Actions      []results.Action
		}
	}
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.Len(t, vectors.Trajectory.Scores, 4)
	var table results.Table
	for i, value := range vectors.Trajectory.Scores {
		r := results.Row{
			Iteration: i, Time: start(), Score: &value, Action: vectors.Trajectory.Actions[i],
			Changelog: "x",
		}
		require.NoError(t, table.Append(r, metric.Higher))
	}
	again, err := results.Parse(table.Bytes())
	require.NoError(t, err)
	for i, r := range again.Rows() {
		assert.Equal(t, vectors.Trajectory.Best[i].String(), text(r.Best), "iteration %d", i)
		assert.Equal(t, vectors.Trajectory.Scores[i].String(), text(r.Score))
	}
}

func TestFormat(t *testing.T) {
	var table results.Table
	assert.Equal(t, results.Header+"\n", string(table.Bytes()))
	for _, r := range []results.Row{
		row(0, "1.50", results.Baseline, results.InitialEvaluation),
		row(1, "1.3", results.Kept, "a\tb\\n\nc"),
		row(2, "", results.Reverted, "evaluation failed"),
		row(3, "1.2", results.Reverted, "guardrail"),
		row(4, "9007199254740993", results.Baseline, "New evaluator"),
	} {
		require.NoError(t, table.Append(r, metric.Lower))
	}
	assert.Equal(t, strings.Join([]string{
		"iteration\ttimestamp\tscore\tbest_score\taction\tchangelog",
		"0\t2025-01-15T10:30:00+00:00\t1.5\t1.5\tbaseline\tInitial evaluation",
		"1\t2025-01-15T11:30:00+00:00\t1.3\t1.3\tkept\ta\\tb\\\\n\\nc",
		"2\t2025-01-15T12:30:00+00:00\t\t1.3\treverted\tevaluation failed",
		"3\t2025-01-15T13:30:00+00:00\t1.2\t1.3\treverted\tguardrail",
		"4\t2025-01-15T14:30:00+00:00\t9007199254740993\t9007199254740993\tbaseline\tNew evaluator",
		"",
	}, "\n"), string(table.Bytes()))
	again, err := results.Parse(table.Bytes())
	require.NoError(t, err)
	assert.Equal(t, "a\tb\\n\nc", again.Rows()[1].Changelog)
	assert.Equal(t, "9007199254740993", text(again.Rows()[len(again.Rows())-1].Best))
}

func TestAppendTwice(t *testing.T) {
	var table results.Table
	require.NoError(t, table.Append(row(0, "1", results.Baseline, "Initial evaluation"), metric.Higher))
	require.NoError(t, table.Append(row(1, "2", results.Kept, "x"), metric.Higher))
	once := table.Bytes()
	require.NoError(t, table.Append(row(1, "2", results.Kept, "x"), metric.Higher))
	require.NoError(t, table.Append(row(0, "7", results.Baseline, "again"), metric.Higher))
	assert.Equal(t, string(once), string(table.Bytes()))

	reread, err := results.Parse(once)
	require.NoError(t, err)
	require.NoError(t, reread.Append(row(1, "3", results.Kept, "corrected"), metric.Higher))
	require.Len(t, reread.Rows(), 2)
	assert.Equal(t, "3", text(reread.Rows()[1].Best))
	assert.Contains(t, string(reread.Bytes()), "corrected")
	assert.NotContains(t, string(reread.Bytes()), "\tx\n")
}

func TestParseTolerates(t *testing.T) {
	data := "\ufeffIteration\ttimestamp\tscore\tbest_score\taction\tchangelog\tnote\r\n\r\n" +
		"0\t2025-01-15\t—\t\tBaseline\tx\tmore\r\n1\t2025-01-15 10:00:00\t1e3\t1e3\tkept"
	table, err := results.Parse([]byte(data))
	require.NoError(t, err)
	require.Len(t, table.Rows(), 2)
	assert.Equal(t, data, string(table.Bytes()), "what was there stays")
	assert.Equal(t, "1000", text(table.Rows()[1].Score))
	require.NoError(t, table.Append(row(2, "1", results.Reverted, "y"), metric.Higher))
	assert.Equal(t, data+"\n2\t2025-01-15T12:30:00+00:00\t1\t1000\treverted\ty\n", string(table.Bytes()))
}

func TestParseErrorsNameTheLine(t *testing.T) {
	head := results.Header + "\n"
	for name, c := range map[string]struct{ data, says string }{
		"no header":    {"0\t2025-01-15\t1\t1\tkept\tx\n", "line 1"},
		"columns":      {head + "0\t2025\n", "line 2: 2 columns"},
		"iteration":    {head + "\nx\t2025-01-15\t1\t1\tkept\tx\n", "line 3: the iteration \"x\""},
		"time":         {head + "1\tyesterday\t1\t1\tkept\tx\n", "yesterday"},
		"score":        {head + "1\t2025-01-15\t85%\t1\tkept\tx\n", "the score \"85%\" is not a number"},
		"best":         {head + "1\t2025-01-15\t1\tnan\tkept\tx\n", "best_score"},
		"action":       {head + "1\t2025-01-15\t1\t1\tliked\tx\n", "liked"},
		"a minus sign": {head + "-1\t2025-01-15\t1\t1\tkept\tx\n", "-1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := results.Parse([]byte(c.data))
			require.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
	var table results.Table
	require.Error(t, table.Append(results.Row{Action: "liked"}, metric.Higher))
	assert.Error(t, table.Append(results.Row{Action: results.Kept, Iteration: -1}, metric.Higher))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(results.Header+"\n1\t2025-01-15\t1\t1\tkept\tx\\ty\n"), "a\tb\\\n\x00\xff")
	f.Fuzz(func(t *testing.T, data []byte, changelog string) {
		table, err := results.Parse(data)
		if err != nil {
			return
		}
		before := len(table.Rows())
		added := results.Row{Iteration: 1 << 40, Time: start(), Action: results.Kept, Changelog: changelog}
		require.NoError(t, table.Append(added, metric.Lower))
		again, err := results.Parse(table.Bytes())
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(again.Rows()), before)
		assert.Equal(t, table.Rows()[len(table.Rows())-1].Changelog, again.Rows()[len(again.Rows())-1].Changelog)
		once := again.Bytes()
		require.NoError(t, again.Append(added, metric.Lower))
		assert.Equal(t, string(once), string(again.Bytes()))
	})
}
