package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/programs"
)

// demoProgram is the example that the demo runs.
const demoProgram = "function-minimization"

type demoOptions struct {
	dir        string
	iterations int
}

func newDemoCommand(env Env) *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole loop in a temporary repository",
		Long: "Make a git repository with an example program, let the scheduler pick it, and run\n" +
			"iterations with the built-in tuner. It needs Go and git, no network and no key. The\n" +
			"repository is kept, so that you can look at the branches afterwards.",
		Example: "  go run ./cmd/iterate demo\n  iterate demo -n 10 --dir /tmp/autoloop-demo",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return demo(cmd.Context(), env, o) },
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "make the repository in this new directory (default: a temporary one)")
	cmd.Flags().IntVarP(&o.iterations, "iterations", "n", 5, "how many iterations to run")
	return cmd
}

func demo(ctx context.Context, env Env, o demoOptions) error {
	if o.iterations < 1 {
		return Usagef("-n %d: give at least one iteration", o.iterations)
	}
	dir, err := demoDir(env, o.dir)
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { fmt.Fprintf(env.Stdout, format+"\n", args...) }
	say("── a repository with one program: %s", dir)
	if err := demoRepository(ctx, env, dir); err != nil {
		return err
	}
	say("\n── the scheduler picks the most overdue program\n")
	inner := env
	inner.Dir = dir
	inner.Args = []string{"--dir", filepath.Join(dir, ".git", "autoloop")}
	if code := Scheduler(ctx, inner); code != ExitOK {
		return &ExitError{Code: code}
	}
	say("\n── %d iterations: the tuner changes the search's constants, the evaluation measures, code decides", o.iterations)
	say("   (the first evaluation compiles the example, which takes some seconds)\n")
	flags := app.Options{RepoDir: dir, Dir: filepath.Join(dir, ".git", "autoloop"), GitHub: app.GitHub{Local: true}}
	if err := iterate(ctx, inner, iterateOptions{Options: flags, count: o.iterations}); err != nil {
		return err
	}
	return demoEnd(ctx, env, dir)
}

func demoDir(env Env, asked string) (string, error) {
	if asked == "" {
		return os.MkdirTemp("", "autoloop-demo-")
	}
	asked = env.Path(asked)
	if entries, err := os.ReadDir(asked); err == nil && len(entries) > 0 {
		return "", Usagef("--dir %s is not empty; name a new directory", asked)
	}
	return asked, os.MkdirAll(asked, 0o755)
}

// demoRepository writes the example and makes the first commit.
func demoRepository(ctx context.Context, env Env, dir string) error {
	root := filepath.Join(dir, "programs")
	err := fs.WalkDir(programs.FS, demoProgram, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := programs.FS.ReadFile(path)
		if err != nil {
			return err
		}
		if path == demoProgram+"/program.md" {
			return demoWrite(filepath.Join(dir, ".autoloop", "programs", demoProgram+".md"), text)
		}
		return demoWrite(filepath.Join(root, filepath.FromSlash(path)), text)
	})
	if err != nil {
		return err
	}
	if err := demoWrite(filepath.Join(dir, "go.mod"), []byte("module example.com/demo\n\ngo 1.25\n")); err != nil {
		return err
	}
	date := env.Now().UTC().Format(time.RFC3339)
	environ := append(withoutGit(env.Environ),
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

func demoWrite(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func withoutGit(environ []string) []string {
	var kept []string
	for _, variable := range environ {
		if !strings.HasPrefix(variable, "GIT_") {
			kept = append(kept, variable)
		}
	}
	return kept
}

// demoEnd shows what people see afterwards: the state file on its branch.
func demoEnd(ctx context.Context, env Env, dir string) error {
	state, err := process.Output(ctx, dir, withoutGit(env.Environ), nil, "git", "show", "memory/autoloop:"+demoProgram+".md")
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "\n── the state, on branch memory/autoloop\n\n%s\n", strings.TrimSpace(string(state)))
	fmt.Fprintf(env.Stdout, `
── where to look

  cd %s
  git log --oneline main..autoloop/%[2]s      # what was kept
  git diff main autoloop/%[2]s                # all of it
  git show memory/autoloop:%[2]s.results.tsv  # every iteration
  git show memory/autoloop:%[2]s.jsonl        # the ledger
`, dir, demoProgram)
	return nil
}
