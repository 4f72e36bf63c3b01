// Package cli is the composition root: it alone reads arguments, environment
// and the time of day, wires the services together, and turns errors into exit
// codes.
package cli

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/org/autoloop/internal/agent/models"
)

// Env is all that a command takes from the process around it, so that tests
// can give it another. Everything below cli gets these as values.
type Env struct {
	// Args are the arguments without the program's own name.
	Args []string
	// Stdin is the input of commands that ask.
	Stdin io.Reader
	// Stdout is for results, Stderr for progress, logs and errors.
	Stdout, Stderr io.Writer
	// Getenv returns the value of an environment variable, "" when unset.
	Getenv func(string) string
	// Environ is the whole environment as NAME=value.
	Environ []string
	// Now tells the time of day.
	Now func() time.Time
	// Sleep waits between attempts to reach GitHub; nil waits really.
	Sleep func(ctx context.Context, d time.Duration) error
	// Executable is the path of this binary, for running it again as its own
	// supervisor; "" when the system does not tell.
	Executable string
	// Dir is the working directory; relative paths in flags are under it.
	Dir string
	// Terminal says that Stdout and Stderr are a person's terminal: live
	// progress may be drawn.
	Terminal bool
	// Complete asks a language model; nil in a binary that asks none.
	Complete Complete
}

// Complete asks a model at an endpoint. Its errors are *models.Error, or the
// context's.
type Complete func(context.Context, models.Endpoint, models.Request) (models.Response, error)

// SystemEnv returns the Env of this process.
func SystemEnv() Env {
	executable, _ := os.Executable()
	dir, _ := os.Getwd()
	return Env{
		Args:       os.Args[1:],
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
		Getenv:     os.Getenv,
		Environ:    os.Environ(),
		Now:        time.Now,
		Executable: executable,
		Dir:        dir,
		Terminal:   isTerminal(os.Stdout) && isTerminal(os.Stderr),
	}
}

// Color says whether output may be coloured: on a terminal, and NO_COLOR is
// unset or empty.
func (e Env) Color() bool {
	return e.Terminal && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// InActions says whether this process runs in GitHub Actions.
func (e Env) InActions() bool { return e.Getenv("GITHUB_ACTIONS") == "true" }

// Paused says whether AUTOLOOP_PAUSED stops everything.
func (e Env) Paused() bool {
	return saysTrue(e.Getenv("AUTOLOOP_PAUSED"))
}

func isTerminal(file *os.File) bool {
	return isatty.IsTerminal(file.Fd()) || isatty.IsCygwinTerminal(file.Fd())
}
