package evalrun

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite/evals"
)

// ReadAll scores several runs of the suite, each in its directory, as one: its
// rate is the median of theirs, and its cases are put together.
func ReadAll(skill *Skill, dirs ...string) (Result, error) {
	all := Result{Feedback: map[string]string{}, Gradings: map[string][]evals.Grading{}}
	var rates []metric.Value
	var runs [][]evals.CaseScore
	for _, dir := range dirs {
		one, err := Read(skill, dir)
		if err != nil {
			return Result{}, err
		}
		if len(dirs) == 1 {
			return one, nil
		}
		for id, feedback := range one.Feedback {
			all.Feedback[id] = cmp.Or(all.Feedback[id], feedback)
		}
		for id, gradings := range one.Gradings {
			all.Gradings[id] = append(all.Gradings[id], gradings...)
		}
		rates, runs = append(rates, evals.RateValue(one.Rate)), append(runs, one.Cases)
	}
	all.Cases, all.Rate = evals.Aggregate(runs...), statistics.Median(rates).Rat()
	return all, nil
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
	r := Result{Feedback: map[string]string{}, Gradings: map[string][]evals.Grading{}}
	for _, c := range skill.Evals.Cases {
		scored, grading := readCase(root, c)
		r.Cases = append(r.Cases, scored)
		if grading == nil {
			continue
		}
		r.Gradings[c.ID] = []evals.Grading{*grading}
		if len(grading.Feedback) > 0 {
			r.Feedback[c.ID] = string(grading.Feedback)
		}
	}
	r.Rate = evals.MeanPassRate(r.Cases)
	return r, nil
}

// readCase scores one case; its grading is nil when it cannot be read.
func readCase(root *os.Root, c evals.Case) (scored evals.CaseScore, found *evals.Grading) {
	name := path.Join("eval-"+c.ID, GradingFile)
	data, err := readFile(root, name, maxGradingFile)
	if errors.Is(err, fs.ErrNotExist) {
		problem := "there is no " + name
		if _, err := root.Lstat(path.Join("eval-"+c.ID, TranscriptFile)); err == nil {
			problem += "; its " + TranscriptFile + " says why"
		}
		return c.Crashed(problem), nil
	}
	if err != nil {
		return c.Crashed(name + ": " + files.Cause(err).Error()), nil
	}
	grading, err := evals.ParseGrading(data)
	if err != nil {
		return c.Crashed(name + " " + err.Error()), nil
	}
	return c.Score(grading), &grading
}
