package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// side finds a configuration: a directory, or a commit whose files are written
// to one.
func (o *tasksOptions) side(ctx context.Context, env Env, place *tasksPlace, role, text string) (taskrun.Side, error) {
	side := taskrun.Side{Label: text, Config: taskrun.AgentConfig()}
	side.Config.Include = append(side.Config.Include, o.targets...)
	if len(o.config) > 0 {
		side.Config = taskrun.Config{Include: o.config}
	}
	if info, err := os.Stat(env.Path(text)); err == nil && info.IsDir() {
		side.Dir = env.Path(text)
		return side, nil
	}
	repo, err := app.OpenRepo(ctx, env, o.repository())
	if err != nil {
		return side, misuse.Errorf("--%s %s is no directory, and there is no repository: %w", role, text, err)
	}
	commit, found, err := repo.Resolve(ctx, text)
	if err != nil {
		return side, err
	}
	if !found {
		return side, misuse.Errorf("--%s %s is neither a directory nor a commit of %s", role, text, repo.Root)
	}
	side.Dir = filepath.Join(place.run, role)
	_, err = (&tree.Builder{Repo: repo.WithTemp(place.run)}).Build(ctx, commit, side.Dir, tree.Options{})
	return side, err
}

// repository is the directory of --repo-dir, "" for where we are.
func (o *tasksOptions) repository() string {
	if o.repoDir == nil {
		return ""
	}
	return *o.repoDir
}
