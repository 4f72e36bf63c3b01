package loop

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
)

// ownChanges are files outside the target that the evaluation of the unchanged
// files changes itself, as far as this run has seen it: a report that is tracked,
// or a script that is made executable.
type ownChanges struct {
	known bool
	// touched is true for a path whose content changes.
	touched map[string]bool
}

// evaluatorFile reports whether a file is part of what measures.
func (r *measurer) evaluatorFile() func(path string) bool {
	targets := r.program.Matcher()
	return func(path string) bool { return !targets.Allows(path) || r.program.OfSuite(path) }
}

// learn notes what a run of the unchanged files changed.
func (r *measurer) learn(room *environment) {
	if r.own.touched == nil {
		r.own.touched = map[string]bool{}
	}
	r.own.known = true
	var written []string
	for _, one := range room.tree.Touched(r.evaluatorFile()) {
		if one.Content && !r.own.touched[one.Path] {
			written = append(written, one.Path)
		}
		r.own.touched[one.Path] = r.own.touched[one.Path] || one.Content
	}
	if len(written) > 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("the evaluation writes to files of the repository, so that a candidate can too without being noticed; let it write to ignored paths: %s", list(written)))
	}
}

// beyond are the changes that runs of the unchanged files do not make.
func (o *ownChanges) beyond(changes []tree.Touch) []string {
	var paths []string
	for _, one := range changes {
		if content, own := o.touched[one.Path]; !own || one.Content && !content {
			paths = append(paths, one.Path)
		}
	}
	return paths
}

// checkEvaluator ends the attempt when the candidate changed what measures it
// while it ran. A file that was put back counts as changed.
func (m *measurement) checkEvaluator(ctx context.Context, step decision.Step, room *environment) error {
	if step.Side == decision.Incumbent {
		m.learn(room)
		return nil
	}
	changes := room.tree.Touched(m.evaluatorFile())
	if len(changes) == 0 {
		return nil
	}
	if !m.own.known {
		m.step("measure", "the incumbent, since the evaluation changed files of the repository")
		incumbent, err := m.bench.environment(ctx, 1-place(step.Stage, decision.Candidate), m.at.Head)
		if err != nil {
			return err
		}
		if _, err := incumbent.evaluate(ctx); err != nil {
			return err
		}
		m.learn(incumbent)
	}
	if paths := m.own.beyond(changes); len(paths) > 0 {
		m.a.end(history.Rejected, "changed the evaluator while it ran: "+list(paths))
		return errEnded
	}
	return nil
}

// list names the first few of many paths.
func list(paths []string) string {
	const most = 5
	quoted := make([]string, 0, most)
	for _, path := range paths[:min(len(paths), most)] {
		quoted = append(quoted, fmt.Sprintf("%q", path))
	}
	if more := len(paths) - most; more > 0 {
		quoted = append(quoted, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(quoted, ", ")
}
