package cli

import (
	"context"
	"os"
	"slices"

	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/setup"
)

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
		checked := setup.Check(p, files, a.refused(ctx, p, files))
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
		if err != nil {
			return nil, misuse.New(err)
		}
		return programs, nil
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
			return &checkedIssue{setup.Check(p, files, a.refused(ctx, p, files)), number, other.Reason}, "", nil
		}
	}
	for name, own := range found.Linked {
		if own == number {
			return nil, "it is the own issue of program " + name, nil
		}
	}
	return nil, append(found.Warnings, "GitHub does not list it yet")[0], nil
}
