package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render/live"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/site"
)

// pageMade is where a page is and what it shows, as JSON.
type pageMade struct {
	Page     string   `json:"page"`
	Programs []string `json:"programs"`
}

func (a *App) newPageCommand() *cobra.Command {
	var out string
	var port int
	cmd := &cobra.Command{
		Use:   "page [PROGRAM…]",
		Short: "Draw what was tried, what was kept and what it cost, as HTML",
		Long: `Make a page of the programs' records: every candidate, what was kept and why, samples, changes and
cost. It needs no server and no network: open it from the disk or put it on any web server.

With --serve it is served on this machine alone and kept up to date while runs go on.`,
		Example: "  iterate page\n  iterate page --out site\n  iterate page speed --out speed.html\n" +
			"  iterate page --serve",
		RunE: func(cmd *cobra.Command, names []string) error {
			if cmd.Flags().Changed("serve") {
				return a.servePage(cmd.Context(), port, names)
			}
			return a.makePage(cmd.Context(), out, names)
		},
	}
	cmd.Flags().StringVar(&out, "out", "",
		"one HTML file, or a directory for a page of each program (default: a file beside autoloop.json)")
	a.sharedFlags(cmd)
	a.dirFlag(cmd)
	a.jsonFlag(cmd)
	cmd.Flags().IntVar(&port, "serve", 0, "serve the page live on a `PORT` of 127.0.0.1, without one on a free port")
	cmd.Flags().Lookup("serve").NoOptDefVal = "0"
	cmd.MarkFlagsMutuallyExclusive("serve", "out")
	cmd.MarkFlagsMutuallyExclusive("serve", "json")
	return cmd
}

func (a *App) makePage(ctx context.Context, out string, names []string) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	a.GitHub = nil // a page is of what the repository has
	shown, err := a.makeSite(ctx, names)
	if err != nil {
		return err
	}
	if out == "" {
		dir, err := a.outputDir()
		if err != nil {
			return err
		}
		out = filepath.Join(dir, "pages", a.ownName()+".html")
		if err := os.MkdirAll(filepath.Dir(out), 0o700); err != nil {
			return err
		}
	}
	made := pageMade{Programs: []string{}}
	if made.Page, err = site.Write(shown, a.Path(out)); err != nil {
		return err
	}
	for _, p := range shown.Programs {
		made.Programs = append(made.Programs, p.Name)
	}
	return a.print(made, made.Page+"\n")
}

// makeSite reads what the page shows: the records, and of a program what its file and the
// schedule know. Without the files the page has what the records say.
func (a *App) makeSite(ctx context.Context, names []string) (*page.Site, error) {
	standings := map[string]*schedule.Standing{}
	if plan, err := a.plan(ctx, false); err == nil {
		for _, s := range plan.Standings {
			standings[s.Program.Name] = s
		}
	}
	made, err := site.Make(ctx, a.Memory, names, func(source *page.Source) {
		source.Repository = a.repositoryPage()
		s := standings[source.Name]
		if s == nil {
			return
		}
		status := s.Status("")
		source.State, source.Reason = status.State, status.Reason
		source.Metric, source.Target = s.Program.Metric, s.Program.Target
		if s.NextDue != nil {
			source.NextDue = *s.NextDue
		}
		source.Budget = budget.Stand(s.Program, source.Summary, a.Now()).Used
	})
	if err == nil {
		made.Version = buildVersion()
	}
	return made, err
}

// servePage serves the page until the context is done.
func (a *App) servePage(ctx context.Context, port int, names []string) error {
	if port < 0 || port > 65535 {
		return misuse.Errorf("--serve=%d: give a number from 0 to 65535; 0 takes a free one", port)
	}
	if err := a.open(ctx); err != nil {
		return err
	}
	a.GitHub = nil
	look := time.Second // from the records of this repository
	if a.Memory.Remote != "" {
		look = 30 * time.Second
	}
	watcher := &site.Watcher{
		Make:    func(ctx context.Context) (*page.Site, error) { return a.makeSite(ctx, names) },
		Version: a.Memory.Head,
		Board:   live.New(a.Repo.CommonDir),
		Token:   rand.Text(),
		Now:     a.Now,
		Every:   look,
	}
	if len(names) > 0 { // a name without records is said here, not in the browser
		if _, err := watcher.Make(ctx); err != nil {
			return err
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("serve the page: %w", err)
	}
	fmt.Fprintf(a.Stdout, "%s\n", watcher.URL(listener.Addr().String()))
	return watcher.Serve(ctx, listener)
}
