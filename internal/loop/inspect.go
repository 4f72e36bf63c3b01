package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// Inspection is how the evaluation behaves on the incumbent.
type Inspection struct {
	Program string `json:"program"`
	Commit  string `json:"commit"`
	// Noisy says that runs of the same files gave different numbers.
	Noisy   bool           `json:"noisy"`
	Samples []metric.Value `json:"samples"`
	Median  metric.Value   `json:"median"`
	// Guardrails are the samples of the other numbers that decide.
	Guardrails map[string][]metric.Value `json:"guardrails,omitempty"`
	// Rule is how candidates will be decided.
	Rule decision.Rule `json:"rule"`
	// Seconds is how long one run took, Prepare how long its tree took to build
	// and set up.
	Seconds float64 `json:"seconds"`
	Prepare float64 `json:"prepare_seconds"`
	// Broken is what the evaluation says of a target file that was broken.
	Broken []Breakage `json:"broken,omitempty"`
	// Problem says why the evaluation cannot be used; "" when it can.
	Problem string `json:"problem,omitempty"`
}

// EnoughRuns is how many runs say how far an evaluation scatters; a program that
// asks for a thousand pairs need not wait for as many to be told what they cost.
const EnoughRuns = 30

// Inspect runs the evaluation on the incumbent, twice in two trees: enough to say that
// it works, and whether it gave the same number. When the numbers differ it measures on,
// until there are as many as a comparison has, at most `most`. Then it breaks a target
// file in throw-away trees in these ways and looks whether the evaluation notices. It
// takes no lease and writes nothing.
func (s *Service) Inspect(ctx context.Context, most int, ways ...string) (found Inspection, err error) {
	r := s.begin()
	found.Program = s.Program.Name
	if err = r.open(ctx); err == nil {
		found.Commit, err = r.head(ctx)
	}
	if err == nil && found.Commit == "" {
		_, found.Commit, err = r.base(ctx)
	}
	if err != nil {
		return found, err
	}
	runs := r.newSeries(history.Incumbent, found.Commit)
	defer runs.Close()
	r.step("inspect", "twice, in two trees")
	problem, err := r.probe(ctx, runs, len(runs.environments))
	if err != nil || problem != nil {
		found.Problem = decision.Text(problem)
		return found, err
	}
	found.Noisy, found.Rule = !runs.own().same(), r.rule()
	if found.Noisy && s.Program.Runs == 0 {
		found.Rule.Regime = decision.Noisy
	}
	taken, count := runs.own(), min(found.Rule.Pairs, most)
	for found.Rule.Regime == decision.Noisy && taken.runs < count && problem == nil && err == nil {
		r.minor("inspect", "noisy, run %d of %d", taken.runs+1, count)
		problem, err = r.sample(ctx, runs, taken.runs%len(runs.environments))
		found.Problem, found.Noisy = decision.Text(problem), !taken.same()
	}
	found.Samples, found.Guardrails, found.Median = taken.Samples, taken.GuardrailSamples, *taken.Metric
	found.Seconds, found.Prepare = taken.Seconds, taken.Prepare
	if err != nil || len(ways) == 0 || found.Problem != "" {
		return found, err
	}
	file, err := r.fileToBreak(ctx, found.Commit, runs.environments[0].tree.Dir)
	for _, how := range ways {
		if err != nil || file == "" {
			break
		}
		r.step("inspect", "%s %s", file, how)
		broken := Breakage{File: file, How: how}
		err = r.measureBroken(ctx, &found, &broken)
		found.Broken = append(found.Broken, broken)
	}
	return found, err
}

// Breakage is what the evaluation says of a target file that was broken.
type Breakage struct {
	File string `json:"file"`
	// How is what was done to it: Emptied, or Nonsense at its end.
	How string `json:"how"`
	// Problem is why the evaluation failed or refused it, or the guardrail that it
	// breaks, as it should; "" when it did not.
	Problem string `json:"problem,omitempty"`
	// Metric is the number that it gave all the same, or nil.
	Metric *metric.Value `json:"metric,omitempty"`
	// Unnoticed says that the number is one of the unchanged files; Gain that it is
	// better than all of them.
	Unnoticed bool `json:"unnoticed,omitempty"`
	Gain      bool `json:"gain,omitempty"`
}

// The ways in which a file is broken.
const (
	Emptied  = "emptied"
	Nonsense = "given a syntax error"
)

// nonsense is a syntax error in every language.
const nonsense = "\n)}] this is no program ([{ \"\n"

// fileToBreak is the largest target file of a commit that the script names, else the largest of
// all: the one that the evaluation is likeliest to need. They lie in a tree of the commit too.
func (r *measurer) fileToBreak(ctx context.Context, commit, tree string) (string, error) {
	entries, err := r.Repo.LsTree(ctx, commit)
	rules := r.rules(position{entries: entries})
	var largest int64
	found, names, named := "", r.Program.ScriptNames(), false
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Mode, "100") || !rules.Allow(entry.Path) {
			continue
		}
		info, err := os.Lstat(filepath.Join(tree, entry.Path))
		if err != nil || info.Size() == 0 {
			continue
		}
		is := names(entry.Path)
		if is && !named || is == named && info.Size() > largest {
			found, named, largest = entry.Path, is, info.Size()
		}
	}
	return found, err
}

// measureBroken breaks a file in a throw-away tree, measures that, and compares the number with
// those of the unchanged files.
func (r *measurer) measureBroken(ctx context.Context, found *Inspection, broken *Breakage) error {
	of := subjectOf(history.Incumbent, found.Commit)
	of.change = func(dir string) error { return breakFiles(dir, broken.How, broken.File) }
	env, err := r.newEnvironment(ctx, of, r.newDir("t"))
	if err != nil {
		return err
	}
	defer env.Close()
	outcome, err := env.evaluate(ctx)
	broken.Problem, broken.Metric = outcome.Problem, outcome.Measurement.Metric
	if err != nil || broken.Problem != "" {
		return err
	}
	rule := found.Rule
	rule.Regime, rule.CheckTooGood = decision.Single, false
	trial := decision.NewTrial(decision.Standard{
		Rule: rule, Seed: "none", Direction: r.Program.Direction,
		Initial: found.Guardrails,
	})
	d, err := trial.Run(func(decision.Step) (metric.Measurement, error) { return outcome.Measurement, nil })
	if d.Verdict != decision.Improved { // beside no best each number is: it is refused, or breaks a guardrail
		broken.Problem = d.Reasons[0].String()
		return err
	}
	broken.judge(found.Samples, r.Program.Direction)
	return err
}

// judge compares the number with those of the unchanged files.
func (b *Breakage) judge(samples []metric.Value, direction metric.Direction) {
	b.Gain = !slices.ContainsFunc(samples, func(s metric.Value) bool { return !direction.Better(*b.Metric, s) })
	low, high := slices.MinFunc(samples, metric.Value.Cmp), slices.MaxFunc(samples, metric.Value.Cmp)
	b.Unnoticed = low.Cmp(*b.Metric) <= 0 && b.Metric.Cmp(high) <= 0
}

// breakFiles breaks files of a throw-away tree; one that is not there is made. Links
// and directories stay, and so does what is not below a directory: the incumbent has a
// file or a link there.
func breakFiles(dir, how string, files ...string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, file := range files {
		if err := breakFile(root, how, file); err != nil {
			return fmt.Errorf("break %s in a throw-away tree: %w", file, err)
		}
	}
	return nil
}

func breakFile(root *os.Root, how, file string) error {
	for dir := filepath.Dir(file); dir != "."; dir = filepath.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
			return nil
		}
	}
	info, err := root.Lstat(file)
	var text []byte
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := root.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return nil
	case how == Nonsense:
		if text, err = root.ReadFile(file); err != nil {
			return err
		}
	}
	if how == Nonsense {
		text = append(text, nonsense...)
	}
	return root.WriteFile(file, text, 0o600)
}

// breaking returns what breaks, in a tree of the incumbent, the files that the candidate
// changed, and notes when the candidate left nothing in them.
func (m *measurement) breaking(ctx context.Context, side decision.Side) (func(dir string) error, error) {
	changes, err := m.Repo.Changes(ctx, m.at.Head, m.a.tree)
	if err != nil {
		return nil, err
	}
	how := Emptied
	if side == decision.Garbled {
		how = Nonsense
	} else if m.a.LeavesNothing, err = leavesNothing(ctx, m.Repo, changes); err != nil {
		return nil, err
	}
	if m.a.LeavesNothing {
		m.trial.LeavesNothing()
	}
	return func(dir string) error { return breakFiles(dir, how, git.Paths(changes)...) }, nil
}

// leavesNothing reports whether all changed files are gone, or blank.
func leavesNothing(ctx context.Context, repo *git.Repo, changes []git.DiffEntry) (bool, error) {
	var ids []string
	for _, change := range changes {
		if change.NewMode != "" {
			ids = append(ids, change.NewID)
		}
	}
	texts, err := repo.Cat(ctx, ids...)
	return !slices.ContainsFunc(texts, func(o git.Object) bool { return len(bytes.TrimSpace(o.Data)) > 0 }), err
}
