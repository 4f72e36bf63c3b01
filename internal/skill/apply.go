package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/render"
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

// change is one that a skill goes through.
type change struct {
	*Versions
	ChangeOptions

	table         Table
	unread        error // why the table is not known, without which a skill can still be put back
	original, now Content
	// unsaved says that no kept version is like the skill, so that replacing it loses something.
	unsaved bool
	changed Changed
}

// Apply makes the skill a version, after showing and asking.
func (v *Versions) Apply(ctx context.Context, o ChangeOptions) (*Changed, error) {
	return v.held(ctx, o, (*change).apply)
}

// Undo makes the skill what it was before its last application, after showing and
// asking.
func (v *Versions) Undo(ctx context.Context, o ChangeOptions) (*Changed, error) {
	return v.held(ctx, o, (*change).undo)
}

// held changes the skill of a workspace that no run works in.
func (v *Versions) held(ctx context.Context, o ChangeOptions, do func(*change, context.Context) error) (*Changed,
	error,
) {
	release, err := v.Hold()
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := v.changing(ctx, o)
	if err == nil {
		err = do(c, ctx)
	}
	if err != nil {
		return nil, err
	}
	return &c.changed, nil
}

// changing reads the skill of a workspace, as it was and as it is.
func (v *Versions) changing(ctx context.Context, o ChangeOptions) (*change, error) {
	skill := v.Skill
	if skill == "" {
		return nil, misuse.Errorf("the workspace does not say where its skill is: give --skill DIR")
	}
	c := &change{Versions: v, ChangeOptions: o, changed: Changed{Skill: skill, Workspace: v.Dir}}
	c.table, c.unread = v.Results()
	var err error
	if c.original, err = Verify(ctx, v.Version(0)); err != nil {
		return nil, err
	}
	if c.now, err = Scan(ctx, skill); err != nil {
		return nil, fmt.Errorf("read the skill: %w", err)
	}
	now := c.now.Digest()
	c.unsaved = now != c.original.Digest() && !slices.ContainsFunc(c.table.Rows, func(row results.Row) bool {
		kept, err := Verify(ctx, v.Version(row.Iteration))
		return err == nil && kept.Digest() == now
	})
	return c, nil
}

// WarnOfChange warns that a workspace is of an earlier state of its skill, before
// anything is spent on it.
func (v *Versions) WarnOfChange(ctx context.Context) error {
	c, err := v.changing(ctx, ChangeOptions{})
	if err == nil && c.unsaved {
		fmt.Fprintf(v.Err, "warning: %s changed since v0 of %s, and this run goes on without that; begin with the "+
			"skill as it is with --fresh\n", v.Skill, v.Dir)
	}
	return err
}

// Offer applies the best version, as Apply does, unless the skill is no longer what it was.
func (v *Versions) Offer(ctx context.Context, yes bool) (applied bool, err error) {
	c, err := v.changing(ctx, ChangeOptions{Version: BestVersion, Yes: yes})
	if err != nil {
		return false, err
	}
	if err = c.apply(ctx); errors.Is(err, errEdited) {
		fmt.Fprintf(v.Err, "the skill changed since v0, so nothing is applied: see `iterate apply %s --merge`\n", v.Dir)
		return false, nil
	}
	return c.changed.Done, err
}

// errEdited says that a person changed the skill.
var errEdited = errors.New("nothing was applied: use --merge to join both, or put it back first")

// apply shows, asks and applies.
func (c *change) apply(ctx context.Context) error {
	if c.unread != nil {
		return c.unread
	}
	none := c.Version == BestVersion && c.table.Best == 0
	if c.Version == BestVersion {
		c.Version = c.table.Best
	}
	if row := c.table.Row(c.Version); c.Version != 0 && (row == nil || row.Action == results.Reverted) {
		return misuse.Errorf("--version %d: no such version was kept; `iterate log %s` lists them", c.Version,
			process.QuoteWord(c.Dir))
	}
	r, _, err := c.Report(ctx, c.Version)
	if err != nil {
		return err
	}
	if none {
		return c.Show(r)
	}
	wanted, err := Verify(ctx, c.Workspace.Version(c.Version))
	if err != nil {
		return err
	}
	c.changed.To = filepath.Base(wanted.Dir)
	name, purpose, title := c.changed.To, "", ""
	if c.now.Digest() != wanted.Digest() {
		if err := c.Show(r); err != nil {
			return err
		}
		if c.unsaved {
			if !c.Merge {
				return fmt.Errorf("%s changed since v0 (%s); %w", c.Skill, differing(c.original, c.now), errEdited)
			}
			if wanted, err = c.merged(ctx, wanted); err != nil {
				return err
			}
			name, purpose = name+", merged,", "before-apply"
			title = "\nJoined with what changed in the skill since v0, it changes"
		}
	}
	return c.put(ctx, wanted, name, "apply "+name+" to ", purpose, title)
}

// merged puts the merge into the workspace, as the snapshot `merged`.
func (c *change) merged(ctx context.Context, wanted Content) (kept Content, err error) {
	kept.Dir = filepath.Join(c.Dir, "merged")
	err = c.inScratch(ctx, func(repo *git.Repo, place string) error {
		merged, conflicts, err := merge(ctx, repo, c.original, c.now, wanted, place)
		if err != nil {
			return err
		}
		if len(conflicts) > 0 {
			return fmt.Errorf("%s cannot be joined with what changed in %s since v0: conflicts in %s; nothing was "+
				"applied: join these files by hand", c.changed.To, c.Skill, plain.Paths(conflicts, plain.Few))
		}
		kept.Tree = merged.Tree
		return PutSnapshot(ctx, merged, kept.Dir)
	})
	return kept, err
}

// undo puts back what the skill was before its last application: v0, or after a
// merge what a person had made of it.
func (c *change) undo(ctx context.Context) error {
	now := c.now.Digest()
	applied := *cmp.Or(c.Applied, &Applied{})
	c.changed.To = cmp.Or(applied.Before, "v0")
	back, err := Verify(ctx, filepath.Join(c.Dir, c.changed.To))
	if err != nil {
		return err
	}
	// what an undo has put back may be a person's own work: undoing once more must not remove that
	if applied.Version == 0 && applied.Digest == now {
		back = c.now
	}
	purpose := ""
	c.Version = 0
	if now != back.Digest() && applied.Digest != now && c.unsaved {
		if purpose = "before-undo"; !c.Force {
			return fmt.Errorf("%s has changes that are in no version of the workspace (from %s: %s); nothing was "+
				"undone: --force undoes all the same, and keeps them in the workspace", c.Skill, c.changed.To,
				differing(back, c.now))
		}
	}
	return c.put(ctx, back, c.changed.To, "put "+c.changed.To+" back to ", purpose, "Undoing changes in "+c.Skill)
}

// put shows under a title what a snapshot changes, asks, and makes the skill that, if it is
// still what was looked at. With a purpose what it was is kept under that name first.
func (c *change) put(ctx context.Context, wanted Content, name, what, purpose, title string) error {
	applied := Applied{Version: c.Version, Digest: wanted.Digest()}
	if c.now.Digest() == applied.Digest {
		c.changed.Done = true
		fmt.Fprintf(c.Out, "%s is %s already\n", c.Skill, name)
		if purpose != "" { // what is noted of an earlier merge stays: it says what an undo puts back
			return nil
		}
		return c.remember(applied)
	}
	if title != "" {
		patch, err := c.patch(ctx, c.now, wanted)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "%s:\n\n%s\n", title, render.Pictured(string(patch)))
	}
	if !c.Yes {
		if agreed, err := c.Ask(ctx, what+c.Skill+"? [y/n] "); !agreed {
			fmt.Fprintf(c.Out, "nothing was changed; the workspace %s is kept\n", c.Dir)
			return err
		}
	}
	if purpose != "" {
		kept, err := c.KeepSkill(ctx, purpose)
		if err != nil {
			return err
		}
		c.changed.Kept = kept
		fmt.Fprintf(c.Out, "what %s was is kept as %s\n", c.Skill, filepath.Join(c.Dir, kept))
		if applied.Version > 0 {
			applied.Before = kept
			// noted before the skill changes: a run that is killed right after that can be undone
			if err := c.remember(applied); err != nil {
				return err
			}
		}
	}
	if _, err := RestoreOver(ctx, wanted.Dir, c.Skill, c.now.Digest()); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "%s is %s now\n", c.Skill, name)
	if applied.Version > 0 {
		fmt.Fprintf(c.Out, "undo it with: iterate undo %s\n", process.QuoteWord(c.Dir))
	}
	c.changed.Changed, c.changed.Done = true, true
	return c.remember(applied)
}

// remember notes in the workspace what the skill is.
func (c *change) remember(applied Applied) error {
	c.Applied = &applied
	return c.Save()
}

// differing names the first paths that two contents do not have alike.
func differing(before, after Content) string {
	var names []string
	for _, d := range files.Compare(before.Tree, after.Tree) {
		names = append(names, d.Path)
	}
	return plain.Paths(names, plain.Few)
}
