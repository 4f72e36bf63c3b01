package evalrun

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/skill/evals"
)

// ReadAll scores several runs of the suite, each in its directory, as one: its
// rate is the median of theirs, and its cases are put together.
func ReadAll(skill *Skill, dirs ...string) (Result, error) {
	all := Result{Feedback: map[string]string{}}
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
	r := Result{Feedback: map[string]string{}}
	for _, c := range skill.Evals.Cases {
		scored, feedback := readCase(root, c)
		r.Cases = append(r.Cases, scored)
		if feedback != "" {
			r.Feedback[c.ID] = feedback
		}
	}
	r.Rate = evals.MeanPassRate(r.Cases)
	return r, nil
}

// readCase scores one case.
func readCase(root *os.Root, c evals.Case) (scored evals.CaseScore, feedback string) {
	name := path.Join("eval-"+c.ID, GradingFile)
	data, err := readFile(root, name, maxGradingFile)
	if errors.Is(err, fs.ErrNotExist) {
		problem := "there is no " + name
		if _, err := root.Lstat(path.Join("eval-"+c.ID, TranscriptFile)); err == nil {
			problem += "; its " + TranscriptFile + " says why"
		}
		return c.Crashed(problem), ""
	}
	if err != nil {
		return c.Crashed(name + ": " + bare(err).Error()), ""
	}
	grading, err := evals.ParseGrading(data)
	if err != nil {
		return c.Crashed(name + " " + err.Error()), ""
	}
	return c.Score(grading), string(grading.Feedback)
}
