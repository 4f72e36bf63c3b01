package cli

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/org/autoloop/internal/process"
)

// Main runs a binary: the work of a supervisor when this process was started
// as one, else the command. An interrupt, a hangup and a standard output that nobody reads
// any more end it: it cleans up behind itself.
func Main(work func(context.Context, Env) int) int {
	if handled, code := process.Supervise(os.Args); handled {
		return code
	}
	process.Conceal()
	debug.SetGCPercent(400) // a run is short, and in a large repository a tenth of it would go into collecting
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGQUIT)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	whenUnread(os.Stdout, cancel)
	return work(ctx, systemEnv())
}
