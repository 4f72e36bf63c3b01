package loop

import (
	"maps"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/plain"
)

// maxOwnChanges is how many files outside the target the evaluation of the unchanged files may
// change itself, such as a report that is tracked: a baseline says them.
const maxOwnChanges = 5000

// evaluatorFile reports whether a file is part of what measures.
func (r *measurer) evaluatorFile(path string) bool {
	return !r.Program.Allows(path) || r.Program.OfSuite(path)
}

// learn notes what a run of the unchanged files changed.
func (r *measurer) learn(env *environment) {
	if r.own == nil {
		r.own = map[string]bool{}
	}
	found := map[string]bool{}
	for path, content := range env.tree.Touched(r.evaluatorFile) {
		if content && !r.own[path] {
			found[path] = true
		}
		r.own[path] = r.own[path] || content
	}
	for _, name := range env.tree.GrownShares() {
		r.own[name] = false // What it makes there itself is no change of a file.
	}
	r.warnOfWrites(found)
}

// warnOfWrites warns of files whose content an evaluation changes itself.
func (r *measurer) warnOfWrites(touched map[string]bool) {
	written := slices.DeleteFunc(slices.Sorted(maps.Keys(touched)),
		func(path string) bool { return !touched[path] })
	if len(written) > 0 {
		r.warn("the evaluation writes to files of the repository, so that a candidate can too without being noticed; "+
			"let it write to ignored paths: %s", plain.List(written, maxListed))
	}
}

// maxListed bounds the files of a list that people read.
const maxListed = 5

// maxFixed is how many files are made read-only: each takes a moment
// whenever the evaluation begins, and the longer the more there are. What
// changes the others is noticed afterwards.
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
	for _, name := range m.tree.Shared {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(m.own)),
			func(path string) bool { return strings.HasPrefix(path, name+"/") }) {
			paths = append(paths, name)
		}
	}
	files, out := m.tree.Files(m.evaluatorFile), maps.Clone(m.own)
	paths = slices.DeleteFunc(slices.Concat(paths, m.Program.ScriptFiles(files), files), func(path string) bool {
		_, is := out[path]
		out[path] = true
		return is
	})
	return atMost(paths, maxFixed)
}

// checkEvaluator ends the attempt when the candidate changed what measures it
// while it ran, as runs of the unchanged files do not. A file that was put back counts as changed.
func (m *measurement) checkEvaluator(env *environment) error {
	touched := env.tree.Touched(m.evaluatorFile)
	maps.DeleteFunc(touched, func(path string, changed bool) bool {
		changes, own := m.own[path]
		return own && (changes || !changed)
	})
	if env.role == history.Incumbent || len(touched) == 0 {
		return nil
	}
	return ends(history.Rejected,
		decision.EvaluatorChanged.Says(plain.List(slices.Sorted(maps.Keys(touched)), maxListed)))
}
