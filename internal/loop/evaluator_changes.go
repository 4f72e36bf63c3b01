package loop

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
)

// ownChanges are files outside the target that the evaluation of the unchanged
// files changes itself, as far as this run has seen it or the baseline says: a
// report that is tracked, or a script that is made executable. It is true for a path whose
// content changes, and nil while nothing is known.
type ownChanges map[string]bool

const maxOwnChanges = 200

// record is what the baseline says of them; nil says nothing.
func (o ownChanges) record() map[string]bool {
	if len(o) > maxOwnChanges {
		return nil
	}
	return maps.Clone(o)
}

// evaluatorFile reports whether a file is part of what measures.
func (r *measurer) evaluatorFile() func(path string) bool {
	targets := r.Program.Matcher()
	return func(path string) bool { return !targets.Allows(path) || r.Program.OfSuite(path) }
}

// learn notes what a run of the unchanged files changed.
func (r *measurer) learn(env *environment) {
	if r.own == nil {
		r.own = ownChanges{}
	}
	found := map[string]bool{}
	for _, one := range env.tree.Touched(r.evaluatorFile()) {
		if one.Content && !r.own[one.Path] {
			found[one.Path] = true
		}
		r.own[one.Path] = r.own[one.Path] || one.Content
	}
	for _, name := range env.tree.GrownShares() {
		r.own[name] = false // What it makes there itself is no change of a file.
	}
	if count := len(env.tree.Files(r.evaluatorFile())); count > maxFixed {
		r.warn("%d files are not the target's, and an evaluation finds at most %d of them read-only: what changes "+
			"the others while it runs is noticed afterwards", count, maxFixed)
	}
	r.warnOfWrites(found)
}

// warnOfWrites warns of files whose content an evaluation changes itself.
func (r *measurer) warnOfWrites(touched map[string]bool) {
	written := slices.DeleteFunc(slices.Sorted(maps.Keys(touched)),
		func(path string) bool { return !touched[path] })
	if len(written) > 0 {
		r.warnings = append(r.warnings,
			fmt.Sprintf("the evaluation writes to files of the repository, so that a candidate can too without being "+
				"noticed; let it write to ignored paths: %s", list(written)))
	}
}

// beyond are the changes that runs of the unchanged files do not make.
func (o ownChanges) beyond(changes []tree.Touch) []string {
	var paths []string
	for _, one := range changes {
		if content, own := o[one.Path]; !own || one.Content && !content {
			paths = append(paths, one.Path)
		}
	}
	return paths
}

// maxFixed is how many files are made read-only: each takes a moment
// whenever the evaluation begins, and the longer the more there are.
const maxFixed = 1000

// fixed are the files of the evaluator that its runs can only read, where the
// system can do that: all but those that it writes itself, those first that the
// script names, and not more than maxFixed. It is nil as long as these are not known,
// and where people wrote all of the tree.
func (m *environment) fixed() []string {
	if m.role == history.Baseline || m.own == nil {
		return nil
	}
	paths := []string{".git"} // its answers are part of what measures
	for _, name := range m.tree.Shared() {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(m.own)),
			func(path string) bool { return strings.HasPrefix(path, name+"/") }) {
			paths = append(paths, name)
		}
	}
	files, out := m.tree.Files(m.evaluatorFile()), maps.Clone(m.own)
	paths = slices.DeleteFunc(slices.Concat(paths, m.Program.ScriptFiles(files), files), func(path string) bool {
		_, is := out[path]
		out[path] = true
		return is
	})
	return atMost(paths, maxFixed)
}

// checkEvaluator ends the attempt when the candidate changed what measures it
// while it ran. A file that was put back counts as changed.
func (m *measurement) checkEvaluator(ctx context.Context, env *environment) error {
	if env.role == history.Incumbent {
		return nil
	}
	changes := env.tree.Touched(m.evaluatorFile())
	if len(changes) == 0 {
		return nil
	}
	if m.own == nil {
		m.step("measure", "the default branch, since the evaluation changed files of the repository")
		base := m.newSeries(history.Baseline, m.at.Base)
		defer base.Close()
		made, err := base.environment(ctx, 0, base.subject)
		if err != nil {
			return err
		}
		outcome, err := made.evaluate(ctx)
		if err != nil {
			return err
		}
		if outcome.OverLimit { // what was not run teaches nothing
			return ends(history.Error, decision.EvaluatorUnsure.Says(outcome.Problem))
		}
		m.learn(made)
	}
	if paths := m.own.beyond(changes); len(paths) > 0 {
		return ends(history.Rejected, decision.EvaluatorChanged.Says(list(paths)))
	}
	return nil
}

func list(paths []string) string {
	const most = 5
	quoted := make([]string, 0, most)
	for _, path := range atMost(paths, most) {
		quoted = append(quoted, fmt.Sprintf("%q", path))
	}
	if more := len(paths) - most; more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(quoted, ", ")
}
