package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/cure"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
)

// skillApplyOptions are the flags of `iterate skill apply` and `undo`.
type skillApplyOptions struct {
	skill             string
	version           int
	yes, merge, force bool
}

func newSkillApplyCommand(env Env) *cobra.Command {
	var o skillApplyOptions
	cmd := &cobra.Command{
		Use:   "apply WORKSPACE",
		Short: "Make the skill equal to its best version, after showing what changes",
		Long: "Show the report and the diff, ask, and make the skill exactly the version's snapshot; `.git` is not\n" +
			"touched, and the workspace is kept whatever the answer. When the skill changed since v0 nothing is\n" +
			"applied, unless --merge can join both without a conflict. Without a terminal to ask on, nothing is\n" +
			"applied unless --yes is given.",
		Example: "  iterate skill apply skills/release-notes-autoresearch\n" +
			"  iterate skill apply skills/release-notes-autoresearch --version 2 --yes",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSkill(cmd.Context(), env, args[0], o, (*application).apply)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.version, "version", bestVersion, "the version to apply (default: the best)")
	flags.BoolVarP(&o.yes, "yes", "y", false, "apply without asking")
	flags.BoolVar(&o.merge, "merge", false, "join the version with what was changed in the skill since v0")
	flags.StringVar(&o.skill, "skill", "", "the skill's directory (default: as the workspace says)")
	return cmd
}

func newSkillUndoCommand(env Env) *cobra.Command {
	var o skillApplyOptions
	cmd := &cobra.Command{
		Use:   "undo WORKSPACE",
		Short: "Make the skill what it was before anything was applied",
		Long: "Ask, and make the skill what it was before a version was applied. When it has changes that are in no version of the workspace,\n" +
			"nothing is undone unless --force is given; they are then kept in the workspace as before-undo-1, before-undo-2, …\n" +
			"After `apply --merge` it puts back what the skill was before that. What changes is shown before it asks.",
		Example: "  iterate skill undo skills/release-notes-autoresearch",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeSkill(cmd.Context(), env, args[0], o, (*application).undo)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.yes, "yes", "y", false, "undo without asking")
	flags.BoolVar(&o.force, "force", false, "undo also what was changed by hand")
	flags.StringVar(&o.skill, "skill", "", "the skill's directory (default: as the workspace says)")
	return cmd
}

// application is a workspace with its skill as it is now.
type application struct {
	env Env
	skillApplyOptions
	workspace     *workspace.Workspace
	original, now workspace.Kept
}

// changeSkill opens a workspace that no run works in, and does something to its
// skill.
func changeSkill(ctx context.Context, env Env, dir string, o skillApplyOptions, do func(*application, context.Context) error) error {
	w, err := openWorkspace(ctx, env, env.Path(dir))
	if err != nil {
		return err
	}
	release, err := w.Hold()
	switch {
	case errors.Is(err, fs.ErrNotExist): // there is no v0, which is said below
	case err != nil:
		return err
	default:
		defer release()
	}
	a, err := applicationOf(ctx, env, w, o)
	if err != nil {
		return err
	}
	return do(a, ctx)
}

// openWorkspace reads a workspace, or that of a skill; one that another program made
// is adopted.
func openWorkspace(ctx context.Context, env Env, dir string) (*workspace.Workspace, error) {
	dir = workspace.Of(dir)
	if !workspace.Foreign(dir) {
		return workspace.OpenWorkspace(dir)
	}
	fmt.Fprintf(env.Stderr, "%s was made by another program: writing manifests of what its versions have now beside them\n", dir)
	return workspace.Adopt(ctx, dir)
}

// applicationOf reads the skill of a workspace, after finishing what was
// interrupted in it.
func applicationOf(ctx context.Context, env Env, w *workspace.Workspace, o skillApplyOptions) (*application, error) {
	var err error
	if o.skill != "" {
		w.Skill = env.Path(o.skill)
	}
	if w.Skill == "" {
		return nil, misuse.Errorf("the workspace does not say where its skill is: give --skill DIR")
	}
	if err := finishRestore(ctx, env, w.Skill); err != nil {
		return nil, err
	}
	a := &application{env: env, skillApplyOptions: o, workspace: w}
	if a.original, err = keptVersion(ctx, w, 0); err != nil {
		return nil, err
	}
	found, err := workspace.Scan(ctx, w.Skill)
	if err != nil {
		return nil, fmt.Errorf("read the skill: %w", err)
	}
	a.now = workspace.Kept{Dir: w.Skill, Tree: found}
	return a, nil
}

// finishRestore ends an application to a skill that was interrupted.
func finishRestore(ctx context.Context, env Env, skill string) error {
	resumed, err := workspace.Resume(ctx, skill)
	if resumed {
		fmt.Fprintln(env.Stderr, "an interrupted restore of the skill was finished first")
	}
	return err
}

// apply shows, asks and applies.
func (a *application) apply(ctx context.Context) error {
	if err := a.isKept(); err != nil {
		return err
	}
	r, _, err := reportSkill(ctx, a.env, a.workspace, a.version)
	if err != nil {
		return err
	}
	if a.version == bestVersion {
		if a.version = r.BestVersion; a.version == 0 {
			fmt.Fprintln(a.env.Stdout, "no version was kept: there is nothing to apply")
			return nil
		}
	}
	wanted, err := keptVersion(ctx, a.workspace, a.version)
	if err != nil {
		return err
	}
	if a.now.Tree.Digest() == wanted.Tree.Digest() {
		fmt.Fprintf(a.env.Stdout, "%s is v%d already\n", a.workspace.Skill, a.version)
		return a.remember(workspace.Applied{Version: a.version, Digest: wanted.Tree.Digest()})
	}
	if err := printReport(a.env, r); err != nil {
		return err
	}
	if !a.untouched(ctx) {
		return a.joined(ctx, wanted)
	}
	if agreed, err := a.agreed(ctx, fmt.Sprintf("apply v%d to %s? [y/n] ", a.version, a.workspace.Skill)); err != nil || !agreed {
		return err
	}
	return a.restore(ctx, wanted.Dir, workspace.Applied{Version: a.version})
}

// isKept refuses a version that the workspace does not have, and names those
// that it has.
func (a *application) isKept() error {
	table, err := a.workspace.Results()
	if err != nil || a.version == bestVersion {
		return err
	}
	kept := []string{"v0"}
	for _, row := range table.Rows() {
		if row.Action != results.Reverted && row.Iteration > 0 {
			kept = append(kept, fmt.Sprintf("v%d", row.Iteration))
		}
	}
	if slices.Contains(kept, fmt.Sprintf("v%d", a.version)) {
		return nil
	}
	return misuse.Errorf("--version %d: no such version was kept; there are %s", a.version, strings.Join(kept, ", "))
}

// untouched reports whether the skill is v0, or what was applied last.
func (a *application) untouched(ctx context.Context) bool {
	now := a.now.Tree.Digest()
	if now == a.original.Tree.Digest() {
		return true
	}
	applied := a.workspace.Applied
	if applied == nil || applied.Digest != now || applied.Before != "" {
		return false
	}
	version, err := keptVersion(ctx, a.workspace, applied.Version)
	return err == nil && version.Tree.Digest() == now // else it was merged
}

// joined applies a version to a skill that changed since v0.
func (a *application) joined(ctx context.Context, wanted workspace.Kept) error {
	if !a.merge {
		return fmt.Errorf("%s changed since v0 (%s); nothing was applied: use --merge to join both, or put it back first",
			a.workspace.Skill, differing(a.original.Tree, a.now.Tree))
	}
	merged, err := a.merged(ctx, wanted)
	if err != nil {
		return err
	}
	if a.now.Tree.Digest() == merged.Tree.Digest() {
		// what is noted of an earlier merge stays: it says what an undo puts back
		fmt.Fprintf(a.env.Stdout, "%s has v%d merged in already\n", a.workspace.Skill, a.version)
		return nil
	}
	patch, err := patchOf(ctx, a.env, a.now, merged)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.env.Stdout, "\nJoined with what changed in the skill since v0, it changes:\n\n%s\n", render.Pictured(string(patch)))
	if agreed, err := a.agreed(ctx, fmt.Sprintf("apply v%d, merged, to %s? [y/n] ", a.version, a.workspace.Skill)); err != nil || !agreed {
		return err
	}
	before, err := a.keep(ctx, "before-apply")
	if err != nil {
		return err
	}
	// noted before the skill changes: a run that is killed right after that can be undone
	if err := a.remember(workspace.Applied{Version: a.version, Digest: merged.Tree.Digest(), Before: before}); err != nil {
		return err
	}
	return a.restore(ctx, merged.Dir, workspace.Applied{Version: a.version, Before: before})
}

// merged puts the merge into the workspace, as the snapshot `merged`.
func (a *application) merged(ctx context.Context, wanted workspace.Kept) (kept workspace.Kept, err error) {
	dir, err := os.MkdirTemp(a.env.TempDir(), "autoloop-merge-")
	if err != nil {
		return kept, err
	}
	defer func() { err = errors.Join(err, tree.RemoveAll(dir)) }()
	err = inScratch(ctx, a.env, func(repo *git.Repo) error {
		conflicts, err := workspace.Merge(ctx, repo, a.original, a.now, wanted, dir)
		if err == nil && len(conflicts) > 0 {
			err = cure.MergeConflict.Errorf("v%d cannot be joined with what changed in %s since v0: conflicts in %s; nothing was applied",
				a.version, a.workspace.Skill, named(conflicts))
		}
		return err
	})
	if err != nil {
		return kept, err
	}
	kept.Dir = filepath.Join(a.workspace.Dir, "merged")
	taken, err := workspace.Take(ctx, dir, kept.Dir)
	kept.Tree = taken.Tree
	return kept, err
}

// undo puts back what the skill was before its last application: v0, or after a
// merge what a person had made of it.
func (a *application) undo(ctx context.Context) error {
	name, dir := a.workspace.Undone()
	found, err := workspace.Verify(ctx, dir)
	if err != nil {
		return err
	}
	back := workspace.Kept{Dir: dir, Tree: found}
	now := a.now.Tree.Digest()
	// what an undo has put back may be a person's own work: undoing once more must not remove that
	undone := a.workspace.Applied != nil && a.workspace.Applied.Version == 0 && a.workspace.Applied.Digest == now
	if undone || now == back.Tree.Digest() {
		fmt.Fprintf(a.env.Stdout, "%s is as it was already\n", a.workspace.Skill)
		return a.remember(workspace.Applied{Digest: now})
	}
	known := a.untouched(ctx) || a.workspace.Applied != nil && a.workspace.Applied.Digest == now || a.isVersion(ctx)
	if !known && !a.force {
		return fmt.Errorf("%s has changes that are in no version of the workspace (from %s: %s); nothing was undone: --force undoes all the same, and keeps them in the workspace",
			a.workspace.Skill, name, differing(back.Tree, a.now.Tree))
	}
	patch, err := patchOf(ctx, a.env, a.now, back)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.env.Stdout, "Undoing changes in %s:\n\n%s\n", a.workspace.Skill, render.Pictured(string(patch)))
	if agreed, err := a.agreed(ctx, fmt.Sprintf("put %s back to %s? [y/n] ", name, a.workspace.Skill)); err != nil || !agreed {
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
	table, err := a.workspace.Results()
	if err != nil {
		return false
	}
	for _, row := range table.Rows() {
		if kept, err := keptVersion(ctx, a.workspace, row.Iteration); err == nil && kept.Tree.Digest() == a.now.Tree.Digest() {
			return true
		}
	}
	return false
}

// keep takes a snapshot of the skill as it is, into the workspace.
func (a *application) keep(ctx context.Context, purpose string) (name string, err error) {
	name, err = a.workspace.KeepSkill(ctx, purpose)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(a.env.Stdout, "what %s was is kept as %s\n", a.workspace.Skill, filepath.Join(a.workspace.Dir, name))
	return name, nil
}

// agreed asks, and says when nothing happens.
func (a *application) agreed(ctx context.Context, question string) (bool, error) {
	if a.yes {
		return true, nil
	}
	agreed, err := ask(ctx, a.env, question)
	if !agreed {
		fmt.Fprintf(a.env.Stdout, "nothing was changed; the workspace %s is kept\n", a.workspace.Dir)
	}
	return agreed, err
}

// restore makes the skill a snapshot, if it is still what was looked at, and
// notes what was applied; its digest is filled in.
func (a *application) restore(ctx context.Context, from string, applied workspace.Applied) error {
	restored, err := workspace.RestoreOver(ctx, from, a.workspace.Skill, a.now.Tree.Digest())
	if err != nil {
		return err
	}
	name := filepath.Base(from)
	if applied.Before != "" {
		name = fmt.Sprintf("v%d, merged,", applied.Version)
	}
	fmt.Fprintf(a.env.Stdout, "%s is %s now\n", a.workspace.Skill, name)
	if applied.Version > 0 {
		fmt.Fprintf(a.env.Stdout, "undo it with: iterate skill undo %s\n", process.QuoteWord(a.workspace.Dir))
	}
	applied.Digest = restored.Digest
	return a.remember(applied)
}

// remember notes in the workspace what the skill is.
func (a *application) remember(applied workspace.Applied) error {
	a.workspace.Applied = &applied
	return a.workspace.Save()
}

// differing names the first paths that two trees do not have alike.
func differing(before, after workspace.Tree) string {
	var names []string
	for _, d := range workspace.Compare(before, after) {
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
		shown = append(shown, plain.Short(name, liveWidth))
	}
	return strings.Join(shown, ", ")
}
