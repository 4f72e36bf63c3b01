// Package cli is the command line: a file holds one command, its flags and one
// call. It turns errors into exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/program"
)

// The exit codes of both binaries.
const (
	ExitOK     = 0 // the command did its work, whatever was decided
	ExitFailed = 1 // it could not do its work
	ExitMisuse = 2 // it was asked for something that makes no sense
)

// Env is all that a command takes from the process around it.
type Env = app.Env

// ExitError ends the command with a code of its own. With a nil Err nothing
// more is printed: the command has said what it had to say.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the message, or names the code without one.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the error behind the code, or nil.
func (e *ExitError) Unwrap() error { return e.Err }

// Run executes a command tree with env and returns the exit code. An error is
// printed once, as one line on standard error. Errors that come before a
// command begins its work (unknown flags, commands and arguments) are misuse.
func Run(ctx context.Context, env Env, root *cobra.Command) int {
	begun := false
	prepare(root, &begun)
	addCompletion(root, env)
	root.SetArgs(append([]string{}, env.Args...)) // nil would be the arguments of this process
	setHelp(root)
	root.SuggestionsMinimumDistance = 2
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.Version = app.Version()
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	err := root.ExecuteContext(ctx)
	if err != nil && !begun {
		err = misuseOf(err, root, env)
	}
	return exitCode(env, root.Name(), err)
}

// prepare marks the moment at which a command begins its work.
func prepare(cmd *cobra.Command, begun *bool) {
	if work := cmd.RunE; work != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			*begun = true
			return work(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		prepare(sub, begun)
	}
}

// misuseOf makes an error that came before a command began the caller's mistake,
// with the command that was probably meant.
func misuseOf(err error, root *cobra.Command, env Env) error {
	if _, is := errors.AsType[*misuse.Error](err); is {
		return err
	}
	text, more, found := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	if found {
		text += "; " + strings.Join(strings.Fields(more), " ")
	}
	if meant := meantCommand(root, env); meant != "" && strings.HasPrefix(text, "unknown command") {
		return misuse.Errorf("%s; did you mean `%s`?", text, meant)
	}
	if plain := plainFlagError(text); plain != "" {
		text = plain
	}
	cmd, _, err := root.Find(env.Args)
	if err != nil {
		cmd = root
	}
	if wrongCount.MatchString(text) {
		use := strings.TrimSuffix(cmd.CommandPath(), cmd.Name()) + cmd.Use
		text = fmt.Sprintf("a word is missing, or there is one too many: write `%s`", use)
	}
	return misuse.Errorf("%s (see `%s --help`)", text, cmd.CommandPath())
}

// wrongCount matches what cobra says of too few or too many arguments.
var wrongCount = regexp.MustCompile(`^(?:accepts|requires) .*arg\(s\)`)

// meantCommand is the command that the first word probably stands for: one of
// either binary, a run of the program of that name, or one that is spelled alike,
// or "".
func meantCommand(root *cobra.Command, env Env) string {
	if len(env.Args) == 0 {
		return ""
	}
	word := env.Args[0]
	if group, _, err := root.Find(env.Args[:1]); err == nil && group != root && len(env.Args) > 1 {
		if alike := group.SuggestionsFor(env.Args[1]); len(alike) > 0 {
			return group.CommandPath() + " " + alike[0]
		}
		return ""
	}
	elsewhere := map[string]map[string]string{
		"iterate": {
			"run": "iterate --program NAME", "start": "iterate --program NAME",
		},
		"scheduler": {"run": "iterate --program NAME", "iterate": "iterate --program NAME"},
	}[root.Name()]
	if root.Name() == "scheduler" {
		for _, name := range []string{"agents", "apply", "demo", "doctor", "init", "log", "note", "page", "pause", "replay", "resume", "skill", "tasks", "undo", "watch"} {
			elsewhere[name] = "iterate " + name
		}
	}
	if meant, found := elsewhere[word]; found {
		return meant
	}
	for _, file := range []string{word + ".md", filepath.Join(word, "program.md")} {
		if program.ValidName(word) != nil {
			break
		}
		if info, err := os.Stat(filepath.Join(env.Dir, filepath.FromSlash(memory.DefaultPrograms), file)); err == nil && info.Mode().IsRegular() {
			return "iterate --program " + word
		}
	}
	if alike := root.SuggestionsFor(word); len(alike) > 0 {
		return root.Name() + " " + alike[0]
	}
	return ""
}

// exitCode prints an error as one line and turns it into an exit code.
func exitCode(env Env, name string, err error) int {
	if err == nil {
		return ExitOK
	}
	var exit *ExitError
	if errors.As(err, &exit) && exit.Err == nil {
		return exit.Code
	}
	fmt.Fprintf(env.Stderr, "%s: %s\n", name, oneLine(err.Error()))
	env.Actions().Failed(name, err)
	var usage *misuse.Error
	switch {
	case exit != nil:
		return exit.Code
	case errors.As(err, &usage):
		return ExitMisuse
	default:
		return ExitFailed
	}
}

func oneLine(text string) string {
	return plain.Line(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}
