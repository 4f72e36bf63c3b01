package tests

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
)

// evalSuite is the evals.json of a suite with so many expectations by case.
func evalSuite(totals ...int) string {
	var cases []string
	for i, total := range totals {
		var texts []string
		for k := range total {
			texts = append(texts, fmt.Sprintf("%q", fmt.Sprintf("expectation %d", k)))
		}
		cases = append(cases, fmt.Sprintf(`{"id": "c%d", "prompt": "do it", "expectations": [%s]}`, i,
			strings.Join(texts, ",")))
	}
	return `{"skill_name": "s", "evals": [` + strings.Join(cases, ",") + `]}`
}

// graded is a grading.json in which the first of the expectations passed, with
// a summary that is wrong.
func graded(passed, total int) string {
	var entries []string
	for k := range total {
		entries = append(entries, fmt.Sprintf(`{"text": "expectation %d", "passed": %v, "evidence": "seen"}`, k,
			k < passed))
	}
	return `{"summary": {"pass_rate": 1, "passed": 9, "failed": 0, "total": 9}, "expectations": [` +
		strings.Join(entries, ",") + `]}`
}

// scoreOf is what `iterate score --json` prints.
type scoreOf struct {
	Score float64
	Cases []struct {
		ID            string
		Passed, Total int
		PassRate      float64 `json:"pass_rate"`
		Problem       *string
	}
}

func (w *world) score(n int) scoreOf {
	w.t.Helper()
	a := w.binary("iterate", "skill", "score", "ws", fmt.Sprint(n), "--json")
	require.Zero(w.t, a.code, a.stderr)
	var got scoreOf
	require.NoError(w.t, json.Unmarshal([]byte(a.stdout), &got))
	return got
}
