package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
)

func newValidateCommand(env Env, o *schedulerOptions) *cobra.Command {
	var asJSON, comment bool
	var issue int
	cmd := &cobra.Command{
		Use:   "validate [FILES… | --issue NUMBER]",
		Short: "Check program files, or a program that is an issue",
		Long: "Check program files, all of the repository's or those named, and say what each will do.\n" +
			"The exit code is 1 when any of them has errors.\n\n" +
			"With --issue the program is an issue on GitHub. With --comment the answer is a comment there too, which\n" +
			"later checks edit, and the exit code is 0 whatever it says; in Actions the issue is that of the event.",
		Example: "  scheduler validate\n  scheduler validate .autoloop/programs/speed.md --json\n  scheduler validate --issue 12 --comment",
		RunE: func(cmd *cobra.Command, args []string) error {
			if comment && issue == 0 {
				issue = env.Actions().EventIssue()
			}
			switch {
			case issue > 0 && len(args) > 0:
				return misuse.Errorf("--issue and files exclude each other")
			case issue > 0:
				return validateIssue(cmd.Context(), env, *o, issue, comment, asJSON)
			case comment || issue < 0:
				return misuse.Errorf("say which issue: --issue NUMBER")
			}
			return validate(cmd.Context(), env, *o, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array, or with --issue an object")
	cmd.Flags().IntVar(&issue, "issue", 0, "the `NUMBER` of the issue that is the program")
	cmd.Flags().BoolVar(&comment, "comment", false, "say it on the issue too")
	return cmd
}

func validate(ctx context.Context, env Env, o schedulerOptions, files []string, asJSON bool) error {
	list, err := o.Validate(ctx, env, files)
	if err != nil {
		return err
	}
	bad := false
	var text strings.Builder
	for _, checked := range list {
		text.WriteString(checked.String())
		bad = bad || len(checked.Errors) > 0
	}
	switch {
	case asJSON:
		err = printJSON(env, list)
	case len(list) == 0:
		_, err = fmt.Fprintln(env.Stdout, "no programs: make one with `scheduler new NAME`")
	default:
		_, err = fmt.Fprint(env.Stdout, text.String())
	}
	return verdict(err, bad)
}

// validateIssue checks the program that an issue is and, when asked, says on
// the issue what it found. The author is told, so that a program with errors is no
// failure of the command then.
func validateIssue(ctx context.Context, env Env, o schedulerOptions, number int, comment, asJSON bool) error {
	hub, err := o.Client(env)
	if err != nil {
		return err
	}
	if hub == nil {
		return misuse.Errorf("issue #%d cannot be read without GitHub: give --repo and a token in GITHUB_TOKEN", number)
	}
	checked, why, err := o.ValidateIssue(ctx, env, hub, number)
	if err != nil {
		return err
	}
	if checked == nil {
		fmt.Fprintf(env.Stdout, "issue #%d is not checked: %s\n", number, why)
		return nil
	}
	if asJSON {
		err = printJSON(env, checked)
	} else {
		fmt.Fprint(env.Stdout, checked)
		if checked.Untrusted != "" {
			fmt.Fprintf(env.Stdout, "  untrusted: %s\n", checked.Untrusted)
		}
	}
	switch {
	case err != nil:
		return err
	case comment:
		return sync.SayCheck(ctx, hub, number, render.Check(checked.Name, checked.String(), checked.Untrusted, checked.OK))
	case len(checked.Errors) > 0 || checked.Untrusted != "":
		return &ExitError{Code: ExitFailed}
	}
	return nil
}
