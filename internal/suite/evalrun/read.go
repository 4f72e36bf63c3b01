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

const (
	// maxHistory bounds how many gradings are read, maxHistoryPaths how many paths
	// are looked at.
	maxHistory      = 2000
	maxHistoryPaths = 200_000
)

// History reads the gradings that stand below a directory in eval-<id>/, at any
// depth. Those that cannot be read are left out.
func History(ctx context.Context, dir string) ([]evals.PastCase, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	defer func() { _ = root.Close() }()
	seen := 0
	scanner := files.Scanner{
		Root: root, MaxEntries: maxHistory, Fault: func(string, error) error { return nil },
		Skip: func(name string) bool {
			seen++
			return seen > maxHistoryPaths || path.Base(name) == evals.OutputsDir // whatever a skill wrote there
		},
		Keep: func(name string) bool {
			return path.Base(name) == GradingFile && strings.HasPrefix(path.Base(path.Dir(name)), "eval-")
		},
	}
	list, err := scanner.List(ctx)
	var found []evals.PastCase
	for _, e := range list {
		data, err := readFile(root, e.Path, maxGradingFile)
		if err != nil {
			continue
		}
		if grading, err := evals.ParseGrading(data); err == nil {
			id := strings.TrimPrefix(path.Base(path.Dir(e.Path)), "eval-")
			found = append(found, evals.PastCase{ID: id, Grading: grading})
		}
	}
	return found, err
}
