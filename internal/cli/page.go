package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/site"
)

// pageOptions are the flags of `iterate page`.
type pageOptions struct {
	app.Options

	out  string
	json bool
}

// pageMade is where a page is and what it shows, as JSON.
type pageMade struct {
	Page     string   `json:"page"`
	Programs []string `json:"programs"`
}

func newPageCommand(env Env, o *iterateOptions) *cobra.Command {
	var p pageOptions
	cmd := &cobra.Command{
		Use:   "page [PROGRAM...]",
		Short: "Draw what was tried, what was kept and what it cost, as HTML",
		Long: "Make a page of the programs' records: every candidate, what was kept and why, samples, changes and\n" +
			"cost. It needs no server and no network: open it from the disk or put it on any web server.\n\n" +
			"The records are read from the memory branch alone; nothing is checked out, run or recorded. When the\n" +
			"program files are at hand the page also says when each program is due.",
		Example: "  iterate page\n  iterate page --out site\n  iterate page speed --out speed.html",
		RunE: func(cmd *cobra.Command, names []string) error {
			o := *o
			o.Remote, o.GitHub, o.Dir = p.Remote, p.GitHub, p.Dir
			return asObject(env, p.json, func(env Env) (*pageMade, error) { return makePage(cmd.Context(), env, o, p.out, names) })
		},
	}
	cmd.Flags().StringVar(&p.out, "out", "autoloop.html", "one HTML file, or a directory for a page of each program")
	sharedFlags(cmd.Flags(), &p.Options)
	dirFlag(cmd.Flags(), &p.Options)
	objectFlag(cmd.Flags(), &p.json)
	return cmd
}

func makePage(ctx context.Context, env Env, o iterateOptions, out string, names []string) (*pageMade, error) {
	deps, err := app.Open(ctx, env, o.Options)
	if err != nil {
		return nil, err
	}
	shown, err := pageMaker(ctx, env, o, deps).Make(ctx, names)
	if err != nil {
		return nil, err
	}
	file, err := site.Write(shown, env.Path(out))
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(env.Stdout, file)
	done := &pageMade{Page: file, Programs: []string{}}
	for _, p := range shown.Programs {
		done.Programs = append(done.Programs, p.Name)
	}
	return done, nil
}

// pageMaker reads what the page shows.
func pageMaker(ctx context.Context, env Env, o iterateOptions, deps *app.Deps) *site.Maker {
	return &site.Maker{
		Repo: deps.Repo, Memory: deps.Memory, Facts: pageFacts(ctx, env, o), Version: app.Version(), Now: env.Now, Repository: o.Page(env),
	}
}

// pageFacts says of a program what its file and the schedule know. Without the
// files the page has what the records say.
func pageFacts(ctx context.Context, env Env, o iterateOptions) func(*page.Source) {
	plan, err := app.Scheduling{Options: app.Options{RepoDir: o.RepoDir, Programs: o.Programs, Dir: o.Dir, GitHub: app.GitHub{Local: true}}}.Plan(ctx, env, false)
	if err != nil {
		return nil
	}
	standings := map[string]*schedule.Standing{}
	for _, s := range plan.Standings {
		standings[s.Program.Name] = s
	}
	return func(source *page.Source) {
		s := standings[source.Name]
		if s == nil {
			return
		}
		status := s.Status()
		source.Condition, source.Reason = status.State, cmp.Or(status.Reason, source.Reason)
		source.Metric, source.Target = s.Program.Metric, s.Program.Target
		if s.NextDue != nil {
			source.NextDue = *s.NextDue
		}
		source.Used = func(summary *history.Summary) []budget.Used { return budget.Stand(s.Program, summary, env.Now()).Used }
	}
}

// writePage writes one HTML file and says where it is.
func writePage(env Env, out string, render func(io.Writer) error) error {
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return err
	}
	file := env.Path(out)
	if err := files.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return err
	}
	fmt.Fprintln(env.Stderr, "page:", file)
	return nil
}
