package evalrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/evals"
)

// ReadAll scores several runs of the suite, each in its directory, as one: its
// rate is the median of theirs, and its cases are put together.
func ReadAll(skill *Skill, dirs ...string) (Result, error) {
	var rates []metric.Value
	var runs [][]evals.CaseScore
	for _, dir := range dirs {
		one, err := Read(skill, dir)
		if err != nil || len(dirs) == 1 {
			return one, err
		}
		rates, runs = append(rates, evals.RateValue(one.Rate)), append(runs, one.Cases)
	}
	return Result{Cases: evals.Aggregate(runs...), Rate: statistics.Median(rates).Rat()}, nil
}

// maxGradingFile is more than the parser takes: it says what is too much.
const maxGradingFile = 9 << 20

// Read scores what an earlier run of the suite left in a directory: only
// eval-<id>/grading.json counts, and a case without one that can be read
// counts 0 and says why. Nothing else of the Result is known.
func Read(skill *Skill, dir string) (Result, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = root.Close() }()
	var r Result
	for _, c := range skill.Evals.Cases {
		r.Cases = append(r.Cases, readCase(root, c))
	}
	r.Rate = evals.MeanPassRate(r.Cases)
	return r, nil
}

// readCase scores one case.
func readCase(root *os.Root, c evals.Case) evals.CaseScore {
	name := path.Join("eval-"+c.ID, GradingFile)
	data, err := readFile(root, name, maxGradingFile)
	if errors.Is(err, fs.ErrNotExist) {
		problem := "there is no " + name
		if _, err := root.Lstat(path.Join("eval-"+c.ID, TranscriptFile)); err == nil {
			problem += "; its " + TranscriptFile + " says why"
		}
		return c.Crashed(problem)
	}
	if err != nil {
		return c.Crashed(name + ": " + files.Cause(err).Error())
	}
	grading, err := evals.ParseGrading(data)
	if err != nil {
		return c.Crashed(name + " " + err.Error())
	}
	return c.Score(grading)
}

// maxHistory bounds how many gradings are read.
const maxHistory = 2000

// History reads the gradings that stand below a directory in eval-<id>/, at any
// depth. Those that cannot be read are left out.
func History(ctx context.Context, dir string) (found []evals.PastCase, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	defer func() { _ = root.Close() }()
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		id, is := strings.CutPrefix(path.Base(path.Dir(name)), "eval-")
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case len(found) == maxHistory:
			return fs.SkipAll
		case err != nil, entry.IsDir() && path.Base(name) == evals.OutputsDir: // whatever a skill wrote there
			return fs.SkipDir
		case !is || path.Base(name) != GradingFile:
			return nil
		}
		if data, err := readFile(root, name, maxGradingFile); err == nil {
			if grading, err := evals.ParseGrading(data); err == nil {
				found = append(found, evals.PastCase{ID: id, Grading: grading})
			}
		}
		return nil
	})
	return found, err
}
