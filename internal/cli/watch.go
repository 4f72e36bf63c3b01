package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/loop/live"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/site"
)

// How often the page is looked at anew: from this repository's records, and from
// those of a remote.
const (
	lookHere   = time.Second
	lookRemote = 30 * time.Second
)

// watchOptions are the flags of `iterate watch`.
type watchOptions struct {
	app.Options

	port int
}

func newWatchCommand(env Env, o *iterateOptions) *cobra.Command {
	var w watchOptions
	cmd := &cobra.Command{
		Use:   "watch [PROGRAM...]",
		Short: "Show the page in a browser and keep it up to date while runs go on",
		Long: "Serve the page of `iterate page` on this machine alone, and keep it up to date while runs go on in this\n" +
			"repository: what each is at, every new iteration, and a button that ends the runs after their present\n" +
			"iteration. The address has a secret part; without it nothing is answered. It serves until interrupted.",
		Example: "  iterate watch\n  iterate watch speed --port 8080\n  iterate --program speed -n 50 --watch",
		RunE: func(cmd *cobra.Command, names []string) error {
			if w.port < 0 || w.port > 65535 {
				return misuse.Errorf("--port %d: give a number from 0 to 65535; 0 takes a free one", w.port)
			}
			o := *o
			o.Remote, o.GitHub, o.Dir = w.Remote, w.GitHub, w.Dir
			return watch(cmd.Context(), env, o, w.port, names)
		},
	}
	cmd.Flags().IntVar(&w.port, "port", 0, "the port on 127.0.0.1 (default: a free one)")
	sharedFlags(cmd.Flags(), &w.Options)
	dirFlag(cmd.Flags(), &w.Options)
	return cmd
}

// watch serves the page until the context is done.
func watch(ctx context.Context, env Env, o iterateOptions, port int, names []string) error {
	watcher, err := newWatcher(ctx, env, o, names)
	if err == nil && len(names) > 0 {
		_, err = watcher.Make(ctx) // a name without records is said here, not in the browser
	}
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("serve the page: %w", err)
	}
	fmt.Fprintf(env.Stdout, "%s\n", watcher.URL(listener.Addr().String()))
	return watcher.Serve(ctx, listener)
}

func newWatcher(ctx context.Context, env Env, o iterateOptions, names []string) (*site.Watcher, error) {
	deps, err := app.Open(ctx, env, o.Options)
	if err != nil {
		return nil, err
	}
	look := lookHere
	if deps.Memory.Remote != "" {
		look = lookRemote
	}
	return &site.Watcher{
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
	}, nil
}

// watched runs work with the page beside it, and says on standard error where
// it is. The page goes when the work ends.
func watched(ctx context.Context, env Env, o iterateOptions, work func(context.Context) error) error {
	serving, cancel := context.WithCancel(ctx)
	watcher, err := newWatcher(ctx, env, o, nil)
	if err != nil {
		cancel()
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return fmt.Errorf("serve the page: %w", err)
	}
	fmt.Fprintf(env.Stderr, "watch it at %s\n", watcher.URL(listener.Addr().String()))
	served := make(chan error, 1)
	go func() { served <- watcher.Serve(serving, listener) }()
	err = work(ctx)
	cancel()
	return errors.Join(err, <-served)
}
