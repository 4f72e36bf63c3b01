package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/skill/workspace"
)

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
	Rule int    `json:"rule_version,omitempty"`
	Seed string `json:"seed,omitempty"`
	Runs []Run  `json:"runs"`
}

// Run is one run of the suite for one side.
type Run struct {
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

// count marks the runs of the last stage, without its warm-ups.
func (r *Runs) count() {
	if len(r.Runs) == 0 {
		return
	}
	last := r.Runs[len(r.Runs)-1].Stage
	for i := range r.Runs {
		r.Runs[i].Counts = r.Runs[i].Stage == last && !r.Runs[i].WarmUp
	}
}

// of lists the directories of a side's runs that count.
func (r *Runs) of(side decision.Side) []string {
	var dirs []string
	for _, run := range r.Runs {
		if run.Counts && run.Side == string(side) {
			dirs = append(dirs, run.Dir)
		}
	}
	return dirs
}

// write keeps the list in an iteration's directory.
func (r *Runs) write(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteFile(filepath.Join(dir, RunsFile), append(text, '\n'), 0o644)
}

var runDir = lazyregexp.New(`^(\.|run-[0-9]{1,5}|incumbent-[0-9]{1,5})$`)

// readRuns reads the list of an iteration, or nil, because the
// suite was run once.
func readRuns(dir string) (*Runs, error) {
	file := filepath.Join(dir, RunsFile)
	const most = 4 << 20
	data, err := files.ReadSmall(file, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // most iterations were not repeated
	}
	if err != nil {
		return nil, err
	}
	var r Runs
	if err := json.Unmarshal(data, &r); err != nil || r.Schema != workspace.Schema {
		return nil, fmt.Errorf("%s is no list of runs that this program reads, or was cut off; remove it, and the "+
			"first run alone counts", file)
	}
	for _, run := range r.Runs {
		if !runDir().MatchString(run.Dir) {
			return nil, fmt.Errorf("%s names %q, which is no run of this iteration", file, run.Dir)
		}
	}
	return &r, nil
}

// IterationRuns lists the directories, as they are in the iteration's, of the
// candidate's runs that count: "." for one that ran once.
func IterationRuns(dir string) ([]string, error) {
	r, err := readRuns(dir)
	if err != nil {
		return nil, err
	}
	if r != nil {
		if dirs := r.of(decision.Candidate); len(dirs) > 0 {
			return dirs, nil
		}
	}
	return []string{"."}, nil
}

// VersionRuns lists the directories of all runs of a version that a decision
// counts, up to an iteration: those by which it was kept, and those in which
// later candidates were held against it.
func VersionRuns(w *workspace.Workspace, version, upTo int) ([]string, error) {
	dirs, err := IterationRuns(w.Iteration(version))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, dir := range dirs {
		all = append(all, filepath.Join(w.Iteration(version), dir))
	}
	for n := version + 1; n <= upTo; n++ {
		r, err := readRuns(w.Iteration(n))
		if err != nil {
			return nil, err
		}
		if r == nil || r.Incumbent != version {
			continue
		}
		for _, dir := range r.of(decision.Incumbent) {
			all = append(all, filepath.Join(w.Iteration(n), dir))
		}
	}
	return all, nil
}
