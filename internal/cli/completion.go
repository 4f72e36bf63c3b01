package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

// takesProgram matches the use of a command whose first argument is a program.
var takesProgram = lazyregexp.New(`^\S+ \[?(?:PROGRAM|FILES)\b`)

// newCompletionCommand prints what a shell needs to complete the commands of a binary.
func newCompletionCommand(env Env, root *cobra.Command) *cobra.Command {
	shells := map[string]func(out io.Writer, described bool) error{
		"bash": root.GenBashCompletionV2,
		"fish": root.GenFishCompletion,
		"zsh": func(out io.Writer, described bool) error {
			if described {
				return root.GenZshCompletion(out)
			}
			return root.GenZshCompletionNoDesc(out)
		},
		"powershell": func(out io.Writer, described bool) error {
			if described {
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return root.GenPowerShellCompletion(out)
		},
	}
	names := slices.Sorted(maps.Keys(shells))
	var bare bool
	cmd := &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes commands, programs and flags in a shell",
		Long: "Print a script for " + strings.Join(names, ", ") + ". A release has these scripts, and manual pages, below share/.\n" +
			"The one for bash needs the package bash-completion.",
		Example: fmt.Sprintf("  %[1]s completion bash > ~/.local/share/bash-completion/completions/%[1]s\n  %[1]s completion zsh > \"${fpath[1]}/_%[1]s\"\n"+
			"  %[1]s completion fish > ~/.config/fish/completions/%[1]s.fish", root.Name()),
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			write, known := shells[args[0]]
			if !known {
				return misuse.Errorf("%q is no shell that can be completed; give one of %s", args[0], strings.Join(names, ", "))
			}
			return write(env.Stdout, !bare)
		},
	}
	cmd.Flags().BoolVar(&bare, "no-descriptions", false, "complete without saying what is offered")
	return cmd
}

// addCompletion completes programs, agents and the values of flags that have a
// fixed list, in a command and those below it.
func addCompletion(cmd *cobra.Command, env Env) {
	programs := func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return programNames(cmd, env), cobra.ShellCompDirectiveDefault // files too
	}
	if takesProgram().MatchString(cmd.Use) && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && strings.HasPrefix(strings.TrimPrefix(cmd.Use, cmd.Name()+" "), "PROGRAM") {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return programs(cmd, args, typed)
		}
	}
	values := map[string]func() []string{
		"agent":    func() []string { return app.NewRegistry(env, env.NewRunner(), process.Masker{}).Names() },
		"fail-on":  func() []string { return []string{"error"} },
		"kind":     setup.Kinds,
		"fit":      setup.Kinds,
		"judge":    func() []string { return []string{"auto", "api", "cli", "off"} },
		"executor": func() []string { return app.NewRegistry(env, env.NewRunner(), process.Masker{}).Names() },
	}
	for name, list := range values {
		if cmd.LocalFlags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return list(), cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
	for _, name := range []string{"program", "evaluation"} {
		if cmd.LocalFlags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, programs) // its error is a flag that is not there
		}
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
	root, _, err := app.Scheduling{Options: app.Options{RepoDir: flag("repo-dir")}}.Root(cmd.Context(), env)
	if err != nil {
		return nil
	}
	all, err := memory.Programs{Root: root, Dir: flag("programs"), Parse: program.ParseHead}.Load(false)
	if err != nil {
		return nil
	}
	return program.Names(all)
}

// badNumber matches what the flags' library says of a value that is no number.
var badNumber = lazyregexp.New(`^invalid argument "(.*)" for "([^"]+)" flag: (strconv\.Parse(?:Int|Uint|Float|Bool)|time):? (.*)$`)

// plainFlagError is an error about a flag's value in our words; "" when it is
// about something else.
func plainFlagError(text string) string {
	found := badNumber().FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	flags := strings.Split(found[2], ", ")
	slices.Reverse(flags) // the long one first
	kind := map[string]string{
		"strconv.ParseInt": "give a whole number", "strconv.ParseUint": "give a whole number of 0 or more", "strconv.ParseFloat": "give a number such as 0.5",
		"strconv.ParseBool": "give true or false, or leave the value out", "time": "give a time such as 90s or 10m",
	}[found[3]]
	if strings.HasSuffix(found[4], "value out of range") {
		kind = "the number is too large"
	}
	return flags[0] + " " + found[1] + ": " + kind
}
