package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
)

// Kept says what a workspace has, and what is left of a run of so many iterations that was
// broken off; "" for nothing yet.
func Kept(w *Workspace, count int) string {
	table, err := w.Results()
	if err != nil || len(table.Rows) == 0 {
		return "" // what cannot be read promises nothing
	}
	text := fmt.Sprintf("iterations 0 to %d and v%d, the best, are kept in %s", table.Last, table.Best, w.Dir)
	if w.Run.Resumes(count) {
		done, _ := w.Run.Done(table.Rows)
		text += fmt.Sprintf("; %d of %d iterations of the run that was broken off are left", count-done, count)
	}
	return text
}

// OpenOrCreate continues the workspace at a place, or makes it, for the skill in dir.
func OpenOrCreate(ctx context.Context, place, dir string, warnings io.Writer) (*Workspace, error) {
	w, err := OpenWorkspace(ctx, place, warnings)
	if errors.Is(err, ErrNoWorkspace) {
		return CreateWorkspace(ctx, place, dir)
	}
	if err != nil {
		return nil, err
	}
	here, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return w, err
	}
	// A skill that is not where it was is taken for this one.
	if there, err := filepath.EvalSymlinks(w.Skill); err == nil && there != here {
		return w, misuse.Errorf("%s is the workspace of %s, not of %s: name another with --workspace", w.Dir, there, here)
	}
	w.Skill = here
	return w, nil
}

// RunsFile is in the directory of an iteration that was decided by a trial: it
// lists the runs, and says which of them the decision counts.
const RunsFile = "runs.json"

// Runs is the file: format 1.
type Runs struct {
	Schema int `json:"schema"`
	// Incumbent is the version that the candidate was held against.
	Incumbent int `json:"incumbent_version"`
	// Rule is the version of the rule that decided, Seed what the order of the runs
	// came from; the first version had neither.
	Rule int        `json:"rule_version,omitempty"`
	Seed string     `json:"seed,omitempty"`
	Runs []SuiteRun `json:"runs"`
}

// SuiteRun is one run of the suite for one side.
type SuiteRun struct {
	// Dir is where its gradings are, from the iteration's directory; "." is that
	// itself.
	Dir    string       `json:"dir"`
	Side   string       `json:"side"`
	Stage  string       `json:"stage"`
	WarmUp bool         `json:"warm_up"`
	Score  metric.Value `json:"score"`
	// Counts says that it is one of those that the decision was made by.
	Counts bool `json:"counts"`
}

// of lists the directories of a side's runs that count.
func (r Runs) of(side decision.Side) []string {
	var dirs []string
	for _, run := range r.Runs {
		if run.Counts && run.Side == string(side) {
			dirs = append(dirs, run.Dir)
		}
	}
	return dirs
}

// write keeps the list in an iteration's directory; those of the last stage count, without its
// warm-ups.
func (r Runs) write(dir string) error {
	for i, run := range r.Runs {
		r.Runs[i].Counts = run.Stage == r.Runs[len(r.Runs)-1].Stage && !run.WarmUp
	}
	return files.WriteJSON(filepath.Join(dir, RunsFile), r)
}

var runDir = lazyregexp.New(`^(\.|run-[0-9]{1,5}|incumbent-[0-9]{1,5})$`)

// readRuns reads the list of an iteration, which is empty where the suite was run once.
func readRuns(dir string) (r Runs, err error) {
	file := filepath.Join(dir, RunsFile)
	const most = 4 << 20
	data, err := files.ReadSmall(file, most)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil || r.Schema != Schema {
		return r, fmt.Errorf("%s is no list of runs that this program reads, or was cut off; remove it, and the "+
			"first run alone counts", file)
	}
	for _, run := range r.Runs {
		if !runDir().MatchString(run.Dir) {
			return r, fmt.Errorf("%s names %q, which is no run of this iteration", file, run.Dir)
		}
	}
	return r, nil
}

// candidates lists the directories of the candidate's runs that count: "." for one that ran once.
func (r Runs) candidates() []string {
	if dirs := r.of(decision.Candidate); len(dirs) > 0 {
		return dirs
	}
	return []string{"."}
}

// VersionRuns lists the directories of all runs of a version that a decision
// counts, up to an iteration: those by which it was kept, and those in which
// later candidates were held against it.
func VersionRuns(w *Workspace, version, upTo int) (all []string, err error) {
	for n := version; n <= max(version, upTo); n++ {
		r, err := readRuns(w.Iteration(n))
		if err != nil {
			return nil, err
		}
		dirs := r.of(decision.Incumbent)
		if n == version {
			dirs = r.candidates()
		} else if r.Incumbent != version {
			continue
		}
		for _, dir := range dirs {
			all = append(all, filepath.Join(w.Iteration(n), dir))
		}
	}
	return all, nil
}
