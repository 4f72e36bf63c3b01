package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
)

// historyOptions are the flags of `scheduler prune --history`.
type historyOptions struct {
	program, out, remote string
	keep                 int
	yes, json            bool
}

func (h *historyOptions) flags(flags *pflag.FlagSet) {
	flags.StringVar(&h.program, "history", "", "archive the older part of this program's ledger")
	flags.IntVar(&h.keep, "keep", 1000, "how many of its latest iterations stay, at least")
	flags.StringVar(&h.out, "out", "", "write the archive to this file (default: NAME-FIRST-LAST.jsonl here, by its segments)")
}

func pruneHistory(ctx context.Context, env Env, o schedulerOptions, h historyOptions) error {
	if h.keep < 1 {
		return misuse.Errorf("--keep %d: give at least one", h.keep)
	}
	deps, err := app.Open(ctx, env, app.Options{GitHub: o.GitHub, RepoDir: o.RepoDir, Programs: o.Programs, Program: h.program, Remote: h.remote})
	if err != nil {
		return err
	}
	name := deps.NameOf(h.program)
	found, err := deps.Memory.FindArchivable(ctx, name, h.keep)
	if errors.Is(err, memory.ErrNoRecords) {
		return noHistory(ctx, deps, name)
	}
	if err != nil {
		return fmt.Errorf("read the history of %s: %w", name, err)
	}
	if h.json {
		if err := printJSON(env, found); err != nil {
			return err
		}
	}
	if found == nil {
		if !h.json {
			fmt.Fprintf(env.Stdout, "%s: nothing to archive: no sealed segment is older than the latest %d iterations\n", name, h.keep)
		}
		return nil
	}
	file := env.Path(h.out)
	if h.out == "" {
		file = env.Path(found.FileName())
	}
	if !h.json {
		fmt.Fprint(env.Stdout, describeArchiving(found, file))
	}
	if !h.yes {
		if h.json {
			return nil
		}
		if agreed, err := ask(ctx, env, "archive them? [y/n] "); err != nil || !agreed {
			return err
		}
	}
	if err := deps.Memory.Archive(ctx, found, file); err != nil {
		return err
	}
	if !h.json {
		fmt.Fprintf(env.Stdout, "written: %s\n`iterate replay %s --archive %s` verifies it\n", file, name, filepath.Base(file))
	}
	return nil
}

// describeArchiving says what goes, where to, and what stays.
func describeArchiving(a *memory.Archiving, file string) string {
	return fmt.Sprintf("%s: iterations %d to %d (up to %s) go to %s\n  %d lines of the ledger, %.1f MB, segments %d to %d; what they add up to stays\n  the latest %d iterations stay\n",
		a.Program, a.FirstIteration, a.LastIteration, a.Until.UTC().Format("2006-01-02"), file, a.Lines, float64(a.Bytes)/1e6, a.First, a.Last, a.Left)
}
