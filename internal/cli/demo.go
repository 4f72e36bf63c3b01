package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/setup"
	"github.com/org/autoloop/internal/site"
)

type demoOptions struct {
	dir        string
	iterations int
	open, json bool
}

// demonstrated is what the demo made, as JSON.
type demonstrated struct {
	Dir        string        `json:"dir"`
	Program    string        `json:"program"`
	Iterations []loop.Result `json:"iterations"`
	Page       string        `json:"page"`
}

func newDemoCommand(env Env) *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole loop in a temporary repository",
		Long: `Make a git repository with a program that everybody understands, and run iterations in which a script
plays the agent: one change is better, one is worse, one cheats, one is no more than noise. It needs
git, sh and awk, no network and no key. The repository is kept, so that you can look at it.`,
		Example: "  go run ./cmd/iterate demo\n  iterate demo -n 10 --dir /tmp/autoloop-demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return asObject(env, o.json, func(env Env) (*demonstrated, error) { return demo(cmd.Context(), env, o) })
		},
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "make the repository in this new directory (default: a temporary one)")
	cmd.Flags().IntVarP(&o.iterations, "iterations", "n", 4, "how many iterations to run")
	cmd.Flags().BoolVar(&o.open, "open", false, "show the page of what happened in a browser")
	objectFlag(cmd.Flags(), &o.json)
	return cmd
}

func demo(ctx context.Context, env Env, o demoOptions) (*demonstrated, error) {
	if o.iterations < 1 {
		return nil, misuse.Errorf("-n %d: give at least one iteration", o.iterations)
	}
	for _, tool := range []string{"git", "sh", "awk", "od"} {
		if _, err := process.LookPath(tool, env.Dir, env.Environ); err != nil {
			return nil, fmt.Errorf("the demo needs git, sh, awk and od, and %s was not found: install it", tool)
		}
	}
	dir, err := demoDir(env, o.dir)
	if err != nil {
		return nil, err
	}
	fmt.Fprint(env.Stdout, demoBegin)
	if err := setup.DemoRepository(ctx, dir, env.Environ, env.Now()); err != nil {
		return nil, err
	}
	deps, remove, err := openRun(ctx, env,
		Options{GitHub: GitHub{Local: true}, RepoDir: dir, Dir: dir + "/.git/autoloop", Program: setup.DemoProgram})
	if err != nil {
		return nil, err
	}
	defer remove()
	p, _, err := deps.Program(ctx)
	if err != nil {
		return nil, err
	}
	service, err := deps.Loop(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	show := demoShow{env: env, deps: deps}
	done := &demonstrated{Dir: dir, Program: setup.DemoProgram}
	var best []float64
	for range o.iterations {
		result, err := show.iteration(ctx, service)
		if err != nil {
			return nil, err
		}
		done.Iterations = append(done.Iterations, result)
		if len(best) == 0 && result.Initial != nil {
			best = append(best, result.Initial.Float64())
		}
		if result.BestMetric != nil {
			best = append(best, result.BestMetric.Float64())
		}
	}
	if len(best) > 0 {
		fmt.Fprintf(env.Stdout, "minutes: %.0f %s %.0f (the shortest trip: %d)\n", best[0], render.Spark(best),
			best[len(best)-1], setup.DemoBest)
	}
	done.Page, err = demoPage(ctx, env, deps, dir)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(env.Stdout, demoEnd, dir, done.Page)
	if o.open {
		err = process.OpenInBrowser(done.Page, env.Dir, env.Environ)
	}
	return done, err
}

// demoPageName is the page in the demo's directory, which git does not see there.
const demoPageName = "autoloop.html"

// demoPage draws what happened.
func demoPage(ctx context.Context, env Env, deps *dependencies, dir string) (string, error) {
	maker := &site.Maker{
		Repo: deps.Repo, Memory: deps.Memory, Version: buildVersion(), Now: env.Now,
		Facts: func(s *page.Source) { s.Metric = "minutes" },
	}
	made, err := maker.Make(ctx, nil)
	if err != nil {
		return "", err
	}
	exclude := filepath.Join(deps.Repo.CommonDir, "info", "exclude")
	if err := files.WriteFile(exclude, []byte(demoPageName+"\n"), 0o644); err != nil {
		return "", err
	}
	return site.Write(made, filepath.Join(dir, demoPageName))
}

const demoBegin = `A courier rides to twelve places and back in random traffic. A script plays the agent and changes
the order of the places in round/route.txt; Autoloop measures, and keeps what is better.
`

const demoEnd = `look:    %[2]s, or git -C %[1]s diff main autoloop/round
yours:   run "iterate init --local" in a repository of yours; remove this one: rm -r %[1]s
`

// demoShow prints the iterations of the demo, in a line each and with the first diff.
type demoShow struct {
	env     Env
	deps    *dependencies
	begun   bool // the unchanged files were measured
	diffed  bool // the first diff was shown
	lines   setup.DemoLines
	between func(print func())
}

// step prints what the unchanged files measure, as soon as that is known.
func (d *demoShow) step(step loop.Step) {
	if step.Name == "measured" && !d.begun {
		d.begun = true
		d.between(func() { fmt.Fprintf(d.env.Stdout, "as it is: %s minutes\n", setup.Rounded(step.Detail)) })
	}
}

// iteration runs one iteration and says how it ended.
func (d *demoShow) iteration(ctx context.Context, service *loop.Service) (loop.Result, error) {
	d.between = func(print func()) { print() }
	service.Progress = d.step
	if d.env.Terminal {
		shown := newProgress(d.env)
		defer shown.Close()
		d.between = shown.Between
		service.Progress = func(step loop.Step) {
			shown.Step(step)
			d.step(step)
		}
	}
	results, err := service.Run(ctx, 1)
	if err != nil {
		return loop.Result{}, err
	}
	if len(results) == 0 {
		return loop.Result{}, fmt.Errorf("the demo was stopped: %s is in use", d.deps.Repo.Root)
	}
	r := results[0]
	d.between(func() { err = d.print(ctx, r) })
	return r, err
}

func (d *demoShow) print(ctx context.Context, r loop.Result) error {
	fmt.Fprint(d.env.Stdout, d.lines.Line(r))
	if r.Outcome != history.Accepted || d.diffed {
		return nil
	}
	d.diffed = true
	patch, err := d.deps.Repo.Diff(ctx, *r.Commit+"^", *r.Commit)
	fmt.Fprint(d.env.Stdout, setup.DemoDiff(string(patch)))
	return err
}

func demoDir(env Env, asked string) (string, error) {
	if asked == "" {
		return os.MkdirTemp(env.TempDir(), "autoloop-demo-")
	}
	asked = env.Path(asked)
	if entries, err := os.ReadDir(asked); err == nil && len(entries) > 0 {
		return "", misuse.Errorf("--dir %s is not empty; name a new directory", asked)
	}
	return asked, os.MkdirAll(asked, 0o755)
}
