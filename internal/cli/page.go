package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/loop/live"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/site"
)

// pageMade is where a page is and what it shows, as JSON.
type pageMade struct {
	Page     string   `json:"page"`
	Programs []string `json:"programs"`
}

func newPageCommand(env Env, o *iterateOptions) *cobra.Command {
	var out string
	var port int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "page [PROGRAM…]",
		Short: "Draw what was tried, what was kept and what it cost, as HTML",
		Long: `Make a page of the programs' records: every candidate, what was kept and why, samples, changes and
cost. It needs no server and no network: open it from the disk or put it on any web server.

With --serve it is served on this machine alone and kept up to date while runs go on, with a button
that ends them after their present iteration. Without the secret part of its address nothing is
answered. It serves until interrupted.`,
		Example: "  iterate page\n  iterate page --out site\n  iterate page speed --out speed.html\n" +
			"  iterate page --serve",
		RunE: func(cmd *cobra.Command, names []string) error {
			if cmd.Flags().Changed("serve") {
				return servePage(cmd.Context(), env, o.Options, port, names)
			}
			return asObject(env, asJSON, func(env Env) (*pageMade, error) {
				return makePage(cmd.Context(), env, o.Options, out, names)
			})
		},
	}
	cmd.Flags().StringVar(&out, "out", "",
		"one HTML file, or a directory for a page of each program (default: a file beside autoloop.json)")
	sharedFlags(cmd.Flags(), &o.Options)
	dirFlag(cmd.Flags(), &o.Options)
	objectFlag(cmd.Flags(), &asJSON)
	cmd.Flags().IntVar(&port, "serve", 0, "serve the page live on a `PORT` of 127.0.0.1, without one on a free port")
	cmd.Flags().Lookup("serve").NoOptDefVal = "0"
	cmd.MarkFlagsMutuallyExclusive("serve", "out")
	cmd.MarkFlagsMutuallyExclusive("serve", "json")
	return cmd
}

func makePage(ctx context.Context, env Env, o Options, out string, names []string) (*pageMade, error) {
	deps, err := openDeps(ctx, env, o)
	if err != nil {
		return nil, err
	}
	shown, err := pageMaker(ctx, env, o, deps).Make(ctx, names)
	if err != nil {
		return nil, err
	}
	if out == "" {
		dir, err := env.OutputDir(o.Dir)
		if err != nil {
			return nil, err
		}
		out = deps.PageFile(dir)
		if err := os.MkdirAll(filepath.Dir(out), 0o700); err != nil {
			return nil, err
		}
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
func pageMaker(ctx context.Context, env Env, o Options, deps *dependencies) *site.Maker {
	return &site.Maker{
		Repo: deps.Repo, Memory: deps.Memory, Facts: pageFacts(ctx, env, o), Version: buildVersion(), Now: env.Now,
		Repository: o.Page(env),
	}
}

// pageFacts says of a program what its file and the schedule know. Without the
// files the page has what the records say.
func pageFacts(ctx context.Context, env Env, o Options) func(*page.Source) {
	plan, err := Scheduling{Options: Options{
		RepoDir: o.RepoDir, Programs: o.Programs, Dir: o.Dir,
		GitHub: GitHub{Local: true},
	}}.Plan(ctx, env, false)
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
		source.Used = func(summary *history.Summary) []budget.Used {
			return budget.Stand(s.Program, summary, env.Now()).Used
		}
	}
}

// How often the page is looked at anew: from this repository's records, and from
// those of a remote.
const (
	lookHere   = time.Second
	lookRemote = 30 * time.Second
)

// servePage serves the page until the context is done.
func servePage(ctx context.Context, env Env, o Options, port int, names []string) error {
	if port < 0 || port > 65535 {
		return misuse.Errorf("--serve=%d: give a number from 0 to 65535; 0 takes a free one", port)
	}
	deps, err := openDeps(ctx, env, o)
	if err != nil {
		return err
	}
	look := lookHere
	if deps.Memory.Remote != "" {
		look = lookRemote
	}
	watcher := &site.Watcher{
		Make: func(ctx context.Context) (*page.Site, error) {
			return pageMaker(ctx, env, o, deps).Make(ctx, names)
		},
		Version: deps.Memory.Head,
		Board:   live.New(deps.Repo.CommonDir),
		Token:   rand.Text(),
		Tick: func() (<-chan time.Time, func()) {
			ticker := time.NewTicker(look)
			return ticker.C, ticker.Stop
		},
	}
	if len(names) > 0 { // a name without records is said here, not in the browser
		if _, err = watcher.Make(ctx); err != nil {
			return err
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("serve the page: %w", err)
	}
	fmt.Fprintf(env.Stdout, "%s\n", watcher.URL(listener.Addr().String()))
	return watcher.Serve(ctx, listener)
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
