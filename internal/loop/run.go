package loop

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/render/live"
)

// run is one run of a program under way.
type run struct {
	*thread

	joins bool // work under the start that an earlier job of this run recorded
	aside bool // apply commands alone, which a start for another job does not hinder

	working        []*attempt          // whose agents were asked
	leftAs         git.Fingerprint     // of the repository, as the agents left it
	transcript     string              // the file with what the deciding agent printed
	baselineEvents []*history.Measured // the baseline that this run measured
	baselineError  string              // why it cannot be measured, "" when it can
	drafted        *memory.Files       // the records that a run found which writes nothing, nil in the others
	// made is what a run proposed that records nothing, from where the branches stood then; nil when it
	// ended before it had anything to hand on.
	made *Proposal
	from position
	// fixer proposes fixes for what CI found; it is nil where nobody works.
	fixer func(ctx context.Context, w *waiting, left time.Duration) (position, *Proposal, error)
}

// endedError says how a run ended that decided nothing, or an attempt without a decision.
type endedError struct {
	outcome state.Status
	reasons []decision.Reason
	failing []history.Check // of CI
	resting bool            // the program is paused or completed, which a comment may end
	// baseline says that the unchanged files cannot be measured, conflict that the default
	// branch cannot be merged.
	baseline, conflict bool
}

func (e *endedError) Error() string { return decision.Joined(e.reasons) }

// endOf is how a run ended that decided nothing, when that is the error.
func endOf(err error) (end *endedError, is bool) { return errors.AsType[*endedError](err) }

// ends is an endedError.
func ends(outcome state.Status, reasons ...decision.Reason) error {
	return &endedError{outcome: outcome, reasons: reasons}
}

// idle ends a run in which nothing was to be done.
func idle(why string) error { return ends(history.Idle, decision.Say(why)) }

// unmeasured says why the unchanged files cannot be measured.
func unmeasured(reason decision.Reason) error {
	return &endedError{outcome: history.Error, reasons: []decision.Reason{reason}, baseline: true}
}

// conflict says why the default branch cannot be merged, when that is the error, and else nothing.
func conflict(err error) *decision.Reason {
	if end, is := endOf(err); is && end.conflict {
		return &end.reasons[0]
	}
	return nil
}

// prepare takes the lease and does what comes before an iteration: it applies commands,
// asks CI about one that waits, and pauses a program whose runs vanish. It says whether an
// iteration follows.
func (r *run) prepare(ctx context.Context) (begins bool, err error) {
	if err := r.acquire(ctx); err != nil {
		return false, err
	}
	if err := r.readComments(ctx); err != nil {
		return false, err
	}
	switch {
	case r.records.Interrupted >= maxInterrupted && r.stopped == "":
		return false, r.pauseInterrupted(ctx)
	case r.stopped == "" && r.asksCI(r.records):
		return false, r.await(ctx)
	}
	if r.stopped = cmp.Or(r.stopped, r.rests()); r.stopped == "" {
		return true, nil
	}
	p := r.newProposal(forIteration, position{}) // gives the lease back
	return false, cmp.Or(r.enterProposal(ctx, position{}, p, nil), r.conclude(ctx, p))
}

func (r *run) iterate(ctx context.Context) error {
	if begins, err := r.prepare(ctx); !begins || err != nil {
		return err
	}
	at, p, err := r.propose(ctx)
	if reason := cmp.Or(conflict(err), pushRefusal(err)); reason != nil {
		return r.failForPerson(ctx, *reason)
	}
	if err != nil {
		return err
	}
	err = r.record(ctx, at, p)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		return r.fail(ctx, at, decision.NotRecorded.Says(refused.Reason), nil)
	}
	if err != nil {
		return err
	}
	return r.conclude(ctx, p)
}

// conclude waits for CI where that is needed.
func (r *run) conclude(ctx context.Context, p *Proposal) error {
	if p.Decided == nil && p.Checked == nil {
		return idle(r.stopped)
	}
	return r.await(ctx)
}

// fail records an iteration that could not be run as an error.
func (r *run) fail(ctx context.Context, at position, reason decision.Reason, pause *decision.Reason) error {
	p := r.newProposal(forIteration, at)
	r.describe(p, at, r.interrupted(reason))
	return r.enterProposal(ctx, at, p, pause)
}

// failForPerson records an error that only a person can resolve, and pauses the
// program at once.
func (r *run) failForPerson(ctx context.Context, reason decision.Reason) error {
	return r.fail(ctx, position{}, reason, &reason)
}

// session is one run of one program: what identifies it, and what it has to say.
type session struct {
	*Service
	course

	begun    time.Time
	since    time.Time // when the first iteration of this process began
	warnings []string
}

// course is how far a run has come. What a change of the records finds out stays with those
// records until they are written: a change that lost a race is made again.
type course struct {
	id        string // of the run, or of the start that it works under
	iteration int
	stopped   string      // why the program takes no further iteration, "" when it does
	asked     bool        // somebody asked for an iteration now
	left      budget.Left // what the budgets leave to the iteration
}

func (s *session) branch() string { return BranchPrefix + s.Program.Name }

func (s *session) ref() string { return "refs/heads/" + s.branch() }

// head is the commit of the program branch, "" when there is no branch.
func (s *session) head(ctx context.Context) (string, error) { return s.Memory.HeadOf(ctx, s.ref()) }

func (s *session) step(stage, format string, args ...any) { s.tell(false, stage, format, args...) }

// minor is one of many similar steps.
func (s *session) minor(stage, format string, args ...any) { s.tell(true, stage, format, args...) }

func (s *session) tell(minor bool, stage, format string, args ...any) {
	if s.Progress != nil {
		s.Progress(live.Status{
			Program: s.Program.Name, Iteration: s.iteration, Stage: stage, Detail: fmt.Sprintf(format, args...),
			Since: s.Now(), Minor: minor,
		})
	}
}

// warn notes a warning, unless it is of an error that is nil. That the API cannot be reached
// is said once in a run.
func (s *session) warn(format string, args ...any) {
	for _, arg := range args {
		if err, is := arg.(error); arg == nil || is && api.Reported(err) {
			return
		}
	}
	s.note(fmt.Sprintf(format, args...))
}

// note adds warnings that are not noted yet: a run may read the same twice.
func (s *session) note(warnings ...string) {
	for _, warning := range warnings {
		if !slices.Contains(s.warnings, warning) {
			s.warnings = append(s.warnings, warning)
		}
	}
}

// seed is the program's own, so that chance repeats itself.
func (s *session) seed() int64 {
	sum := fnv.New64a()
	sum.Write([]byte(s.Program.Name))
	return int64(sum.Sum64() >> 1)
}

// rules say what a candidate may change.
func (s *session) rules(at position) decision.Rules {
	var files []string
	for _, entry := range at.entries {
		if strings.HasPrefix(entry.Mode, "100") {
			files = append(files, entry.Path)
		}
	}
	return decision.Rules{
		Target: s.Program.Targeted, Protected: s.Program.Protects, Literal: s.Program.NamesExactly,
		ProgramFile: s.Program.File, Scripts: s.Program.ScriptFiles(files),
	}
}

// newDir names a directory in a private one of its own, which nobody finds by
// listing what lies around it. All names have the same length, so that no tree
// has a longer path than another.
func (s *session) newDir(kind string) string {
	closed := filepath.Join(s.RunDir, "w")
	_ = os.Mkdir(closed, 0o300) // Where that fails, so does what is made in it.
	return filepath.Join(closed, strings.ToLower(rand.Text()), kind)
}

// remove deletes a directory that newDir named, with the private one around it.
func (s *session) remove(dir string) { _ = files.RemoveAll(filepath.Dir(dir)) }
