package loop

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/decision/statistics"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// verify checks the proposal of an iteration against the program and its branch
// as they are here, without measuring. What does not hold is a
// *RefusedError. The decision itself is computed again when it is
// entered, by verifyDecision.
func (r *run) verify(ctx context.Context, at position, p *Proposal) error {
	outcomes := []state.Status{history.PendingCI}
	if p.Kind != forFix {
		outcomes = []state.Status{history.Accepted, history.Rejected, history.Inconclusive, history.Error}
		if err := r.verifyBaseline(at, p); err != nil {
			return err
		}
	}
	if err := verifyOutcome(at, p, outcomes); err != nil || !p.Kept() {
		return err
	}
	return r.verifyCandidate(ctx, at, p)
}

// verifyBaseline checks a baseline that is still to be recorded.
func (r *run) verifyBaseline(at position, p *Proposal) error {
	needs := r.needsBaseline(at)
	failed := p.Decided != nil && p.Decided.Outcome == history.Error || p.Postponed != nil
	switch {
	case needs != nil && len(p.Baseline) == 0 && !failed:
		return refuse("it has no baseline: %s", needs)
	case needs == nil && len(p.Baseline) > 0:
		return refuse("it has a baseline that nothing asks for")
	case len(p.Baseline) > 0 && (len(p.Baseline) == 2) != (at.Head != at.Base):
		return refuse("its baseline is not of these commits")
	}
	for i, e := range p.Baseline {
		switch {
		case e.Metric == nil || i == 0 &&
			(e.Evaluator != at.Evaluator || e.Definition != at.Definition):
			return refuse("its baseline is of another evaluation than the program's")
		case r.Program.Evaluation != program.Tasks && len(e.Samples) == 0:
			return refuse("its baseline has no samples")
		case !p.Baseline[0].Noisy && !statistics.Same(e.Samples):
			return refuse("its baseline has different samples, and is not noisy")
		}
		if problem := r.unfit(e); problem != nil && r.Program.Evaluation != program.Tasks {
			return refuse("its baseline cannot be used: %s", problem)
		}
		p.Baseline[i].Reason = needs
	}
	return nil
}

// verifyOutcome checks that outcome, verdict and evaluation agree. outcomes are
// those that a proposal of this kind may have.
func verifyOutcome(at position, p *Proposal, outcomes []state.Status) error {
	e := p.Decided
	switch {
	case e == nil:
		return nil
	case !slices.Contains(outcomes, e.Outcome):
		return refuse("its outcome is %.40q, which no proposal of its kind has", e.Outcome)
	case e.Outcome == history.Error && e.Verdict != "":
		return refuse("its outcome is an error with a verdict")
	case e.Outcome == history.Error:
		return nil
	case e.Evaluator != at.Evaluator || e.Definition != at.Definition:
		return refuse("it was measured by another evaluation than the program's")
	case p.Kept() && (e.Verdict != decision.Improved || e.Metric == nil):
		return refuse("it is accepted without an improvement")
	}
	for _, m := range p.Proposed {
		if !m.Outcome.Dropped() && m.Outcome != history.Error && (m.Proposal != p.Number() || !p.Kept()) {
			return refuse("its proposal %d is %.40q, and another decides", m.Proposal, m.Outcome)
		}
	}
	return nil
}

// verifyDecision returns the decision as these records have it. It is computed
// again from the measurements, by the program's own rule, and refused when the
// result differs. Its reasons are those of that computation: the ones that the
// proposal has are kept only where nothing can be computed.
func (r *run) verifyDecision(b *records, at position, p *Proposal) (history.Decided, error) {
	e := *p.Decided
	if e.Disagreement = nil; !p.Kept() { // the new incumbent was measured beside the old one
		e.Disagreement = audit.Disagreement(b.Summary, p.Measured)
	}
	if e.Disagreement != nil {
		r.note(e.Disagreement.String())
	}
	e.Parent, e.Direction, e.Target, e.Changed = at.PushOnto, r.Program.Direction, b.target(),
		atMost(e.Changed, maxChanged)
	switch {
	case e.Verdict == "":
		e.Metric, e.PreviousBest, e.Best, e.Delta, e.Evidence, e.LeavesNothing = nil, b.Best, b.Best, "", nil, false
	case r.Program.Evaluation == program.Tasks:
		if err := verifySuiteDecision(b, p, &e); err != nil {
			return e, err
		}
	case e.Rule == nil || !e.Rule.Same(b.rule()):
		return e, refuse("it was decided by another rule than the program's")
	default:
		again, err := audit.Decision(b.Summary, p.Measured, &e)
		if err != nil {
			return e, refuse("its measurements do not bear its decision: %s", err)
		}
		e.Warning, e.Reasons = again.Warning, reasonsOf(*e.Rule, again)
		if !p.Kept() {
			e.Outcome = outcomeOf(again)
		}
	}
	e.Reasons = append(slices.Clip(e.Reasons), others(p)...)
	return e, nil
}

// verifySuiteDecision checks the verdict of a suite against its numbers, as far
// as they say it: the comparison task by task is not recorded.
func verifySuiteDecision(b *records, p *Proposal, e *history.Decided) error {
	best := b.Best
	if e.Verdict == decision.Improved {
		best = e.Metric
	}
	var last *history.Measured
	for _, m := range p.Measured {
		if m.Proposal == e.Proposal {
			last = m
		}
	}
	switch {
	case e.Rule != nil || len(e.Evidence) > 0:
		return refuse("it was decided by another rule than the program's")
	case (e.Outcome == history.Rejected) == (e.Verdict == decision.Improved) ||
		history.ValueText(e.Best) != history.ValueText(best):
		return refuse("its verdict and its outcome contradict each other")
	case last == nil || history.ValueText(last.Metric) != history.ValueText(e.Metric):
		return refuse("its metric is not what was measured")
	case e.Metric != nil && e.Delta != metric.Delta(*e.Metric, e.PreviousBest):
		return refuse("its delta is not that of its metrics")
	}
	return nil
}

// writeCandidate makes the tree of a candidate that came in a bundle, from its files.
func (r *run) writeCandidate(ctx context.Context, on string, p *Proposal) error {
	files := map[string]*git.File{}
	for _, file := range p.Files {
		switch file.Mode {
		case "":
			files[file.Path] = nil
		case git.ModeFile, git.ModeExecutable, git.ModeSymlink:
			files[file.Path] = &git.File{Mode: file.Mode, Data: file.Data}
		default:
			return refuse("%.80q is no regular file and no link", file.Path)
		}
	}
	id, err := r.Repo.WriteFiles(ctx, on, files)
	if err != nil {
		return refuse("its files cannot be written: %v", err)
	}
	if id != p.Candidate {
		return refuse("it brings other files than those that were measured")
	}
	return nil
}

// verifyCandidate checks the candidate's files, as changes to those that it began with,
// against the target, and describes what they change of the incumbent.
func (r *run) verifyCandidate(ctx context.Context, at position, p *Proposal) error {
	on := at.Start
	changes, err := tree.Changes(ctx, r.Repo, on, p.Candidate)
	if err != nil {
		return err
	}
	reasons, err := r.refuses(ctx, r.Repo, at, on, changes, r.Masker)
	switch {
	case err != nil:
		return err
	case len(reasons) > 0 && reasons[0].Is(decision.HasSecret):
		return refuse("it has a secret of this job in it")
	case len(reasons) > 0:
		return refuse("%s", reasons[0])
	}
	found, err := r.Repo.Changes(ctx, at.Head, p.Candidate)
	if err != nil {
		return err
	}
	p.Decided.Changed = git.Paths(found)
	held := func(m *history.Measured) bool { return m.Stage == decision.Held }
	if slices.ContainsFunc(p.Measured, held) { // the gain was too good to be believed at once
		if p.Decided.LeavesNothing, err = leavesNothing(ctx, r.Repo, found); err != nil {
			return err
		}
	}
	patch, err := r.Repo.Diff(ctx, at.Head, p.Candidate)
	p.Decided.Digest = decision.Digest(patch)
	return err
}

func (a *attempt) mask() {
	reply := &a.reply
	reply.Summary = a.masker.OneLine(reply.Summary, agent.MaxSummary)
	reply.Model = a.masker.String(reply.Model)
	for _, failure := range []*agent.Failure{reply.Failure, reply.Idle} {
		if failure != nil {
			failure.Message = a.masker.String(failure.Message)
		}
	}
}

// refuses says why changes to a commit may not be measured, nor kept.
func (r *run) refuses(ctx context.Context, repo *git.Repo, at position, before string, changes []decision.Change,
	masker process.Masker,
) ([]decision.Reason, error) {
	reasons := decision.Guard(changes, r.rules(at))
	if len(reasons) == 0 {
		return leaks(ctx, repo, before, masker, changes)
	}
	for i := range reasons {
		reasons[i].Path = masker.String(reasons[i].Path)
	}
	return reasons, nil
}

// leaks says which changed files have a secret in them, or in their names, that those
// of the commit before do not have: a branch is no place for one. One that was there
// before does not open a file to others.
func leaks(ctx context.Context, repo *git.Repo, before string, masker process.Masker,
	changes []decision.Change,
) (reasons []decision.Reason, err error) {
	var names []string
	for _, c := range changes {
		names = append(names, cmp.Or(c.NewBlob, before+":"+c.Path), before+":"+c.Path)
	}
	found, err := repo.Cat(ctx, names...)
	for i := 0; i < len(found); i += 2 {
		path := changes[i/2].Path
		if masker.LeaksMore(named(found[i], path), named(found[i+1], path)) {
			reasons = append(reasons, decision.Reason{Kind: decision.HasSecret, Path: masker.String(path)})
		}
	}
	return reasons, err
}

// named is a content with its name, nil without one.
func named(o git.Object, path string) []byte {
	if o.Missing() {
		return nil
	}
	return append(bytes.Clone(o.Data), "\n"+path...)
}
