package loop

import (
	"cmp"
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/render"
)

// DryRun goes as far as the decision and writes nothing, here or on GitHub.
func (s *Service) DryRun(ctx context.Context) (render.Result, error) {
	own := *s
	own.GitHub = nil
	run := own.begin()
	result, err := run.through(ctx, run.proposeOnly)
	if result.Outcome != history.Idle && result.Outcome != history.Busy {
		result.Outcome = history.DryRun
	}
	return result, err
}

// proposeOnly makes a proposal and records it in this run's copy of the records alone.
func (r *run) proposeOnly(ctx context.Context) (err error) {
	if err := r.open(ctx); err != nil {
		return err
	}
	found := r.files
	r.drafted, r.store = &found, func(_ context.Context, u memory.Update) (string, error) {
		_, err := u.Apply(r.files)
		return "", err
	}
	if err := r.acquireLease(ctx); err != nil {
		return err
	}
	if first, err := r.lookAtComments(ctx); err != nil || first != "" {
		return cmp.Or(err, leave(first))
	}
	if r.asksCI(r.records) {
		return r.proposeForCI(ctx)
	}
	if r.stopped = r.rests(); r.stopped != "" {
		return idle(r.stopped)
	}
	r.from, r.made, err = r.propose(ctx)
	if err == nil {
		err = r.record(ctx, r.from, r.made)
	}
	if err == nil {
		err = r.conclude(ctx, r.made)
	}
	return err
}

// leave ends a run before what only the publishing job may do.
func leave(reason string) error { return idle(reason + "; `iterate job publish` does that") }

// proposeForCI lets an agent fix what CI found, when it is an agent's turn.
func (r *run) proposeForCI(ctx context.Context) error {
	w, asked := r.fixable(ctx)
	left := r.time() - r.Now().Sub(r.begun)
	if r.refusal != "" || !asked || r.blockedReason(r.records) != "" || left <= 0 {
		return leave(fmt.Sprintf("iteration %d waits for CI, whose answer is to be taken", w.e.Iteration))
	}
	if err := w.tryFix(ctx, left); err != nil {
		return err
	}
	return ends(history.PendingCI, r.made.Checked.Reasons...)
}

// pack makes the proposal whole for another job; it is nil when there is nothing to hand on.
func (r *run) pack(ctx context.Context) (p *Proposal, err error) {
	if p = r.made; p == nil || r.from.Head == "" || len(p.Events()) == 0 && len(r.baselineEvents) == 0 {
		return nil, nil //nolint:nilnil // as it says
	}
	p.Records, p.Baseline = recordsDigest(*r.drafted), r.baselineEvents
	if r.comments != nil {
		p.Heard, p.Told = r.comments.Until, r.commentsTold && p.Kind == forIteration
	}
	if p.Incumbent, _, err = r.Repo.TreeOf(ctx, r.from.Start); err != nil {
		return nil, err
	}
	if p.Candidate != "" {
		p.Files, err = changedFiles(ctx, r.Repo, p.Incumbent, p.Candidate)
	}
	return p, err
}

// changedFiles are the files of one tree that another has not, or has otherwise.
func changedFiles(ctx context.Context, repo *git.Repo, before, after string) ([]File, error) {
	changes, err := repo.Changes(ctx, before, after)
	if err != nil {
		return nil, err
	}
	list, names := make([]File, len(changes)), make([]string, len(changes))
	for i, c := range changes {
		if !utf8.ValidString(c.Path) {
			return nil, fmt.Errorf("the path %q is no UTF-8 and cannot be handed to another job: name the file "+
				"otherwise", c.Path)
		}
		list[i], names[i] = File{Path: c.Path, Mode: c.NewMode}, after+":"+c.Path
	}
	objects, err := repo.Cat(ctx, names...)
	for i, o := range objects { // one that is gone has none
		list[i].Data = o.Data
	}
	return list, err
}

// Propose runs one iteration, or one attempt to fix what CI found, and records
// nothing: it writes no lease, no event, and nothing on GitHub. It works under the
// start that Reserve recorded for it. The bundle is for Publish; it is nil when
// there is nothing for another job to do, and the result says why.
func (s *Service) Propose(ctx context.Context) (*Proposal, render.Result, error) {
	run := s.begin()
	run.joins = true
	result, err := run.through(ctx, func(ctx context.Context) error {
		err := run.proposeOnly(ctx)
		if conflict := conflict(err); conflict != nil { // there is no position then, and so no bundle
			return leave(conflict.String())
		}
		return err
	})
	if err != nil {
		return nil, result, err
	}
	made, err := run.pack(ctx)
	return made, result, err
}
