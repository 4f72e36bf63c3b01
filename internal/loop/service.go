// Package loop runs iterations: it takes the lease of a program, brings its
// branch up to date, lets an agent change the target files in a throw-away
// tree, measures the change in a second tree, decides, and writes the outcome
// to the program branch and the memory branch in one step.
//
// There is one path: propose makes a Proposal, a value that says what
// changed, what was measured, and what was decided and why; verify checks it and
// record writes it. Run does all of it in one job. Propose ends with the value as
// a bundle, and Publish begins with one. A dry run stops after the value.
package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/loop/strategy"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/live"
)

// BranchPrefix is what every program branch begins with.
const BranchPrefix = "autoloop/"

// Evaluator runs a program's evaluation in a directory.
type Evaluator interface {
	Run(ctx context.Context, request evaluation.Request) (evaluation.Result, error)
}

// Proposer is an agent with the model that it uses; "" is its own choice.
type Proposer struct {
	agent.Agent

	Model string
}

// Service runs iterations of one program in one repository. All fields but the
// optional ones must be set.
type Service struct {
	Program *program.Program
	Repo    *git.Repo
	Memory  *memory.Memory
	Trees   *tree.Builder
	Eval    Evaluator
	// Executor, optional, is who works on the cases or tasks of the program's suite,
	// and who grades them: where it is another than before, the incumbent is
	// measured anew first.
	Executor *history.Executor
	// Suite measures instead of Eval where the program's evaluation is `tasks`.
	Suite Suite
	// Agents propose in turn when an iteration has several candidates; the first also
	// fixes what CI finds.
	Agents []Proposer

	// Strategy is how the program searches.
	Strategy strategy.Named

	// GitHub, optional, is the program's issue and pull request.
	GitHub GitHub
	// Repository is owner/name on GitHub, "" without it.
	Repository string
	// Base names the default branch; "" finds it out.
	Base string
	// BudgetUSD is what the iterations of one Run may cost in dollars, besides the
	// program's own budgets; 0 is no bound.
	BudgetUSD float64
	// Force begins an iteration although the program is paused or completed. The
	// ledger says so.
	Force bool
	// MustReserve lets Propose work only under a start that Reserve recorded.
	MustReserve bool
	// RunDir is an empty private directory for the trees and homes of this run.
	RunDir string
	// Holder names this process in the lease; Until is set for each.
	Holder history.Lease
	// Alive reports whether the holder of a lease still runs, as far as this
	// machine can tell.
	Alive func(history.Lease) bool
	// Environ builds the whole environment of an agent or an evaluation whose
	// home and temporary directory are below dir.
	Environ func(dir string, names []string) ([]string, error)
	// Configure, optional, puts the configuration that the program's evaluation is
	// given into a new home.
	Configure func(home string) error
	// Now tells the time, NewRun gives a run its id.
	Now    func() time.Time
	NewRun func() string
	// Sleep waits between looks at CI; it returns early with the context's error.
	Sleep func(ctx context.Context, d time.Duration) error
	// Progress, optional, is told each step as it begins.
	Progress func(live.Status)
	// Ended, optional, is told each result of Run at once.
	Ended func(render.Result)
	// SignOff, optional, is the last trailer of every commit on the program
	// branch, with its line break.
	SignOff string
	// RunURL, optional, links to the log of this run.
	RunURL string
	// Isolated says that agents and evaluations reach nothing but their own trees.
	Isolated bool
	// Page, optional, is where all that was tried is drawn.
	Page string
	// Masker hides the secrets of this process in what agents say; what would put
	// one of them into the repository is rejected.
	Masker process.Masker
	// Transcripts, optional, is the directory in which what agents and evaluations
	// printed is kept, masked, in a directory for each program.
	Transcripts string

	absent  string // the agent that works in another job, or would
	refusal string // why nobody can work on the program here, "" when somebody can
}

// errLeaseLost says that another run took the program over in the meantime.
var errLeaseLost = errors.New("the lease was lost to another run; nothing of this iteration was recorded")

// Run runs up to count iterations and returns a result for each that began.
// It stops early when the program is paused, completed or busy, and after its
// stop-after-reverts. An error means that Autoloop could not do its work; the
// results before it stand.
func (s *Service) Run(ctx context.Context, count int) ([]render.Result, error) {
	var results []render.Result
	reverts, since := 0, s.Now()
	defer s.removeTrees()
	for len(results) < count {
		run := s.begin()
		run.since = since
		result, err := run.through(ctx, run.iterate)
		if err != nil {
			return results, err
		}
		switch {
		case result.Outcome.Dropped():
			reverts++
		case result.Outcome == history.Accepted:
			reverts = 0
		}
		switch limit := s.Program.StopAfterReverts; {
		case result.Stopped != "":
		case limit > 0 && reverts >= limit:
			result.Stopped = fmt.Sprintf("%d reverts in a row ended this run (stop-after-reverts)", reverts)
		case result.BaselineError != "":
			result.Stopped = "the unchanged files cannot be measured, which another iteration would not mend"
		}
		results = append(results, result)
		if s.Ended != nil {
			s.Ended(result)
		}
		if result.Stopped != "" || result.Outcome == history.Busy || result.Outcome == history.Idle {
			break
		}
	}
	return results, nil
}

// removeTrees removes what the iterations worked in, which takes its time where that is much.
func (s *Service) removeTrees() {
	if files := s.Trees.Released(); files >= manyFiles && s.Progress != nil {
		s.Progress(live.Status{
			Program: s.Program.Name, Stage: "trees", Detail: fmt.Sprintf("removing %d files", files), Since: s.Now(),
		})
	}
	s.Trees.Close()
}

// begin is a run that has done nothing yet. Its parts share the journal.
func (s *Service) begin() *run {
	now := s.Now()
	j := &journal{
		store: s.Memory.Update, mayWrite: (*records).holdsLease,
		session: &session{Service: s, course: course{id: s.NewRun()}, begun: now, since: now},
	}
	r := &run{thread: &thread{answered: map[string]bool{}, measurer: &measurer{spending: &spending{journal: j}}}}
	if len(s.Agents) > 0 {
		r.fixer = r.proposeFix
	}
	return r
}

// through does the work of a run, brings issue and pull request up to date, and says what
// it came to.
func (r *run) through(ctx context.Context, work func(context.Context) error) (render.Result, error) {
	err := work(ctx)
	end, is := endOf(err)
	if err != nil && (!is || end.conflict && r.drafted == nil) {
		if ctx.Err() != nil {
			r.giveUp(ctx)
		}
		return render.Result{}, err
	}
	if r.drafted == nil && (end == nil || !end.resting || len(r.answered) > 0) {
		r.updateGitHub(ctx)
	}
	return r.result(end), nil
}

// partingTime bounds what a run that was asked to end still records.
const partingTime = 20 * time.Second

// giveUp gives the lease back when a person or the system asked the run to end: that is no
// crash, which would count as an interruption. What cannot be recorded the next run finds out.
func (r *run) giveUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), partingTime)
	defer cancel()
	_ = r.update(ctx, "ended before its time", nil, func(b *records) error {
		if err := b.holdsLease(); err != nil { // there is nothing to give back, whatever else it might write
			return err
		}
		b.add(&history.Finished{Head: history.Head{Iteration: b.Open.Iteration}, Stopped: true})
		return nil
	})
}

// Refusing is the service where an iteration cannot begin: what it runs or proposes is an error of
// the program with that reason. It counts as a run, so that others get their turn, and the
// third in a row pauses the program. What comes before an iteration, such as reading CI, is
// done. Nothing moves the program branch, so it does not matter that somebody works on it.
func (s *Service) Refusing(reason string) *Service {
	own := s.without()
	own.refusal = reason
	return own
}

// without is the service where the program's agent does not work.
func (s *Service) without() *Service {
	own := *s
	own.Agents, own.absent = nil, cmp.Or(s.Program.Agent, "none")
	return &own
}
