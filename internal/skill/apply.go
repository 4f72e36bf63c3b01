package skill

import (
	"context"
	"errors"
	"fmt"
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
	if err != nil {
		return nil, err
	}
	defer release()
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

// application reads the skill of a workspace.
func (v *Versions) application(ctx context.Context, c ChangeOptions) (*application, error) {
	if v.Workspace.Skill == "" {
		return nil, misuse.Errorf("the workspace does not say where its skill is: give --skill DIR")
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
	if err == nil && !a.isVersion(ctx) {
		fmt.Fprintf(v.Err, "warning: %s changed since v0 of %s, and this run goes on without that; begin with the "+
			"skill as it is with --fresh\n", v.Workspace.Skill, v.Workspace.Dir)
	}
	return err
}

// Offer shows the report and asks whether the best version is to be applied, when
// there is one and the skill is still what it was.
func (v *Versions) Offer(ctx context.Context, yes bool) (applied bool, err error) {
	if v.Workspace.Best == 0 {
		r, _, err := v.Report(ctx, BestVersion)
		if err != nil {
			return false, err
		}
		fmt.Fprintln(v.Out)
		return false, v.Show(r)
	}
	a, err := v.application(ctx, ChangeOptions{Version: BestVersion, Yes: yes})
	if err != nil {
		return false, err
	}
	if err = a.apply(ctx); errors.Is(err, errEdited) {
		fmt.Fprintf(v.Err, "the skill changed since v0, so nothing is applied: see `iterate apply %s --merge`\n",
			v.Workspace.Dir)
		return false, nil
	}
	return a.changed.Done, err
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
	applied := workspace.Applied{Version: a.Version, Digest: wanted.Tree.Digest()}
	a.changed.To = fmt.Sprintf("v%d", a.Version)
	if a.now.Tree.Digest() == applied.Digest {
		a.changed.Done = true
		fmt.Fprintf(a.Out, "%s is v%d already\n", a.Workspace.Skill, a.Version)
		return a.remember(applied)
	}
	if err := a.Show(r); err != nil {
		return err
	}
	if !a.isVersion(ctx) {
		return a.joined(ctx, wanted)
	}
	return a.put(ctx, wanted, fmt.Sprintf("apply v%d to %s", a.Version, a.Workspace.Skill), "", applied)
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

// errEdited says that a person changed the skill.
var errEdited = errors.New("nothing was applied: use --merge to join both, or put it back first")

// joined applies a version to a skill that changed since v0.
func (a *application) joined(ctx context.Context, wanted workspace.Kept) error {
	if !a.Merge {
		return fmt.Errorf("%s changed since v0 (%s); %w", a.Workspace.Skill, differing(a.original.Tree, a.now.Tree),
			errEdited)
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
	if err := a.showChange(ctx, merged, "\nJoined with what changed in the skill since v0, it changes"); err != nil {
		return err
	}
	return a.put(ctx, merged, fmt.Sprintf("apply v%d, merged, to %s", a.Version, a.Workspace.Skill), "before-apply",
		workspace.Applied{Version: a.Version, Digest: merged.Tree.Digest()})
}

// showChange shows what the skill would become, under a title.
func (a *application) showChange(ctx context.Context, wanted workspace.Kept, title string) error {
	patch, err := a.patch(ctx, a.now, wanted)
	if err == nil {
		fmt.Fprintf(a.Out, "%s:\n\n%s\n", title, render.Pictured(string(patch)))
	}
	return err
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
	purpose := ""
	if !a.isVersion(ctx) && (a.Workspace.Applied == nil || a.Workspace.Applied.Digest != now) {
		if purpose = "before-undo"; !a.Force {
			return fmt.Errorf(
				"%s has changes that are in no version of the workspace (from %s: %s); nothing was undone: "+
					"--force undoes all the same, and keeps them in the workspace",
				a.Workspace.Skill,
				name,
				differing(back.Tree, a.now.Tree),
			)
		}
	}
	if err := a.showChange(ctx, back, "Undoing changes in "+a.Workspace.Skill); err != nil {
		return err
	}
	return a.put(ctx, back, fmt.Sprintf("put %s back to %s", name, a.Workspace.Skill), purpose,
		workspace.Applied{Digest: back.Tree.Digest()})
}

// isVersion reports whether the skill is one of the kept versions, so that replacing it
// loses nothing.
func (a *application) isVersion(ctx context.Context) bool {
	now := a.now.Tree.Digest()
	if now == a.original.Tree.Digest() {
		return true
	}
	table, err := a.Workspace.Results()
	return err == nil && slices.ContainsFunc(table.Rows(), func(row results.Row) bool {
		kept, err := keptVersion(ctx, a.Workspace, row.Iteration)
		return err == nil && kept.Tree.Digest() == now
	})
}

// put asks, and makes the skill a snapshot, if it is still what was looked at. With a
// purpose what it was is kept under that name first.
func (a *application) put(ctx context.Context, wanted workspace.Kept, what, purpose string,
	applied workspace.Applied,
) error {
	w := a.Workspace
	if !a.Yes {
		if agreed, err := a.Ask(ctx, what+"? [y/n] "); !agreed {
			fmt.Fprintf(a.Out, "nothing was changed; the workspace %s is kept\n", w.Dir)
			return err
		}
	}
	name := filepath.Base(wanted.Dir)
	if purpose != "" {
		kept, err := w.KeepSkill(ctx, purpose)
		if err != nil {
			return err
		}
		a.changed.Kept = kept
		fmt.Fprintf(a.Out, "what %s was is kept as %s\n", w.Skill, filepath.Join(w.Dir, kept))
		if applied.Version > 0 {
			name, applied.Before = fmt.Sprintf("v%d, merged,", applied.Version), kept
			// noted before the skill changes: a run that is killed right after that can be undone
			if err := a.remember(applied); err != nil {
				return err
			}
		}
	}
	if _, err := workspace.RestoreOver(ctx, wanted.Dir, w.Skill, a.now.Tree.Digest()); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s is %s now\n", w.Skill, name)
	if applied.Version > 0 {
		fmt.Fprintf(a.Out, "undo it with: iterate undo %s\n", process.QuoteWord(w.Dir))
	}
	a.changed.Changed, a.changed.Done = true, true
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
