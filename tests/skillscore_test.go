package tests

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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

// scoredWorld has a workspace with v0 and no iterations.
func scoredWorld(t *testing.T, totals ...int) *world {
	t.Helper()
	w := newWorld(t, map[string]string{"skill/SKILL.md": "# s\n", "skill/evals/evals.json": evalSuite(totals...)})
	a := w.binary("iterate", "skill", "snapshot", "skill", "ws/v0")
	require.Zero(t, a.code, a.stderr)
	return w
}

func TestScoreVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../internal/suite/evals/testdata/passrate.json")
	require.NoError(t, err)
	var vectors struct {
		Cases []struct {
			Name    string
			Cases   [][]int
			Rounded float64
		}
	}
	require.NoError(t, json.Unmarshal(data, &vectors))
	require.NotEmpty(t, vectors.Cases)
	for _, vector := range vectors.Cases {
		t.Run(vector.Name, func(t *testing.T) {
			t.Parallel()
			totals := make([]int, len(vector.Cases))
			for i, pair := range vector.Cases {
				totals[i] = 3
				if len(pair) == 2 {
					totals[i] = pair[1]
				}
			}
			w := scoredWorld(t, totals...)
			w.write("ws/iteration-1/nothing", "")
			for i, pair := range vector.Cases {
				if len(pair) == 2 {
					w.write(fmt.Sprintf("ws/iteration-1/eval-c%d/grading.json", i), graded(pair[0], pair[1]))
				}
			}
			got := w.score(1)
			assert.InDelta(t, vector.Rounded, math.Round(got.Score*1000)/1000, 1e-9)
			require.Len(t, got.Cases, len(vector.Cases))
		})
	}
}

func TestScoreBelievesTheFlagsAlone(t *testing.T) {
	t.Parallel()
	w := scoredWorld(t, 2, 2, 2)
	w.write("ws/iteration-2/eval-c0/grading.json", graded(2, 2))
	w.write("ws/iteration-2/eval-c0/outputs/grading.json", graded(0, 2))
	w.write("ws/iteration-2/eval-c1/grading.json", graded(2, 1)) // one is not answered
	w.write("ws/iteration-2/eval-c2/grading.json", `{"expectations": [`)
	w.write("ws/iteration-2/eval-c2/outputs/grading.json", graded(2, 2))
	got := w.score(2)
	assert.InDelta(t, 0.5, got.Score, 1e-9)
	assert.Equal(t, 1, got.Cases[1].Passed)
	assert.Nil(t, got.Cases[0].Problem)
	require.NotNil(t, got.Cases[1].Problem)
	assert.Equal(t, `the grading does not answer "expectation 1"`, *got.Cases[1].Problem)
	require.NotNil(t, got.Cases[2].Problem)
	assert.Contains(t, *got.Cases[2].Problem, "eval-c2/grading.json")

	a := w.binary("iterate", "skill", "score", "ws", "3")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "iteration 3 was not run")
	assert.Equal(t, 2, w.binary("iterate", "skill", "score", "ws", "x").code)

	require.NoError(t, os.Chmod(filepath.Join(w.dir, "ws/v0/evals/evals.json"), 0o644))
	w.write("ws/v0/evals/evals.json", evalSuite(1))
	a = w.binary("iterate", "skill", "score", "ws", "2")
	assert.Equal(t, 1, a.code)
	assert.Contains(t, a.stderr, "was altered")
}
