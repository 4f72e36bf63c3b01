package cli

import (
	"context"

	"github.com/org/autoloop/internal/skill"
	"github.com/org/autoloop/internal/skill/workspace"
)

// reportSkill says how the improvement of a skill went; html is the file for a page, "" for
// none.
func (a *App) reportSkill(ctx context.Context, dir string, diff bool, html string) error {
	w, err := skill.Open(ctx, a.Path(dir), a.Stderr)
	if err != nil {
		return err
	}
	versions := a.versionsOf(w)
	r, patch, err := versions.Report(ctx, skill.BestVersion)
	switch {
	case err != nil:
		return err
	case html != "":
		page, err := versions.Page(ctx, r)
		if err != nil {
			return err
		}
		page.Generated = a.Now()
		return a.writePage(html, page.Write)
	case diff:
		_, err = a.Stdout.Write(patch)
		return err
	case a.JSON:
		return a.printJSON(r)
	}
	return versions.Show(r)
}

func (a *App) versionsOf(w *workspace.Workspace) *skill.Versions {
	return &skill.Versions{
		Workspace: w, TempDir: a.TempDir(), Environ: a.Environ, Out: a.Stdout, Err: a.Stderr,
		Terminal: a.Terminal,
		Ask:      a.agree,
	}
}
