package cli

import (
	"context"

	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
)

// reportOptions are the flags of `iterate log WORKSPACE`.
type reportOptions struct {
	json, diff bool
	html       string
}

// reportSkill says how the improvement of a skill went.
func reportSkill(ctx context.Context, env Env, dir string, o reportOptions) error {
	w, err := skill.Read(ctx, env.Path(dir), env.Stderr)
	if err != nil {
		return err
	}
	versions := versionsOf(env, w)
	r, patch, err := versions.Report(ctx, skill.BestVersion)
	switch {
	case err != nil:
		return err
	case o.html != "":
		page, err := versions.Page(ctx, r)
		if err != nil {
			return err
		}
		page.Generated = env.Now()
		return writePage(env, o.html, page.Write)
	case o.diff:
		_, err = env.Stdout.Write(patch)
		return err
	case o.json:
		return printJSON(env, r)
	}
	return versions.Show(r)
}

func versionsOf(env Env, w *workspace.Workspace) *skill.Versions {
	return &skill.Versions{
		Workspace: w, TempDir: env.TempDir(), Environ: env.Environ, Out: env.Stdout, Err: env.Stderr,
		Terminal: env.Terminal,
		Ask:      func(ctx context.Context, question string) (bool, error) { return agree(ctx, env, question) },
	}
}
