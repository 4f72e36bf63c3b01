package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
)

// ChangeOptions are what is to be done with a skill.
type ChangeOptions struct {
	// Version is the one to apply, or BestVersion.
	Version int
	// Yes does it without asking. Merge joins the version with what was changed in
	// the skill since v0, Force undoes also what was changed by hand.
	Yes, Merge, Force bool
}

// Changed is what became of a skill, also as JSON.
type Changed struct {
	Skill     string `json:"skill"`
	Workspace string `json:"workspace"`
	// To is what the skill is to be: a version, such as v3, or a snapshot of the
	// workspace. It is empty when no version was kept.
	To string `json:"to,omitempty"`
	// Changed says that files of the skill changed, Done that it is what it is to be,
	// also when it was so before.
	Changed bool `json:"changed"`
	Done    bool `json:"done"`
	// Kept is the snapshot of what the skill was, where that is in no version.
	Kept string `json:"kept,omitempty"`
}

// application is a workspace with its skill as it is now.
type application struct {
	*Versions
	ChangeOptions

	original, now workspace.Kept
	changed       Changed
}

// Apply makes the skill a version, after showing and asking.
func (v *Versions) Apply(ctx context.Context, c ChangeOptions) (*Changed, error) {
	return v.change(ctx, c, (*application).apply)
}

// Undo makes the skill what it was before its last application, after showing and
// asking.
func (v *Versions) Undo(ctx context.Context, c ChangeOptions) (*Changed, error) {
	return v.change(ctx, c, (*application).undo)
}

// change does something to the skill of a workspace that no run works in.
func (v *Versions) change(ctx context.Context, c ChangeOptions,
	do func(*application, context.Context) error,
) (*Changed, error) {
	release, err := v.Workspace.Hold()
	switch {
	case errors.Is(err, fs.ErrNotExist): // there is no v0, which is said below
	case err != nil:
		return nil, err
	default:
		defer release()
	}
	a, err := v.application(ctx, c)
	if err != nil {
		return nil, err
	}
	a.changed.Skill, a.changed.Workspace = v.Workspace.Skill, v.Workspace.Dir
	if err := do(a, ctx); err != nil {
		return nil, err
	}
	return &a.changed, nil
}

// application reads the skill of a workspace, after finishing what was interrupted
// in it.
func (v *Versions) application(ctx context.Context, c ChangeOptions) (*application, error) {
	if v.Workspace.Skill == "" {
		return nil, misuse.Errorf("the workspace does not say where its skill is: give --skill DIR")
	}
	if err := FinishApply(ctx, v.Workspace, v.Err); err != nil {
		return nil, err
	}
	a, err := v.compared(ctx)
	if err == nil {
		a.ChangeOptions = c
	}
	return a, err
}

// compared reads the skill as it was and as it is.
func (v *Versions) compared(ctx context.Context) (*application, error) {
	original, err := keptVersion(ctx, v.Workspace, 0)
	if err != nil {
		return nil, err
	}
	found, err := workspace.Scan(ctx, v.Workspace.Skill)
	if err != nil {
		return nil, fmt.Errorf("read the skill: %w", err)
	}
	return &application{Versions: v, original: original, now: workspace.Kept{Dir: v.Workspace.Skill, Tree: found}}, nil
}

// WarnOfChange warns that a workspace is of an earlier state of its skill, before
// anything is spent on it.
func (v *Versions) WarnOfChange(ctx context.Context) error {
	a, err := v.compared(ctx)
	if err == nil && !a.untouched(ctx) && !a.isVersion(ctx) {
		fmt.Fprintf(v.Err, "warning: %s changed since v0 of %s, and this run goes on without that; begin with the "+
			"skill as it is with --fresh\n", v.Workspace.Skill, v.Workspace.Dir)
	}
	return err
}

// Offer shows the report and asks whether the best version is to be applied, when
// there is one and the skill is still what it was.
func (v *Versions) Offer(ctx context.Context, yes bool) (applied bool, err error) {
	w := v.Workspace
	if w.Best == 0 {
		return false, v.showBest(ctx)
	}
	a, err := v.application(ctx, ChangeOptions{Version: BestVersion, Yes: yes})
	if err != nil {
		return false, err
	}
	best, err := keptVersion(ctx, w, w.Best)
	if err != nil {
		return false, err
	}
	if a.now.Tree.Digest() != best.Tree.Digest() && !a.untouched(ctx) {
		fmt.Fprintf(v.Err, "the skill changed since v0, so nothing is applied: see `iterate apply %s --merge`\n", w.Dir)
		return false, v.showBest(ctx)
	}
	if err := a.apply(ctx); err != nil {
		return false, err
	}
	now, err := workspace.Scan(ctx, w.Skill)
	return err == nil && now.Digest() == best.Tree.Digest(), err
}

// showBest prints the report where nothing is asked.
func (v *Versions) showBest(ctx context.Context) error {
	r, _, err := v.Report(ctx, BestVersion)
	if err != nil {
		return err
	}
	fmt.Fprintln(v.Out)
	return v.Show(r)
}

// apply shows, asks and applies.
func (a *application) apply(ctx context.Context) error {
	if err := a.isKept(); err != nil {
		return err
	}
	r, _, err := a.Report(ctx, a.Version)
	if err != nil {
		return err
	}
	if a.Version == BestVersion {
		if a.Version = r.BestVersion; a.Version == 0 {
			fmt.Fprintln(a.Out, "no version was kept: there is nothing to apply")
			return nil
		}
	}
	wanted, err := keptVersion(ctx, a.Workspace, a.Version)
	if err != nil {
		return err
	}
	a.changed.To = fmt.Sprintf("v%d", a.Version)
	if a.now.Tree.Digest() == wanted.Tree.Digest() {
		a.changed.Done = true
		fmt.Fprintf(a.Out, "%s is v%d already\n", a.Workspace.Skill, a.Version)
		return a.remember(workspace.Applied{Version: a.Version, Digest: wanted.Tree.Digest()})
	}
	if err := a.Show(r); err != nil {
		return err
	}
	if !a.untouched(ctx) {
		return a.joined(ctx, wanted)
	}
	if agreed, err := a.agreed(ctx,
		fmt.Sprintf("apply v%d to %s? [y/n] ", a.Version, a.Workspace.Skill)); err != nil || !agreed {
		return err
	}
	return a.restore(ctx, wanted.Dir, workspace.Applied{Version: a.Version})
}

// isKept refuses a version that the workspace does not have, and names those
// that it has.
func (a *application) isKept() error {
	table, err := a.Workspace.Results()
	if err != nil || a.Version == BestVersion {
		return err
	}
	kept := []string{"v0"}
	for _, row := range table.Rows() {
		if row.Action != results.Reverted && row.Iteration > 0 {
			kept = append(kept, fmt.Sprintf("v%d", row.Iteration))
		}
	}
	if slices.Contains(kept, fmt.Sprintf("v%d", a.Version)) {
		return nil
	}
	return misuse.Errorf("--version %d: no such version was kept; there are %s", a.Version, strings.Join(kept, ", "))
}

// untouched reports whether the skill is v0, or what was applied last.
func (a *application) untouched(ctx context.Context) bool {
	now := a.now.Tree.Digest()
	if now == a.original.Tree.Digest() {
		return true
	}
	applied := a.Workspace.Applied
	if applied == nil || applied.Digest != now || applied.Before != "" {
		return false
	}
	version, err := keptVersion(ctx, a.Workspace, applied.Version)
	return err == nil && version.Tree.Digest() == now // else it was merged
}

// joined applies a version to a skill that changed since v0.
func (a *application) joined(ctx context.Context, wanted workspace.Kept) error {
	if !a.Merge {
		return fmt.Errorf("%s changed since v0 (%s); nothing was applied: use --merge to join both, or put it back first",
			a.Workspace.Skill, differing(a.original.Tree, a.now.Tree))
	}
	merged, err := a.merged(ctx, wanted)
	if err != nil {
		return err
	}
	if a.now.Tree.Digest() == merged.Tree.Digest() {
		// what is noted of an earlier merge stays: it says what an undo puts back
		a.changed.Done = true
		fmt.Fprintf(a.Out, "%s has v%d merged in already\n", a.Workspace.Skill, a.Version)
		return nil
	}
	patch, err := a.patch(ctx, a.now, merged)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "\nJoined with what changed in the skill since v0, it changes:\n\n%s\n",
		render.Pictured(string(patch)))
	if agreed, err := a.agreed(ctx,
		fmt.Sprintf("apply v%d, merged, to %s? [y/n] ", a.Version, a.Workspace.Skill)); err != nil || !agreed {
		return err
	}
	before, err := a.keep(ctx, "before-apply")
	if err != nil {
		return err
	}
	// noted before the skill changes: a run that is killed right after that can be undone
	if err := a.remember(workspace.Applied{
		Version: a.Version, Digest: merged.Tree.Digest(),
		Before: before,
	}); err != nil {
		return err
	}
	return a.restore(ctx, merged.Dir, workspace.Applied{Version: a.Version, Before: before})
}

// merged puts the merge into the workspace, as the snapshot `merged`.
func (a *application) merged(ctx context.Context, wanted workspace.Kept) (kept workspace.Kept, err error) {
	dir, err := os.MkdirTemp(a.TempDir, "autoloop-merge-")
	if err != nil {
		return kept, err
	}
	defer func() { err = errors.Join(err, tree.RemoveAll(dir)) }()
	err = a.inScratch(ctx, func(repo *git.Repo) error {
		conflicts, err := workspace.Merge(ctx, repo, a.original, a.now, wanted, dir)
		if err == nil && len(conflicts) > 0 {
			err = fmt.Errorf("v%d cannot be joined with what changed in %s since v0: conflicts in %s; nothing was "+
				"applied: join these files by hand",
				a.Version, a.Workspace.Skill, named(conflicts))
		}
		return err
	})
	if err != nil {
		return kept, err
	}
	kept.Dir = filepath.Join(a.Workspace.Dir, "merged")
	taken, err := workspace.Take(ctx, dir, kept.Dir)
	kept.Tree = taken.Tree
	return kept, err
}

// undo puts back what the skill was before its last application: v0, or after a
// merge what a person had made of it.
func (a *application) undo(ctx context.Context) error {
	name, dir := a.Workspace.Undone()
	a.changed.To = name
	found, err := workspace.Verify(ctx, dir)
	if err != nil {
		return err
	}
	back := workspace.Kept{Dir: dir, Tree: found}
	now := a.now.Tree.Digest()
	// what an undo has put back may be a person's own work: undoing once more must not remove that
	undone := a.Workspace.Applied != nil && a.Workspace.Applied.Version == 0 && a.Workspace.Applied.Digest == now
	if undone || now == back.Tree.Digest() {
		a.changed.Done = true
		fmt.Fprintf(a.Out, "%s is as it was already\n", a.Workspace.Skill)
		return a.remember(workspace.Applied{Digest: now})
	}
	known := a.untouched(ctx) || a.Workspace.Applied != nil && a.Workspace.Applied.Digest == now || a.isVersion(ctx)
	if !known && !a.Force {
		return fmt.Errorf("%s has changes that are in no version of the workspace (from %s: %s); nothing was undone: "+
			"--force undoes all the same, and keeps them in the workspace",
			a.Workspace.Skill, name, differing(back.Tree, a.now.Tree))
	}
	patch, err := a.patch(ctx, a.now, back)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "Undoing changes in %s:\n\n%s\n", a.Workspace.Skill, render.Pictured(string(patch)))
	if agreed, err := a.agreed(ctx,
		fmt.Sprintf("put %s back to %s? [y/n] ", name, a.Workspace.Skill)); err != nil || !agreed {
		return err
	}
	if !known {
		if _, err := a.keep(ctx, "before-undo"); err != nil {
			return err
		}
	}
	return a.restore(ctx, dir, workspace.Applied{})
}

// isVersion reports whether the skill is one of the kept versions.
func (a *application) isVersion(ctx context.Context) bool {
	table, err := a.Workspace.Results()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(table.Rows(), func(row results.Row) bool {
		kept, err := keptVersion(ctx, a.Workspace, row.Iteration)
		return err == nil && kept.Tree.Digest() == a.now.Tree.Digest()
	})
}

// keep takes a snapshot of the skill as it is, into the workspace.
func (a *application) keep(ctx context.Context, purpose string) (name string, err error) {
	name, err = a.Workspace.KeepSkill(ctx, purpose)
	if err != nil {
		return "", err
	}
	a.changed.Kept = name
	fmt.Fprintf(a.Out, "what %s was is kept as %s\n", a.Workspace.Skill, filepath.Join(a.Workspace.Dir, name))
	return name, nil
}

// agreed asks, and says when nothing happens.
func (a *application) agreed(ctx context.Context, question string) (bool, error) {
	if a.Yes {
		return true, nil
	}
	agreed, err := a.Ask(ctx, question)
	if !agreed {
		fmt.Fprintf(a.Out, "nothing was changed; the workspace %s is kept\n", a.Workspace.Dir)
	}
	return agreed, err
}

// restore makes the skill a snapshot, if it is still what was looked at, and
// notes what was applied; its digest is filled in.
func (a *application) restore(ctx context.Context, from string, applied workspace.Applied) error {
	if inPlace, err := workspace.InPlace(ctx, a.Workspace.Skill); err != nil {
		return err
	} else if inPlace { // killed in the midst of it, the next application finishes it
		begun := applied
		if begun.From, err = a.Workspace.KeepSkill(ctx, "before-apply"); err != nil {
			return err
		}
		begun.To = filepath.Base(from)
		if err := a.remember(begun); err != nil {
			return err
		}
	}
	restored, err := workspace.RestoreOver(ctx, from, a.Workspace.Skill, a.now.Tree.Digest())
	if err != nil {
		return err
	}
	name := filepath.Base(from)
	if applied.Before != "" {
		name = fmt.Sprintf("v%d, merged,", applied.Version)
	}
	fmt.Fprintf(a.Out, "%s is %s now\n", a.Workspace.Skill, name)
	if applied.Version > 0 {
		fmt.Fprintf(a.Out, "undo it with: iterate undo %s\n", process.QuoteWord(a.Workspace.Dir))
	}
	a.changed.Changed, a.changed.Done = true, true
	applied.Digest = restored.Digest
	return a.remember(applied)
}

// remember notes in the workspace what the skill is.
func (a *application) remember(applied workspace.Applied) error {
	a.Workspace.Applied = &applied
	return a.Workspace.Save()
}

// differing names the first paths that two trees do not have alike.
func differing(before, after workspace.Tree) string {
	var names []string
	for _, d := range files.Compare(before, after) {
		names = append(names, d.Path)
	}
	return named(names)
}

// named lists a few paths on one line.
func named(paths []string) string {
	const most = 5
	var shown []string
	for i, name := range paths {
		if i == most {
			shown = append(shown, fmt.Sprintf("and %d more", len(paths)-most))
			break
		}
		shown = append(shown, plain.Clip(plain.Path(name), lineWidth))
	}
	return strings.Join(shown, ", ")
}
