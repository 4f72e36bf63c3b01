package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
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
	if made.Page, err = writeSite(shown, a.Path(out)); err != nil {
		return err
	}
	for _, p := range shown.Programs {
		made.Programs = append(made.Programs, p.Name)
	}
	return a.print(made, made.Page+"\n")
}
