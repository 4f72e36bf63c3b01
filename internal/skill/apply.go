package skill

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/files"
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
	// Yes does it without asking, Force undoes also what was changed by hand.
	Yes, Force bool
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

	table         workspace.Table
	original, now content
	// unsaved says that the skill is none of the kept versions, so that replacing it loses something.
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
	var err error
	if c.table, err = v.Results(); err != nil {
		return nil, err
	}
	if c.original, err = v.version(ctx, 0); err != nil {
		return nil, err
	}
	found, err := workspace.Scan(ctx, skill)
	if err != nil {
		return nil, fmt.Errorf("read the skill: %w", err)
	}
	c.now = content{skill, found}
	now := found.Digest()
	c.unsaved = now != c.original.tree.Digest() && !slices.ContainsFunc(c.table.Rows, func(row results.Row) bool {
		kept, err := v.version(ctx, row.Iteration)
		return err == nil && kept.tree.Digest() == now
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
		fmt.Fprintln(v.Err, err)
		return false, nil
	}
	return c.changed.Done, err
}

// errEdited says that a person changed the skill.
var errEdited = errors.New("nothing was applied")

// apply shows, asks and applies.
func (c *change) apply(ctx context.Context) error {
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
	wanted, err := c.version(ctx, c.Version)
	if err != nil {
		return err
	}
	c.changed.To = filepath.Base(wanted.dir)
	if c.now.tree.Digest() != wanted.tree.Digest() {
		if err := c.Show(r); err != nil {
			return err
		}
		if c.unsaved {
			return fmt.Errorf("%s changed since v0 (%s); %w: put it back first, or take the version over by hand with "+
				"`iterate log %s --diff | git apply`", c.Skill, differing(c.original, c.now), errEdited,
				process.QuoteWord(c.Dir))
		}
	}
	return c.put(ctx, wanted, "apply %s to %s? [y/n] ")
}

// undo makes the skill v0 again.
func (c *change) undo(ctx context.Context) error {
	c.Version, c.changed.To = 0, "v0"
	if c.now.tree.Digest() != c.original.tree.Digest() {
		if c.unsaved && !c.Force {
			return fmt.Errorf("%s has changes that are in no version of the workspace (from v0: %s); nothing was "+
				"undone: --force undoes all the same, and keeps them in the workspace", c.Skill,
				differing(c.original, c.now))
		}
		patch, err := c.patch(ctx, c.now, c.original)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "Undoing changes in %s:\n\n%s\n", c.Skill, render.Pictured(string(patch)))
	}
	return c.put(ctx, c.original, "put %s back to %s? [y/n] ")
}

// put asks, and makes the skill a version, if it is still what was looked at. What it was is kept
// first where that is in no version.
func (c *change) put(ctx context.Context, wanted content, question string) error {
	name, now := c.changed.To, c.now.tree.Digest()
	c.changed.Changed = now != wanted.tree.Digest()
	is := "already"
	if c.changed.Changed {
		is = "now"
		if !c.Yes {
			if agreed, err := c.Ask(ctx, fmt.Sprintf(question, name, c.Skill)); !agreed {
				c.changed.Changed = false
				fmt.Fprintf(c.Out, "nothing was changed; the workspace %s is kept\n", c.Dir)
				return err
			}
		}
		if c.unsaved {
			kept, err := c.KeepSkill(ctx)
			if err != nil {
				return err
			}
			c.changed.Kept = kept
			fmt.Fprintf(c.Out, "what %s was is kept as %s\n", c.Skill, filepath.Join(c.Dir, kept))
		}
		if _, err := workspace.RestoreOver(ctx, wanted.dir, c.Skill, now); err != nil {
			return err
		}
	}
	c.changed.Done = true
	fmt.Fprintf(c.Out, "%s is %s %s\n", c.Skill, name, is)
	if c.changed.Changed && c.Version > 0 {
		fmt.Fprintf(c.Out, "undo it with: iterate undo %s\n", process.QuoteWord(c.Dir))
	}
	c.Applied = &workspace.Applied{Version: c.Version, Digest: wanted.tree.Digest()}
	return c.Save()
}

// differing names the first paths that two contents do not have alike.
func differing(before, after content) string {
	var names []string
	for _, d := range files.Compare(before.tree, after.tree) {
		names = append(names, d.Path)
	}
	return named(names)
}

// named lists a few paths on one line.
func named(paths []string) string {
	shown := make([]string, len(paths))
	for i, name := range paths {
		shown[i] = plain.Clip(plain.Path(name), lineWidth)
	}
	return render.Few(shown)
}
