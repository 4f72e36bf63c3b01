package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

// Scored is an iteration by its gradings: `iterate skill score --json`.
type Scored struct {
	Score metric.Value `json:"score"`
	// Runs are those that count: one, or as many as the decision was made by.
	Runs  []ScoredRun  `json:"runs"`
	Cases []CaseFigure `json:"cases"`
}

// ScoredRun is one run of the suite.
type ScoredRun struct {
	Dir   string       `json:"dir"` // from the iteration's directory, "." for its own
	Score metric.Value `json:"score"`
}

// Score computes what an iteration came to; 0 is the original.
func (v *Versions) Score(ctx context.Context, n int) (found Scored, err error) {
	w := v.Workspace
	suited, err := v.Suite(ctx)
	if err != nil {
		return found, err
	}
	dirs, err := IterationRuns(w.Iteration(n))
	if err != nil {
		return found, err
	}
	var places []string
	for _, dir := range dirs {
		places = append(places, filepath.Join(w.Iteration(n), dir))
	}
	result, err := evalrun.ReadAll(suited, places...)
	if errors.Is(err, fs.ErrNotExist) {
		table, err := w.Results()
		if err != nil {
			return found, err
		}
		for _, row := range table.Rows() {
			if row.Iteration == n {
				return found, fmt.Errorf("iteration %d was not measured: %s", n, plain.Short(row.Changelog, lineWidth))
			}
		}
		return found, fmt.Errorf("iteration %d was not run: %s has no such iteration", n, w.Dir)
	}
	if err != nil {
		return found, err
	}
	found.Score = evals.RateValue(result.Rate)
	for i, run := range result.Runs() {
		found.Runs = append(found.Runs, ScoredRun{dirs[i], evals.RateValue(evals.MeanPassRate(run))})
	}
	for _, c := range result.Cases {
		one := caseFigure(c, c.Trouble())
		runs := c.Runs
		if runs == nil {
			runs = []evals.CaseScore{c}
		}
		for _, run := range runs {
			one.Runs = append(one.Runs, run.Passed)
		}
		found.Cases = append(found.Cases, one)
	}
	return found, nil
}

// String is a table of the cases, and the score.
func (s Scored) String() string {
	table := render.Table{
		Header: []string{"case", "passed", "total", "rate", "problem"},
		Align:  "lrrr",
	}
	for _, c := range s.Cases {
		problem := ""
		if c.Problem != nil {
			problem = plain.Short(*c.Problem, lineWidth)
		}
		table.Rows = append(table.Rows,
			[]string{c.ID, strconv.Itoa(c.Passed), strconv.Itoa(c.Total), render.Figure(&c.PassRate), problem})
	}
	over := ""
	if len(s.Runs) > 1 {
		over = fmt.Sprintf(", the median of %d runs; passed and total are sums over them", len(s.Runs))
	}
	return fmt.Sprintf("%s\nscore %s%s\n", table, render.Figure(&s.Score), over)
}
