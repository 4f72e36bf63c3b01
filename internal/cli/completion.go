package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/program"
)

// takesProgram matches the use of a command whose first argument is a program.
var takesProgram = lazyregexp.New(`^\S+ \[?(?:PROGRAM\b|PATH…)`)

// addCompletion completes programs, in a command and those below it.
func addCompletion(cmd *cobra.Command, env Env) {
	programs := func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && !strings.Contains(cmd.Use, "…") {
			return nil, cobra.ShellCompDirectiveDefault // after a program comes something else
		}
		return programNames(cmd, env), cobra.ShellCompDirectiveDefault // files too
	}
	if takesProgram().MatchString(cmd.Use) && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = programs
	}
	if cmd.LocalFlags().Lookup("program") != nil {
		_ = cmd.RegisterFlagCompletionFunc("program", programs) // its error is a flag that is not there
	}
	for _, sub := range cmd.Commands() {
		addCompletion(sub, env)
	}
}

// programNames are the programs of the repository that the flags name.
func programNames(cmd *cobra.Command, env Env) []string {
	flag := func(name string) string {
		if f := cmd.Flags().Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	root, _, err := findCheckout(cmd.Context(), env, flag("repo-dir"))
	if err != nil {
		return nil
	}
	all, err := memory.Programs{Root: root, Dir: flag("programs")}.Load(false)
	if err != nil {
		return nil
	}
	return program.Names(all)
}
