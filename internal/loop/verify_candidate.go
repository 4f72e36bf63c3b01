package loop

import (
	"context"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// writeCandidate makes the tree of a candidate that came in a bundle, from its files.
func (r *recorder) writeCandidate(ctx context.Context, on string, p *proposal.Proposal) error {
	files := map[string]*git.File{}
	for _, file := range p.Files {
		switch file.Mode {
		case "":
			files[file.Path] = nil
		case git.ModeFile, git.ModeExecutable, git.ModeSymlink:
			files[file.Path] = &git.File{Mode: file.Mode, Data: file.Data}
		default:
			return proposal.Refuse("%.80q is no regular file and no link", file.Path)
		}
	}
	id, err := r.Repo.WriteFiles(ctx, on, files)
	if err != nil {
		return proposal.Refuse("its files cannot be written: %v", err)
	}
	if id != p.Candidate {
		return proposal.Refuse("it brings other files than those that were measured")
	}
	return nil
}

// verifyCandidate checks the candidate's files, as changes to the commit on,
// against the target, and describes what they change of the incumbent.
func (r *recorder) verifyCandidate(ctx context.Context, at position, on string, p *proposal.Proposal) error {
	changes, err := tree.Changes(ctx, r.Repo, on, p.Candidate)
	if err != nil {
		return err
	}
	verdict := decision.Guard(changes, r.rules(at))
	if !verdict.OK {
		return proposal.Refuse("%s", verdict.Reasons()[0])
	}
	leaking, err := leaks(ctx, r.Repo, on, r.Masker, changes)
	if err == nil && len(leaking) > 0 {
		err = proposal.Refuse("it has a secret of this job in it")
	}
	if err != nil {
		return err
	}
	found, err := r.Repo.Changes(ctx, at.Head, p.Candidate)
	if err != nil {
		return err
	}
	p.Decided.Changed = nil
	for _, c := range found {
		p.Decided.Changed = append(p.Decided.Changed, c.Path)
	}
	if slices.ContainsFunc(p.Measured, isHeld) { // the gain was too good to be believed at once
		if p.Decided.LeavesNothing, err = leavesNothing(ctx, r.Repo, found); err != nil {
			return err
		}
	}
	patch, err := r.Repo.Diff(ctx, at.Head, p.Candidate)
	p.Decided.Digest = decision.Digest(patch)
	return err
}

// isHeld reports whether an event is of a stage in which a gain is held.
func isHeld(e history.Event) bool {
	m, is := e.(*history.Measured)
	return is && m.Stage == decision.Held
}
