package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/live"
	"github.com/org/autoloop/internal/setup"
)

// demonstrated is what the demo made, as JSON.
type demonstrated struct {
	Dir        string          `json:"dir"`
	Program    string          `json:"program"`
	Iterations []render.Result `json:"iterations"`
	Page       string          `json:"page"`
}

func (a *App) newDemoCommand() *cobra.Command {
	var dir string
	var count int
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole loop in a temporary repository",
		Long: `Make a git repository with a program that everybody understands, and run iterations in which a script
plays the agent: one change is better, one is worse, one cheats, one is no more than noise. It needs
git, sh and awk, no network and no key. The repository is kept, so that you can look at it.`,
		Example: "  go run ./cmd/iterate demo\n  iterate demo -n 10 --dir /tmp/autoloop-demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if count < 1 {
				return misuse.Errorf("-n %d: give at least one iteration", count)
			}
			return asObject(a, func() (*demonstrated, error) { return a.demo(cmd.Context(), dir, count) })
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "make the repository in this new directory (default: a temporary one)")
	cmd.Flags().IntVarP(&count, "iterations", "n", 4, "how many iterations to run")
	a.jsonFlag(cmd)
	return cmd
}

func (a *App) demo(ctx context.Context, dir string, count int) (*demonstrated, error) {
	for _, tool := range []string{"git", "sh", "awk", "od"} {
		if _, err := process.LookPath(tool, a.Dir, a.Environ); err != nil {
			return nil, fmt.Errorf("the demo needs git, sh, awk and od, and %s was not found: install it", tool)
		}
	}
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp(a.TempDir(), "autoloop-demo-")
	} else {
		dir = a.Path(dir)
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			return nil, misuse.Errorf("--dir %s is not empty; name a new directory", dir)
		}
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprint(a.Stdout, demoBegin)
	if err := setup.DemoRepository(ctx, dir, a.Environ, a.Now()); err != nil {
		return nil, err
	}
	a.Local, a.RepoDir, a.Output, a.Program = true, dir, dir+"/.git/autoloop", setup.DemoProgram
	if err := a.openRun(ctx); err != nil {
		return nil, err
	}
	p, err := a.selected(ctx)
	if err != nil {
		return nil, err
	}
	service, err := a.newLoop(ctx, p)
	if err != nil {
		return nil, err
	}
	done := &demonstrated{Dir: dir, Program: setup.DemoProgram}
	if done.Iterations, err = a.demoIterations(ctx, service, count); err != nil {
		return nil, err
	}
	var best []float64
	for _, r := range done.Iterations {
		if len(best) == 0 && r.Initial != nil {
			best = append(best, r.Initial.Float64())
		}
		if r.BestMetric != nil {
			best = append(best, r.BestMetric.Float64())
		}
	}
	if len(best) > 0 {
		fmt.Fprintf(a.Stdout, "minutes: %.0f %s %.0f (the shortest trip: %d)\n", best[0], render.Spark(best),
			best[len(best)-1], setup.DemoBest)
	}
	made, err := a.makeSite(ctx, nil)
	if err == nil {
		done.Page, err = writeSite(made, filepath.Join(dir, "autoloop.html")) // git ignores it here
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(a.Stdout, demoEnd, dir, done.Page)
	return done, nil
}

const demoBegin = `A courier rides to twelve places and back in random traffic. A script plays the agent and changes
the order of the places in round/route.txt; Autoloop measures, and keeps what is better.
`

const demoEnd = `look:    %[2]s, or git -C %[1]s diff main autoloop/round
yours:   run "iterate init --local" in a repository of yours; remove this one: rm -r %[1]s
`

// demoIterations runs the iterations, and prints what the unchanged files measure, a line for
// each iteration, and the first diff that was kept.
func (a *App) demoIterations(ctx context.Context, service *loop.Service, count int) ([]render.Result, error) {
	var lines setup.DemoLines
	var begun, diffed bool
	var failed error
	shown := newProgress(a.Env)
	service.Progress = func(step live.Status) {
		if a.Terminal {
			shown.Step(step)
		}
		if step.Stage == "measured" && !begun {
			begun = true
			value, _ := metric.ParseValue(step.Detail) // it is one
			shown.Between(func() { fmt.Fprintf(a.Stdout, "as it is: %s minutes\n", setup.Rounded(value)) })
		}
	}
	service.Ended = func(r render.Result) {
		text := lines.Line(r)
		if r.Outcome == history.Accepted && !diffed {
			var patch []byte
			diffed = true
			patch, failed = a.Repo.Diff(ctx, *r.Commit+"^", *r.Commit)
			text += setup.DemoDiff(string(patch))
		}
		shown.Between(func() { fmt.Fprint(a.Stdout, text) })
	}
	results, err := service.Run(ctx, count)
	shown.Close()
	return results, cmp.Or(err, failed)
}
