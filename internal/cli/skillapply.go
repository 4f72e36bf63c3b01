package cli

import (
	"context"

	"github.com/org/autoloop/internal/skill"
)

// skillApplyOptions are the flags of `iterate apply` and `undo` for a workspace.
type skillApplyOptions struct {
	skill.ChangeOptions

	dir  string // of the skill
	json bool
}

// changeSkill opens a workspace, and does something to its skill.
func changeSkill(ctx context.Context, env Env, dir string, o skillApplyOptions,
	do func(*skill.Versions, context.Context, skill.ChangeOptions) (*skill.Changed, error),
) error {
	return asObject(env, o.json, func(env Env) (*skill.Changed, error) {
		w, err := skill.Open(ctx, env.Path(dir), env.Stderr)
		if err != nil {
			return nil, err
		}
		versions := versionsOf(env, w)
		if o.dir != "" {
			versions.Workspace.Skill = env.Path(o.dir)
		}
		return do(versions, ctx, o.ChangeOptions)
	})
}
