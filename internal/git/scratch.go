package git

import (
	"context"
	"path/filepath"
)

// Scratch makes an empty repository in an existing directory, for comparing and
// merging trees that are in none, and opens it. Whoever made the directory
// removes it.
func Scratch(ctx context.Context, dir string, env []string) (*Repo, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	made := &Repo{env: newEnvironment(env)}
	if _, err := made.execute(ctx, Input{WorkTree: absolute}, nil, "init", "--quiet", "--initial-branch=main",
		"--template="); err != nil {
		return nil, err
	}
	return Open(ctx, absolute, env)
}
