package cli

import (
	"context"
	"os"
	"slices"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/setup"
)

// Validate checks program files: those that were named, else all.
func (d *dependencies) Validate(ctx context.Context, files []string) ([]setup.Checked, error) {
	programs, err := d.named(files)
	if err != nil {
		return nil, err
	}
	if d.Repo == nil && len(programs) == 0 {
		return nil, notRepository(d.Root)
	}
	unread := d.goOn(ctx, programs)
	checker, uncommitted := d.checker(ctx)
	list := make([]setup.Checked, len(programs))
	for i, p := range programs {
		list[i] = unread.note(checker.Check(ctx, p))
		if list[i].OK {
			list[i].Warnings = append(list[i].Warnings, uncommitted.Of(p)...)
		}
	}
	return list, nil
}

// checker checks programs in the checkout, of which it says what is not committed.
func (d *dependencies) checker(ctx context.Context) (checker setup.Checker, uncommitted uncommittedWork) {
	if !d.Env.InActions() {
		uncommitted = lookUncommitted(ctx, d.Repo, d.Options.Programs)
	}
	return setup.NewChecker(d.Root, d.GitHub != nil || d.Env.InActions(), d.Unfit), uncommitted
}

// unread says of programs why their states cannot be read.
type unread map[string]string

// goOn lets programs go on as their states on the memory branch say; where the branch
// itself cannot be read, nothing is known of them.
func (d *dependencies) goOn(ctx context.Context, programs []*program.Program) unread {
	why := unread{}
	if d.Repo == nil {
		return why
	}
	source := memory.States{Branch: d.Memory}
	states, failed, err := source.Load(ctx, program.Names(programs))
	if err != nil {
		return why
	}
	for _, p := range programs {
		why[p.Name] = memory.GoOn(p, states)
		if err := failed[p.Name]; err != nil {
			why[p.Name] = program.Problem{
				File:    memory.MemoryBranch + ":" + p.Name + ".md",
				Message: err.Error(),
			}.String()
		}
	}
	return why
}

// note adds why a program's state cannot be read to what was found of it.
func (u unread) note(found setup.Checked) setup.Checked {
	if why := u[found.Name]; why != "" && !found.Unconfigured {
		found.Errors, found.OK = append(found.Errors, why), false
	}
	return found
}

// named are the files that were named, else the repository's.
func (d *dependencies) named(files []string) ([]*program.Program, error) {
	env, source := d.Env, d.Source()
	if len(files) == 0 {
		programs, err := source.Load(false)
		if err != nil {
			return nil, misuse.New(err)
		}
		return programs, nil
	}
	var programs []*program.Program
	for _, file := range files {
		found, err := findProgram(env, source, file)
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(env.Path(file)); err == nil && found == nil {
			found = source.File(env.Path(file)) // which says why it is no program
		}
		if found == nil {
			all, _ := source.Load(false) // else nothing is near
			return nil, misuse.Errorf("%s does not exist%s", file, didYouMean(file, program.Names(all)))
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

// ValidateIssue checks the program that an issue is; nil with the reason when it is
// no program.
func (d *dependencies) ValidateIssue(ctx context.Context, number int) (*checkedIssue, string, error) {
	issue, err := d.GitHub.Issue(ctx, number)
	if err != nil {
		return nil, "", err
	}
	p, stranger, why, err := d.programOf(ctx, issue)
	if p == nil || err != nil {
		return nil, why, err
	}
	var states unread
	if stranger == "" {
		states = d.goOn(ctx, []*program.Program{p})
	}
	checker, _ := d.checker(ctx)
	return &checkedIssue{states.note(checker.Check(ctx, p)), number, stranger}, "", nil
}

// programOf is the program of an issue under the name that it has among the
// others; nil with the reason when the issue is not a program.
func (d *dependencies) programOf(ctx context.Context, issue api.Issue) (p *program.Program, stranger, why string,
	err error,
) {
	switch {
	case issue.Pull:
		return nil, "", "it is a pull request", nil
	case !issue.Open:
		return nil, "", "it is closed", nil
	case !slices.Contains(issue.Labels, sync.ProgramLabel):
		return nil, "", "it has no label " + sync.ProgramLabel, nil
	}
	files, err := d.Source().Load(true)
	if err != nil {
		return nil, "", "", misuse.New(err)
	}
	var states map[string][]byte
	if d.Repo != nil {
		if states, err = d.Memory.States(ctx); err != nil {
			return nil, "", "", err
		}
	}
	found, _, err := schedule.DiscoverIssues(ctx, d.GitHub, sync.ProgramLabel, files, states)
	if err != nil {
		return nil, "", "", err
	}
	for _, known := range found.Programs {
		if known.Issue == issue.Number {
			return known, "", "", nil
		}
	}
	for _, other := range found.Untrusted {
		if other.Issue == issue.Number {
			return program.ParseIssue(issue.Number, issue.Title, []byte(issue.Body)), other.Reason, "", nil
		}
	}
	for name, own := range found.Linked {
		if own == issue.Number {
			return nil, "", "it is the own issue of program " + name, nil
		}
	}
	if len(found.Warnings) > 0 {
		return nil, "", found.Warnings[0], nil
	}
	return nil, "", "GitHub does not list it yet", nil
}
