package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/org/autoloop/internal/command"
)

// Main runs a binary: the work of a supervisor when this process was started
// as one, else the command, ended by an interrupt.
func Main(work func(context.Context, Env) int) int {
	if handled, code := command.Supervise(os.Args); handled {
		return code
	}
	command.Conceal()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return work(ctx, SystemEnv())
}
