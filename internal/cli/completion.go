package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/program"
)

// takesProgram matches the use of a command whose first argument is a program.
var takesProgram = lazyregexp.New(`^\S+ \[?(?:PROGRAM\b|PATH…)`)

// addCompletion completes the names of programs, in a command and those below it.
func (a *App) addCompletion(cmd *cobra.Command) {
	programs := func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && !strings.Contains(cmd.Use, "…") || a.look(cmd.Context()) != nil {
			return nil, cobra.ShellCompDirectiveDefault // after a program comes something else
		}
		all, _ := a.source().Load(false)
		return program.Names(all), cobra.ShellCompDirectiveDefault // files too
	}
	if takesProgram().MatchString(cmd.Use) {
		cmd.ValidArgsFunction = programs
	}
	if cmd.LocalFlags().Lookup("program") != nil {
		_ = cmd.RegisterFlagCompletionFunc("program", programs) // its error is a flag that is not there
	}
	for _, sub := range cmd.Commands() {
		a.addCompletion(sub)
	}
}
