package loop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
)

// Breakage is what the evaluation says of a target file that was broken.
type Breakage struct {
	File string `json:"file"`
	// How is what was done to it: Emptied, or Nonsense at its end.
	How string `json:"how"`
	// Problem is why the evaluation failed, as it should; "" when it did not.
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

// breakTarget breaks a target file in two throw-away trees and measures them. The
// commit has these files, which lie in a tree of it too.
func (r *measurer) breakTarget(ctx context.Context, entries []git.TreeEntry, tree string, found *Inspection) error {
	file := r.fileToBreak(entries, tree)
	if file == "" {
		return nil
	}
	for _, how := range []string{Emptied, Nonsense} {
		r.step("inspect", fmt.Sprintf("%s %s", file, how))
		broken, err := r.measureBroken(ctx, found.Commit, file, how)
		if err != nil {
			return err
		}
		if broken.Metric != nil {
			broken.judge(found.Samples, r.program.Direction)
		}
		found.Broken = append(found.Broken, broken)
	}
	return nil
}

// fileToBreak is the first target file that the script names, else the largest: the
// one that the evaluation is likeliest to need.
func (r *measurer) fileToBreak(entries []git.TreeEntry, tree string) string {
	rules := r.rules(position{entries: entries})
	sizes := map[string]int64{} // of the files that may change
	largest := ""
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Mode, "100") || !rules.Allow(entry.Path) {
			continue
		}
		info, err := os.Lstat(filepath.Join(tree, filepath.FromSlash(entry.Path)))
		if err != nil || info.Size() == 0 {
			continue
		}
		if sizes[entry.Path] = info.Size(); largest == "" || info.Size() > sizes[largest] {
			largest = entry.Path
		}
	}
	if named := r.program.ScriptFiles(func(path string) bool { return sizes[path] > 0 }); len(named) > 0 {
		return named[0]
	}
	return largest
}

func (r *measurer) measureBroken(ctx context.Context, commit, file, how string) (Breakage, error) {
	broken := Breakage{File: file, How: how}
	env, err := r.newEnvironment(ctx, history.Incumbent, commit, r.dirs.newDir("t"))
	if err != nil {
		return broken, err
	}
	defer env.Close()
	place := filepath.Join(env.tree.Dir, filepath.FromSlash(file))
	text := []byte{}
	if how == Nonsense {
		if text, err = os.ReadFile(place); err != nil {
			return broken, err
		}
		text = append(text, nonsense...)
	}
	if err := os.WriteFile(place, text, 0o600); err != nil {
		return broken, fmt.Errorf("break %s in a throw-away tree: %w", file, err)
	}
	outcome, err := env.evaluate(ctx)
	if err != nil {
		return broken, err
	}
	broken.Problem, broken.Metric = outcome.Problem, outcome.Measurement.Metric
	return broken, nil
}

// judge compares the number with those of the unchanged files.
func (b *Breakage) judge(samples []metric.Value, direction metric.Direction) {
	b.Gain = !slices.ContainsFunc(samples, func(s metric.Value) bool { return !direction.Better(*b.Metric, s) })
	low, high := slices.MinFunc(samples, metric.Value.Cmp), slices.MaxFunc(samples, metric.Value.Cmp)
	b.Unnoticed = low.Cmp(*b.Metric) <= 0 && b.Metric.Cmp(high) <= 0
}
