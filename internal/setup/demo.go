package setup

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/programs"
)

// DemoProgram is the example that the demo runs.
const DemoProgram = "function-minimization"

// DemoRepository writes the example and makes the first commit.
func DemoRepository(ctx context.Context, dir string, environ []string, now time.Time) error {
	root := filepath.Join(dir, "programs")
	err := fs.WalkDir(programs.FS, DemoProgram, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := programs.FS.ReadFile(path)
		if err != nil {
			return err
		}
		if path == DemoProgram+"/program.md" {
			return File{filepath.Join(dir, ".autoloop", "programs", DemoProgram+".md"), string(text)}.Write()
		}
		return File{filepath.Join(root, filepath.FromSlash(path)), string(text)}.Write()
	})
	if err != nil {
		return err
	}
	if err := (File{filepath.Join(dir, "go.mod"), "module example.com/demo\n\ngo 1.25\n"}).Write(); err != nil {
		return err
	}
	date := now.UTC().Format(time.RFC3339)
	environ = append(WithoutGit(environ),
		"GIT_AUTHOR_NAME=Demo", "GIT_AUTHOR_EMAIL=demo@localhost", "GIT_COMMITTER_NAME=Demo", "GIT_COMMITTER_EMAIL=demo@localhost",
		"GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	for _, args := range [][]string{
		{"git", "init", "--quiet", "--initial-branch=main"},
		{"git", "add", "--all"},
		{"git", "-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", "Start the demo"},
	} {
		if _, err := process.Output(ctx, dir, environ, nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// WithoutGit is an environment in which nothing speaks to git.
func WithoutGit(environ []string) []string {
	var kept []string
	for _, variable := range environ {
		if !strings.HasPrefix(variable, "GIT_") {
			kept = append(kept, variable)
		}
	}
	return kept
}
