// Package cli is the command line: a file holds one command, its flags and one
// call, or one dependency, built once from flags, environment and clock. It alone
// reads the environment and the time of day: everything below gets them as values.
// It turns errors into exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/actions"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/schedule"
)

// The exit codes of both binaries.
const (
	ExitOK     = 0 // the command did its work, whatever was decided
	ExitFailed = 1 // it could not do its work
	ExitMisuse = 2 // it was asked for something that makes no sense
)

// Run executes a command tree with env and returns the exit code. An error is
// printed once, as one line on standard error. Errors that come before a
// command begins its work (unknown flags, commands and arguments) are misuse.
func Run(ctx context.Context, env Env, root *cobra.Command) int {
	begun := false
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		err := cmd.ValidateFlagGroups() // cobra does it after this
		begun = err == nil
		return err
	}
	root.SetArgs(append([]string{}, env.Args...)) // nil would be the arguments of this process
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.CompletionOptions.DisableNoDescFlag = true
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = buildVersion()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !begun {
		if !misuse.Is(err) {
			err = misuse.Errorf("%s (see `%s --help`)", wrongWords(cmd, err), cmd.CommandPath())
		}
	}
	return exitCode(env, root.Name(), err)
}

// wrongWords says what is wrong with the words of a command, and what is right.
func wrongWords(cmd *cobra.Command, err error) string {
	text := plain.Spaced(err.Error())
	if invalid, is := errors.AsType[*pflag.InvalidValueError](err); is {
		flag := invalid.GetFlag()
		why, known := map[string]string{"int": "give a whole number", "bool": "give true or false"}[flag.Value.Type()]
		if !known {
			why = invalid.Unwrap().Error()
		}
		return fmt.Sprintf("--%s %q: %s", flag.Name, invalid.GetValue(), why)
	}
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is || unknown.GetSpecifiedShortnames() != "" {
		return text
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return text + schedule.DidYouMean("--"+unknown.GetSpecifiedName(), names)
}

// Commands are the commands of both binaries, with no default of this machine.
func Commands() []*cobra.Command {
	env := Env{Step: actions.Step{Getenv: func(string) string { return "" }}}
	return []*cobra.Command{(&App{Env: env}).newIterateCommand(), (&App{Env: env}).newSchedulerCommand()}
}

// exitCode prints an error as one line and turns it into an exit code.
func exitCode(env Env, name string, err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errPrinted):
		return ExitFailed
	}
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' })
	fmt.Fprintf(env.Stderr, "%s: %s\n", name, plain.Line(strings.Join(lines, "; ")))
	env.Failed(name, err)
	if misuse.Is(err) {
		return ExitMisuse
	}
	return ExitFailed
}

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
