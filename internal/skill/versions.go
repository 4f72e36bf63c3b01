package skill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// lineWidth bounds what is said of a name or of a problem on a line.
const lineWidth = 100

// Versions are those of a skill in its workspace, with what is needed to compare
// them, and to show and ask what is done with them.
type Versions struct {
	*Workspace
	// TempDir is where throw-away repositories are made, with the environment of git.
	TempDir string
	Environ []string
	// Out is for what is said, Err for warnings. Terminal says that Out is one.
	Out, Err io.Writer
	Terminal bool
	// Ask asks a person; the error is the end of the context.
	Ask func(ctx context.Context, question string) (bool, error)
}

// Show prints a report as markdown, on a terminal as plain text.
func (v *Versions) Show(r render.SkillReport) error {
	text := r.Markdown()
	if v.Terminal {
		text = r.Text()
	}
	_, err := io.WriteString(v.Out, text)
	return err
}

// Suite reads the suite that a workspace is scored by: v0's, which must
// be as it was taken.
func (v *Versions) Suite(ctx context.Context) (*evalrun.Skill, error) {
	original := v.Version(0)
	kept, err := Verify(ctx, original)
	if err != nil {
		return nil, err
	}
	if kept.Below(suite.EvalsDir).Digest() != v.SuiteHash {
		return nil, fmt.Errorf("the suite in %s is not that of manifest.json: its cases changed; begin a new "+
			"workspace with --fresh", original)
	}
	found, err := evalrun.Load(original, ".", "")
	if err != nil {
		return nil, fmt.Errorf("the suite in %s cannot be used and stays as it is; correct that of the skill, and "+
			"begin a new workspace with --fresh: %w", original, err)
	}
	return found, nil
}

// Scored is an iteration by its gradings: `iterate skill score --json`.
type Scored struct {
	Score metric.Value `json:"score"`
	// Runs are those that count: one, or as many as the decision was made by.
	Runs  []ScoredRun  `json:"runs"`
	Cases []CaseFigure `json:"cases"`
	text  string       // what did not pass, and what did, for people
}

// ScoredRun is one run of the suite.
type ScoredRun struct {
	Dir   string       `json:"dir"` // from the iteration's directory, "." for its own
	Score metric.Value `json:"score"`
}

// Score computes what an iteration came to; 0 is the original.
func (v *Versions) Score(ctx context.Context, n int) (found Scored, err error) {
	suited, err := v.Suite(ctx)
	if err != nil {
		return found, err
	}
	places, err := VersionRuns(v.Workspace, n, n)
	if err != nil {
		return found, err
	}
	result, err := evalrun.ReadAll(suited, places...)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("iteration %d was not measured, `iterate log %s` says what became of it: %w", n, v.Dir, err)
	}
	if err != nil {
		return found, err
	}
	found.Score, found.text = result.Rate, evalrun.Failures(result, maxText)
	for i, run := range result.Runs {
		dir, _ := filepath.Rel(v.Iteration(n), places[i])
		found.Runs = append(found.Runs, ScoredRun{dir, suite.MeanPassRate(run)})
	}
	for i, c := range result.Cases {
		one := caseFigure(c, c.Trouble())
		for _, run := range result.Runs {
			one.Runs = append(one.Runs, run[i].Passed)
		}
		found.Cases = append(found.Cases, one)
	}
	return found, nil
}

// String says what did not pass, and the score.
func (s Scored) String() string {
	over := ""
	if len(s.Runs) > 1 {
		over = fmt.Sprintf(", the median of %d runs; passed and total are sums over them", len(s.Runs))
	}
	return fmt.Sprintf("%s\nscore %s%s\n", s.text, render.Figure(&s.Score), over)
}
