package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/setup"
)

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
	if err := setup.DemoRepository(ctx, dir, env.Environ, env.Now()); err != nil {
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

// demoEnd shows what people see afterwards: the state file on its branch.
func demoEnd(ctx context.Context, env Env, dir string) error {
	state, err := process.Output(ctx, dir, setup.WithoutGit(env.Environ), nil, "git", "show", "memory/autoloop:"+setup.DemoProgram+".md")
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
`, dir, setup.DemoProgram)
	return nil
}
