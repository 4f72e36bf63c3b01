package loop

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
)

// What a candidate may have: bytes in one file and in all, changed paths, and
// bytes in a symbolic link.
const (
	maxFile  = 10 << 20
	maxTotal = 100 << 20
	maxPaths = 50_000
	maxLink  = 4096
)

// writeCandidate makes the tree of a candidate that came in a bundle, from its files.
func (r *verifier) writeCandidate(ctx context.Context, on string, p *proposal.Proposal) error {
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
	tree, err := r.repo.WriteFiles(ctx, on, files)
	if err != nil {
		return proposal.Refuse("its files cannot be written: %v", err)
	}
	if tree != p.Candidate {
		return proposal.Refuse("it brings other files than those that were measured")
	}
	return nil
}

// verifyCandidate checks the candidate's files, as changes to the commit on,
// against the target, and describes what they change of the incumbent.
func (r *verifier) verifyCandidate(ctx context.Context, at position, on string, p *proposal.Proposal) error {
	found, err := r.repo.Changes(ctx, on, p.Candidate)
	if err != nil {
		return err
	}
	changes, err := r.changes(ctx, on, p.Candidate, found)
	if err != nil {
		return err
	}
	verdict := decision.Guard(changes, r.rules(at))
	if !verdict.OK {
		return proposal.Refuse("%s", verdict.Reasons()[0])
	}
	if leaking, err := r.leaksSecrets(ctx, on, changes); err != nil || leaking {
		if leaking {
			err = proposal.Refuse("it has a secret of this job in it")
		}
		return err
	}
	if on != at.Head {
		if found, err = r.repo.Changes(ctx, at.Head, p.Candidate); err != nil {
			return err
		}
	}
	p.Decided.Changed = nil
	for _, c := range found {
		p.Decided.Changed = append(p.Decided.Changed, c.Path)
	}
	if slices.ContainsFunc(p.Measured, isHeld) { // the gain was too good to be believed at once
		if p.Decided.LeavesNothing, err = leavesNothing(ctx, r.repo, found); err != nil {
			return err
		}
	}
	patch, err := r.repo.Diff(ctx, at.Head, p.Candidate)
	p.Decided.Digest = decision.Digest(patch)
	return err
}

// changes are the files that differ between two trees, as the guard sees them.
func (r *verifier) changes(ctx context.Context, before, after string, found []git.DiffEntry) ([]decision.Change, error) {
	if len(found) == 0 {
		return nil, nil
	}
	if len(found) > maxPaths {
		return nil, proposal.Refuse("it changes %d paths, more than %d", len(found), maxPaths)
	}
	paths := make([]string, len(found))
	for i, c := range found {
		paths[i] = c.Path
	}
	sized, err := r.repo.LsFiles(ctx, after, paths...)
	if err != nil {
		return nil, err
	}
	sizes, total := map[string]int64{}, int64(0)
	for _, entry := range sized {
		sizes[entry.Path] = entry.Size
		total += max(entry.Size, 0)
	}
	if total > maxTotal {
		return nil, proposal.Refuse("its files have %d bytes together, more than %d", total, maxTotal)
	}
	changes := make([]decision.Change, len(found))
	for i, c := range found {
		changes[i] = decision.Change{
			Path: c.Path, Kind: kindOf(c), OldMode: c.OldMode, NewMode: c.NewMode, NewBlob: c.NewID, Size: sizes[c.Path],
		}
		changes[i].Refused = refused(changes[i])
	}
	if err := r.refuseFiltered(ctx, before, changes); err != nil {
		return nil, err
	}
	if err := r.refuseFilters(ctx, before, after, changes); err != nil {
		return nil, err
	}
	if err := r.refuseBare(ctx, before, changes); err != nil {
		return nil, err
	}
	return r.refuseLinks(ctx, before, after, changes)
}

// refused says why a candidate may not have a file, whatever the target is.
func refused(c decision.Change) string {
	switch {
	case c.NewMode == git.ModeSymlink && c.Size > maxLink:
		return fmt.Sprintf("is a link of %d bytes, more than %d", c.Size, maxLink)
	case c.NewMode != "" && c.NewMode != git.ModeFile && c.NewMode != git.ModeExecutable && c.NewMode != git.ModeSymlink:
		return "is no regular file and no link"
	case c.Size > maxFile:
		return fmt.Sprintf("has %d bytes, more than %d", c.Size, maxFile)
	default:
		return ""
	}
}

// refuseFiltered refuses files under a filter by the incumbent's attributes.
func (r *verifier) refuseFiltered(ctx context.Context, before string, changes []decision.Change) error {
	var paths []string
	for _, c := range changes {
		if strings.HasPrefix(c.NewMode, "100") {
			paths = append(paths, c.Path)
		}
	}
	filters, err := r.repo.Filters(ctx, before, paths...)
	for i, c := range changes {
		if filter, filtered := filters[c.Path]; filtered && c.Refused == "" && c.NewMode != "" {
			changes[i].Refused = fmt.Sprintf("is under the filter %s, which does not run here", filter)
		}
	}
	return err
}

// refuseFilters refuses attributes that choose a filter.
func (r *verifier) refuseFilters(ctx context.Context, before, after string, changes []decision.Change) error {
	for i, c := range changes {
		if !strings.EqualFold(path.Base(c.Path), ".gitattributes") || c.Refused != "" || !strings.HasPrefix(c.NewMode, "100") {
			continue
		}
		texts, err := r.repo.Cat(ctx, before+":"+c.Path, after+":"+c.Path, after+":.gitattributes")
		if err != nil {
			return err
		}
		if decision.SetsFilter(string(texts[0].Data), string(texts[1].Data), string(texts[2].Data)) {
			changes[i].Refused = decision.NewFilter
		}
	}
	return nil
}

// refuseBare refuses changes that make a repository of a directory.
func (r *verifier) refuseBare(ctx context.Context, before string, changes []decision.Change) error {
	entries, err := r.repo.LsTree(ctx, before)
	if err != nil {
		return err
	}
	decision.RefuseBare(func(yield func(string) bool) {
		for _, e := range entries {
			if !yield(e.Path) {
				return
			}
		}
	}, changes)
	return nil
}

// refuseLinks refuses links that leave the tree, and changes by which one that
// was there before does.
func (r *verifier) refuseLinks(ctx context.Context, before, after string, changes []decision.Change) ([]decision.Change, error) {
	there, err := r.links(ctx, after)
	if err != nil || len(there) == 0 {
		return changes, err
	}
	was, err := r.links(ctx, before)
	if err != nil {
		return nil, err
	}
	return decision.RefuseLinks(was, there, decision.Links.Wrong, changes), nil
}

func (r *verifier) links(ctx context.Context, tree string) (decision.Links, error) {
	entries, err := r.repo.LsTree(ctx, tree)
	if err != nil {
		return nil, err
	}
	var names, ids []string
	for _, e := range entries {
		if e.Mode == git.ModeSymlink {
			names, ids = append(names, e.Path), append(ids, e.ID)
		}
	}
	texts, err := r.repo.Cat(ctx, ids...)
	if err != nil {
		return nil, err
	}
	links := decision.Links{}
	for i, name := range names {
		links[name] = string(texts[i].Data)
	}
	return links, nil
}

func kindOf(c git.DiffEntry) decision.Kind {
	switch {
	case c.OldMode == "":
		return decision.Added
	case c.NewMode == "":
		return decision.Deleted
	case c.OldMode[:3] != c.NewMode[:3]:
		return decision.Type
	case c.OldID == c.NewID:
		return decision.Mode
	default:
		return decision.Modified
	}
}

// isHeld reports whether an event is of a stage in which a gain is held.
func isHeld(e history.Event) bool {
	m, is := e.(*history.Measured)
	return is && m.Stage == decision.Held
}
