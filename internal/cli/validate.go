package cli

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/setup"
)

func (a *App) newValidateCommand() *cobra.Command {
	var comment, keys bool
	var issue int
	cmd := &cobra.Command{
		Use:   "validate [PATH… | --issue NUMBER | --keys]",
		Short: "Check program files, a program that is an issue, or a suite",
		Long: `Check program files, all of the repository's or those named, and say what each will do; of the
directory of a skill or of tasks, its suite. All that is wrong is said at once. Nothing is run.

With --issue the program is an issue on GitHub. With --comment the answer is a comment there too,
which later checks edit, and the exit code is 0 whatever it says.

With --keys list the keys of a program file: type, default, meaning, and whether another value begins
a new baseline.`,
		Example: "  iterate validate\n  iterate validate .autoloop/programs/speed.md --json\n" +
			"  iterate validate skills/release-notes\n  iterate validate --issue 12 --comment\n" +
			"  iterate validate --keys",
		RunE: func(cmd *cobra.Command, args []string) error {
			if comment && issue == 0 {
				issue = a.EventIssue()
			}
			switch {
			case keys:
				return a.printKeys()
			case len(args) == 1 && a.isSuite(cmd.Context(), args[0]):
				return a.validateSuite(cmd.Context(), args[0])
			case issue > 0 && len(args) > 0:
				return misuse.Errorf("--issue and files exclude each other")
			case issue > 0:
				return a.validateIssue(cmd.Context(), issue, comment)
			case comment || issue < 0:
				return misuse.Errorf("say which issue: --issue NUMBER")
			}
			return a.validate(cmd.Context(), args)
		},
	}
	a.jsonFlag(cmd)
	cmd.Flags().IntVar(&issue, "issue", 0, "the `NUMBER` of the issue that is the program")
	cmd.Flags().BoolVar(&comment, "comment", false, "say it on the issue too")
	cmd.Flags().BoolVar(&keys, "keys", false, "list the keys of a program file")
	a.githubFlags(cmd)
	cmd.MarkFlagsMutuallyExclusive("keys", "issue")
	cmd.MarkFlagsMutuallyExclusive("keys", "comment")
	return cmd
}

// validate checks program files: those that were named, else all.
func (a *App) validate(ctx context.Context, files []string) error {
	if err := a.look(ctx); err != nil {
		return err
	}
	programs, err := a.named(files)
	if err != nil {
		return err
	}
	text, bad := "", false
	if len(programs) == 0 {
		if text = "no programs: make one with `iterate init NAME`\n"; a.Repo == nil {
			return a.notRepository()
		}
	}
	list, uncommitted := a.check(ctx, programs...), a.uncommitted(ctx)
	for i, p := range programs {
		if list[i].OK {
			list[i].Warnings = append(list[i].Warnings, uncommitted.Of(p)...)
		}
		text += list[i].String()
		bad = bad || len(list[i].Errors) > 0
	}
	return verdict(a.print(list, text), bad)
}

// validateIssue checks the program that an issue is and, when asked, says on
// the issue what it found. The author is told, so that a program with errors is no
// failure of the command then.
func (a *App) validateIssue(ctx context.Context, number int, comment bool) error {
	if err := a.look(ctx); err != nil {
		return err
	}
	if a.GitHub == nil {
		return misuse.Errorf("issue #%d cannot be read without GitHub: give --repo and a token in GITHUB_TOKEN", number)
	}
	checked, why, err := a.checkIssue(ctx, number)
	if err != nil {
		return err
	}
	if checked == nil {
		fmt.Fprintf(a.Stdout, "issue #%d is not checked: %s\n", number, why)
		return nil
	}
	text := checked.String()
	if checked.Untrusted != "" {
		text += fmt.Sprintf("  untrusted: %s\n", checked.Untrusted)
	}
	if err := a.print(checked, text); err != nil || !comment {
		return verdict(err, len(checked.Errors) > 0 || checked.Untrusted != "")
	}
	return sync.SayCheck(ctx, a.GitHub, number,
		render.Check(checked.Name, checked.String(), checked.Untrusted, checked.OK))
}

// link is a link of the reference page; on a terminal its text is enough.
var link = lazyregexp.New(`\[([^\]]+)\]\([^)]+\)`)

// keyInfo is one key in `iterate validate --keys --json`.
type keyInfo struct {
	program.Key

	ChangesNumber bool `json:"changes_number"`
}

// printKeys lists the keys of a program file.
func (a *App) printKeys() error {
	var list []keyInfo
	table := render.Table{Header: []string{"key", "type", "default", "new baseline", "meaning"}}
	for _, key := range program.Keys() {
		key.Default, key.Help = link().ReplaceAllString(key.Default, "$1"), link().ReplaceAllString(key.Help, "$1")
		list = append(list, keyInfo{key, key.ChangesNumber()})
		changes := ""
		if key.ChangesNumber() {
			changes = "yes"
		}
		table.Rows = append(table.Rows, []string{key.Name, key.Type, key.Default, changes, key.Help})
	}
	return a.print(list, table)
}

// check checks programs, which go on as their states on the memory branch say; where the
// branch itself cannot be read, nothing is known of them.
func (a *App) check(ctx context.Context, programs ...*program.Program) []setup.Checked {
	var states memory.States
	if a.Repo != nil {
		states.Branch = a.Memory
		_ = states.Load(ctx)
	}
	in := schedule.Input{States: states.Texts, Unreadable: states.Failed, Branch: memory.MemoryBranch}
	files, list := setup.WorkingFiles(a.Checkout), []setup.Checked{}
	for _, p := range programs {
		standing := in.Read(p)
		checked := setup.Check(p, files, a.refused(ctx, p, files, a.gated()))
		for _, problem := range standing.Problems {
			if !checked.Unconfigured {
				checked.Errors, checked.OK = append(checked.Errors, problem.String()), false
			}
		}
		list = append(list, checked)
	}
	return list
}

// named are the files that were named, else the repository's.
func (a *App) named(files []string) ([]*program.Program, error) {
	if len(files) == 0 {
		programs, err := a.source().Load(false)
		return programs, misuse.New(err)
	}
	var programs []*program.Program
	for _, file := range files {
		found, err := a.findProgram(file)
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(a.Path(file)); err == nil && found == nil {
			found = a.source().File(a.Path(file)) // which says why it is no program
		}
		if found == nil {
			all, _ := a.source().Load(false) // else nothing is near
			return nil, misuse.Errorf("%s does not exist%s", file, schedule.DidYouMean(file, program.Names(all)))
		}
		programs = append(programs, found)
	}
	return programs, nil
}

// checkedIssue is what was found of a program that is an issue.
type checkedIssue struct {
	setup.Checked
	Issue int `json:"issue"`
	// Untrusted says why the author's programs are not run; "" when they are.
	Untrusted string `json:"untrusted,omitempty"`
}

// checkIssue checks the program that an issue is; nil with the reason when it is
// no program.
func (a *App) checkIssue(ctx context.Context, number int) (*checkedIssue, string, error) {
	issue, err := a.GitHub.Issue(ctx, number)
	if err != nil {
		return nil, "", err
	}
	if issue.Pull || !issue.Open || !slices.Contains(issue.Labels, sync.ProgramLabel) {
		return nil, "it is no open issue with the label " + sync.ProgramLabel, nil
	}
	found, err := a.discover(ctx, sync.ProgramLabel)
	if err != nil {
		return nil, "", err
	}
	for _, p := range found.Programs {
		if p.Issue == number {
			return &checkedIssue{Checked: a.check(ctx, p)[0], Issue: number}, "", nil
		}
	}
	for _, other := range found.Untrusted {
		if other.Issue == number { // no state is its own, whatever its name
			p := program.ParseIssue(number, issue.Title, []byte(issue.Body))
			files := setup.WorkingFiles(a.Checkout)
			return &checkedIssue{setup.Check(p, files, a.refused(ctx, p, files, a.gated())), number, other.Reason}, "", nil
		}
	}
	for name, own := range found.Linked {
		if own == number {
			return nil, "it is the own issue of program " + name, nil
		}
	}
	return nil, append(found.Warnings, "GitHub does not list it yet")[0], nil
}
