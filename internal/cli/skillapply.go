package cli

import (
	"context"

	"github.com/org/autoloop/internal/skill"
)

// skillChange are the flags of `iterate apply` and `undo` for a workspace.
type skillChange struct {
	skill.ChangeOptions

	dir string // of the skill
}

// changeSkill opens a workspace, and does something to its skill.
func (a *App) changeSkill(ctx context.Context, dir string, change skillChange,
	do func(*skill.Versions, context.Context, skill.ChangeOptions) (*skill.Changed, error),
) error {
	return asObject(a, func() (*skill.Changed, error) {
		w, err := skill.Open(ctx, a.Path(dir), a.Stderr)
		if err != nil {
			return nil, err
		}
		versions := a.versionsOf(w)
		if change.dir != "" {
			versions.Workspace.Skill = a.Path(change.dir)
		}
		change.Yes = a.Yes
		return do(versions, ctx, change.ChangeOptions)
	})
}
