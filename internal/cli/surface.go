package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The groups of commands, in the order of `--help`.
const (
	groupRun     = "Run"
	groupLook    = "Look"
	groupWrite   = "Write programs"
	groupSuites  = "Suites (skills and agent configurations)"
	groupGitHub  = "GitHub"
	groupScripts = "For scripts and workflows"
)

// place is where a command stands in `--help`, and what people mostly do after it.
type place struct{ path, group, next string }

// surface is every command of both binaries, in the order of `--help`: within a
// group the common path comes first. One verb has one meaning everywhere: validate
// checks the form of files, doctor whether something is fit, eval runs a suite,
// compare holds two finished results against each other, and runs nothing.
func surface() []place {
	return []place{
		{"iterate", "", "iterate log PROGRAM"},
		{"iterate demo", groupRun, "iterate init --local"},
		{"iterate apply", groupRun, "iterate log PROGRAM"},
		{"iterate note", groupRun, "iterate --program PROGRAM"},
		{"iterate pause", groupRun, "iterate resume PROGRAM"},
		{"iterate resume", groupRun, "iterate status"},
		{"iterate undo", groupRun, "iterate log PROGRAM"},

		{"iterate status", groupLook, "iterate log PROGRAM"},
		{"iterate log", groupLook, "iterate apply PROGRAM"},
		{"iterate watch", groupLook, "iterate log PROGRAM ITERATION"},
		{"iterate page", groupLook, "iterate log PROGRAM ITERATION"},
		{"iterate doctor", groupLook, "iterate --program PROGRAM"},
		{"iterate agents", groupLook, "iterate --program PROGRAM --agent AGENT"},
		{"iterate explain", groupLook, "iterate doctor"},
		{"iterate replay", groupLook, "iterate log PROGRAM ITERATION"},

		{"iterate init", groupWrite, "iterate doctor"},
		{"iterate new", groupWrite, "iterate validate"},
		{"iterate validate", groupWrite, "iterate doctor --evaluation PROGRAM"},
		{"iterate keys", groupWrite, "iterate new NAME"},

		{"iterate skill", groupSuites, "iterate skill report WORKSPACE"},
		{"iterate skill doctor", groupWrite, "iterate skill eval PATH"},
		{"iterate skill validate", groupWrite, "iterate skill doctor PATH"},
		{"iterate skill eval", groupRun, "iterate skill PATH"},
		{"iterate skill apply", groupRun, "iterate skill undo WORKSPACE"},
		{"iterate skill undo", groupRun, "iterate skill report WORKSPACE"},
		{"iterate skill report", groupLook, "iterate skill apply WORKSPACE"},
		{"iterate skill score", groupScripts, "iterate skill report WORKSPACE"},
		{"iterate tasks", groupSuites, "iterate tasks validate DIR"},
		{"iterate tasks validate", groupWrite, "iterate tasks eval --suite DIR"},
		{"iterate tasks eval", groupRun, "iterate compare BASELINE.json CANDIDATE.json"},
		{"iterate compare", groupSuites, "iterate tasks eval --suite DIR --report DIR"},
		{"iterate shards", groupSuites, "iterate shards merge OUT PART..."},
		{"iterate shards merge", groupScripts, "iterate skill report OUT"},
		{"iterate snapshot", groupSuites, "iterate restore SNAPSHOT DIR"},
		{"iterate restore", groupSuites, "iterate snapshot SRC DST"},

		{"iterate steer", groupGitHub, "iterate log PROGRAM"},

		{"iterate begin", groupScripts, "iterate propose --out DIR"},
		{"iterate propose", groupScripts, "iterate publish DIR"},
		{"iterate publish", groupScripts, "iterate log PROGRAM"},
		{"iterate decide", groupScripts, "iterate replay PROGRAM"},
		{"iterate prune", groupScripts, "iterate status"},
		{"iterate completion", groupScripts, "iterate status"},

		{"scheduler", "", "iterate"},
		{"scheduler status", groupLook, "iterate log PROGRAM"},
		{"scheduler explain", groupLook, "iterate doctor"},
		{"scheduler new", groupWrite, "scheduler validate"},
		{"scheduler validate", groupWrite, "iterate doctor --evaluation PROGRAM"},
		{"scheduler keys", groupWrite, "scheduler new NAME"},
		{"scheduler prune", groupScripts, "scheduler status"},
		{"scheduler completion", groupScripts, "scheduler status"},
	}
}

// placed is where a command stands; false for those of the library.
func placed(cmd *cobra.Command) (place, bool) {
	all := surface()
	at := slices.IndexFunc(all, func(p place) bool { return p.path == cmd.CommandPath() })
	if at < 0 {
		return place{}, false
	}
	return all[at], true
}

// setHelp gives a tree of commands the form of its `--help`.
func setHelp(root *cobra.Command) {
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		fmt.Fprint(cmd.OutOrStderr(), usage(cmd))
		return nil
	})
}

// usage is what follows the description of a command in its `--help`.
func usage(cmd *cobra.Command) string {
	var out strings.Builder
	out.WriteString("Usage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&out, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&out, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&out, "\nExamples:\n%s\n", cmd.Example)
	}
	out.WriteString(commandList(cmd))
	if cmd.HasAvailableLocalFlags() {
		fmt.Fprintf(&out, "\nFlags:\n%s\n", strings.TrimRight(cmd.LocalFlags().FlagUsages(), "\n"))
	}
	if cmd.HasAvailableInheritedFlags() {
		fmt.Fprintf(&out, "\nFlags of all commands:\n%s\n", strings.TrimRight(cmd.InheritedFlags().FlagUsages(), "\n"))
	}
	if here, known := placed(cmd); known {
		fmt.Fprintf(&out, "\nNext: %s\n", here.next)
	}
	return out.String()
}

// commandList is the commands below one, by their groups.
func commandList(cmd *cobra.Command) string {
	var out strings.Builder
	for _, group := range grouped(cmd) {
		fmt.Fprintf(&out, "\n%s:\n", group.title)
		for _, sub := range group.commands {
			fmt.Fprintf(&out, "  %-*s  %s\n", cmd.NamePadding(), sub.Name(), sub.Short)
		}
	}
	return out.String()
}

// group is commands that stand together in `--help`.
type group struct {
	title    string
	commands []*cobra.Command
}

// grouped is the commands below one that people see, in the order of `--help`.
func grouped(cmd *cobra.Command) []group {
	below := cmd.Commands()
	var groups []group
	for _, title := range []string{groupRun, groupLook, groupWrite, groupSuites, groupGitHub, groupScripts} {
		one := group{title: title}
		for _, p := range surface() {
			at := slices.IndexFunc(below, func(sub *cobra.Command) bool { return sub.CommandPath() == p.path })
			if at >= 0 && p.group == title && below[at].IsAvailableCommand() {
				one.commands = append(one.commands, below[at])
			}
		}
		if len(one.commands) > 0 {
			groups = append(groups, one)
		}
	}
	return groups
}
