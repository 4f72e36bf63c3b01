package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
)

// Manual writes what a release has beside its binaries, laid out as below
// /usr/local: a manual page for each command that `--help` lists, and completions
// for four shells.
func Manual(ctx context.Context, env Env) int {
	return Run(ctx, env, &cobra.Command{
		Use:     "manual DIR VERSION DATE",
		Short:   "Write manual pages and shell completions of both binaries below DIR/share",
		Example: "  manual . 1.2.3 2026-01-02T15:04:05Z",
		Args:    cobra.ExactArgs(3),
		RunE: func(_ *cobra.Command, args []string) error {
			made, err := time.Parse(time.RFC3339, args[2])
			if err != nil {
				return misuse.Errorf("%q is no date such as 2026-01-02T15:04:05Z", args[2])
			}
			for name, text := range manual(args[1], made.UTC().Format(time.DateOnly)) {
				file := filepath.Join(env.Path(args[0]), "share", filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					return err
				}
				if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // everybody reads a manual
					return err
				}
			}
			return nil
		},
	})
}

// manual is the files below share, by their paths.
func manual(version, date string) map[string][]byte {
	files := map[string][]byte{}
	plain := Env{Getenv: func(string) string { return "" }} // no default is this machine's
	for _, root := range []*cobra.Command{newIterateCommand(plain), newSchedulerCommand(plain)} {
		name := root.Name()
		root.Version = version
		root.InitDefaultVersionFlag()
		visible(root, func(cmd *cobra.Command) {
			cmd.InitDefaultHelpFlag()
			files["man/man1/"+pageName(cmd)+".1"] = []byte(manualPage(cmd, version, date))
		})
		var bash, zsh, fish, power bytes.Buffer
		_ = root.GenBashCompletionV2(&bash, true) // a buffer takes everything
		_ = root.GenZshCompletion(&zsh)
		_ = root.GenFishCompletion(&fish, true)
		_ = root.GenPowerShellCompletionWithDesc(&power)
		files["bash-completion/completions/"+name] = bash.Bytes()
		files["zsh/site-functions/_"+name] = zsh.Bytes()
		files["fish/vendor_completions.d/"+name+".fish"] = fish.Bytes()
		files["powershell/"+name+".ps1"] = power.Bytes()
	}
	return files
}

// visible visits a command and those below it that `--help` lists.
func visible(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			visible(sub, visit)
		}
	}
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manualPage is a command's `--help` in the macros of man(7).
func manualPage(cmd *cobra.Command, version, date string) string {
	var out strings.Builder
	fmt.Fprintf(&out, ".TH \"%s\" 1 %s \"autoloop %s\" Autoloop\n", strings.ToUpper(pageName(cmd)), date, version)
	fmt.Fprintf(&out, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	out.WriteString(".SH SYNOPSIS\n")
	if cmd.Runnable() {
		out.WriteString(bold(cmd.CommandPath()) + roff(strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())) + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		if cmd.Runnable() {
			out.WriteString(".br\n")
		}
		out.WriteString(bold(cmd.CommandPath()) + " COMMAND\n")
	}
	if cmd.Long != "" {
		out.WriteString(".SH DESCRIPTION\n" + paragraphs(cmd.Long))
	}
	for _, group := range grouped(cmd) {
		fmt.Fprintf(&out, ".SH COMMANDS: %s\n", roff(strings.ToUpper(group.title)))
		for _, sub := range group.commands {
			fmt.Fprintf(&out, ".TP\n%s\n%s\n", bold(sub.Name()), roff(sub.Short))
		}
	}
	flags := func(title string, set *pflag.FlagSet) {
		if set.HasAvailableFlags() {
			out.WriteString(".SH " + title + "\n")
		}
		set.VisitAll(func(flag *pflag.Flag) {
			if !flag.Hidden {
				out.WriteString(flagEntry(flag))
			}
		})
	}
	flags("OPTIONS", cmd.LocalFlags())
	flags("OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.HasExample() {
		out.WriteString(".SH EXAMPLES\n" + verbatim(strings.Split(cmd.Example, "\n")))
	}
	if !cmd.HasParent() {
		out.WriteString(".SH ENVIRONMENT\n")
		for _, group := range variables() {
			out.WriteString(".SS " + roff(group.title) + "\n")
			for _, one := range group.list {
				out.WriteString(".TP\n" + bold(one.name) + "\n" + roff(one.meaning) + "\n")
			}
		}
	}
	if here, known := placed(cmd); known {
		out.WriteString(".SH NEXT\n" + verbatim([]string{here.next}))
	}
	if related := related(cmd); len(related) > 0 {
		out.WriteString(".SH SEE ALSO\n" + strings.Join(related, ",\n") + "\n")
	}
	return out.String()
}

// related are the pages above and below a command's.
func related(cmd *cobra.Command) []string {
	var pages []string
	add := func(cmd *cobra.Command) { pages = append(pages, bold(pageName(cmd))+"(1)") }
	if cmd.HasParent() {
		add(cmd.Parent())
	}
	for _, group := range grouped(cmd) {
		for _, sub := range group.commands {
			add(sub)
		}
	}
	return pages
}

func flagEntry(flag *pflag.Flag) string {
	names := bold("--" + flag.Name)
	if flag.Shorthand != "" {
		names = bold("-"+flag.Shorthand) + ", " + names
	}
	value, text := pflag.UnquoteUsage(flag)
	if value != "" {
		names += " \\fI" + roff(value) + "\\fR"
	}
	if standard := flag.DefValue; standard != "" && standard != "false" && standard != "0" && standard != "[]" && standard != "0s" {
		text += " (default " + standard + ")"
	}
	return ".TP\n" + names + "\n" + roff(strings.ReplaceAll(text, "\n", " ")) + "\n"
}

// paragraphs fills the text of a description; what is indented stays as it is.
func paragraphs(text string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		out.WriteString(".PP\n")
		if strings.HasPrefix(part, " ") || strings.HasPrefix(part, "\t") {
			out.WriteString(verbatim(strings.Split(strings.ReplaceAll(part, "\t", "  "), "\n")))
			continue
		}
		for line := range strings.SplitSeq(part, "\n") {
			out.WriteString(roff(line) + "\n")
		}
	}
	return strings.Replace(out.String(), ".PP\n", "", 1) // a section begins with one
}

// verbatim are lines that are not filled, indented.
func verbatim(lines []string) string {
	out := ".RS 2\n.nf\n"
	for _, line := range lines {
		out += escaped(strings.TrimPrefix(line, "  ")) + "\n"
	}
	return out + ".fi\n.RE\n"
}

// code is what stands between backticks.
var code = lazyregexp.New("`([^`]+)`")

// roff is a line of text in roff, with bold instead of backticks.
func roff(line string) string { return code().ReplaceAllString(escaped(line), `\fB$1\fR`) }

func bold(text string) string { return `\fB` + escaped(text) + `\fR` }

// escaped has nothing in it that roff takes for its own.
func escaped(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`, "'", `\(aq`, `"`, `\(dq`).Replace(line)
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
