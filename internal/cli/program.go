package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/program/checkout"
	"github.com/org/autoloop/internal/schedule"
)

// selected finds the program that was asked for, or that the scheduler selected;
// nil when it selected none.
func (a *App) selected(ctx context.Context) (p *program.Program, err error) {
	name := a.Program
	a.issue = nil
	if name == "" {
		dir, err := a.outputDir()
		if err != nil {
			return nil, err
		}
		names, err := schedule.ReadPlan(filepath.Join(dir, schedule.PlanFile), a.Checkout)
		if err != nil || len(names) == 0 {
			return nil, err
		}
		name = names[0]
	}
	p, err = a.source().Find(name)
	if err == nil && p == nil && a.GitHub != nil {
		p, err = a.issueProgram(ctx, name)
	}
	if err == nil && p == nil {
		err = a.noProgram(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	if workflow := a.CIWorkflow; workflow != "" {
		if !workflowFile().MatchString(workflow) {
			return nil, misuse.Errorf("--ci-workflow %q is no file name of a workflow, such as ci.yml", workflow)
		}
		p.CIWorkflow = workflow
	}
	p.AgentCommand = cmp.Or(a.AgentCommand, p.AgentCommand)
	return p, a.runnable(ctx, p)
}

// noProgram is the error of a name that no program has.
func (a *App) noProgram(ctx context.Context, name string) error {
	all, err := a.source().Load(false)
	if err != nil {
		return err
	}
	if meant := a.meant(ctx, name); meant != "" {
		return misuse.Errorf("there is no program %q%s", name, meant)
	}
	cure := fmt.Sprintf("make one with `iterate init %s`", name)
	if states, err := a.Memory.States(ctx); err == nil && states[name] != nil {
		cure = "it has records: put back its file, or its open issue with the label " + sync.ProgramLabel
	}
	return misuse.Errorf("there is no program %q (there are: %s); %s", name,
		cmp.Or(strings.Join(program.Names(all), ", "), "none"), cure)
}

// workflowFile matches what GitHub takes for a workflow in .github/workflows.
var workflowFile = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]*\.ya?ml$`)

// source is where the repository's program files are.
func (a *App) source() checkout.Programs {
	return checkout.Programs{Root: a.Checkout, Dir: a.Programs}
}

// runnable reports why a program cannot be iterated, in the files of the commit
// that is checked out. What text and frontmatter say about the direction is
// settled by the state, which the loop reads; the gate by GateRefusal.
func (a *App) runnable(ctx context.Context, p *program.Program) error {
	files, err := a.trackedFiles(ctx)
	if err != nil {
		return err
	}
	return p.Runnable(a.refused(ctx, p, files, true))
}

// trackedFiles lists the files of the commit that is checked out, sorted as git does.
func (a *App) trackedFiles(ctx context.Context) ([]string, error) {
	head, err := a.Repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := a.Repo.LsTree(ctx, head)
	if err != nil {
		return nil, err
	}
	files := make([]string, len(entries))
	for i, entry := range entries {
		files[i] = entry.Path
	}
	return files, nil
}

// discover finds the programs that are open issues with a label.
func (a *App) discover(ctx context.Context, label string) (found schedule.Discovery, err error) {
	files, err := a.source().Load(true)
	if err != nil {
		return found, misuse.New(err)
	}
	var states map[string][]byte
	if a.Repo != nil {
		if states, err = a.Memory.States(ctx); err != nil {
			return found, err
		}
	}
	return schedule.DiscoverIssues(ctx, a.GitHub, label, files, states)
}

// issueProgram finds a program that is an issue, by the name that discovery
// gives it, or nil. Its author is checked again.
func (a *App) issueProgram(ctx context.Context, name string) (*program.Program, error) {
	for _, label := range []string{sync.ProgramLabel, sync.CompletedLabel} {
		found, err := a.discover(ctx, label)
		if err == nil && found.Unread != "" {
			err = fmt.Errorf("there is no program %q among the files; %s", name, found.Unread)
		}
		if err != nil {
			return nil, err
		}
		for _, p := range found.Programs {
			if p.Name == name {
				a.issue = &found.Issues[slices.IndexFunc(found.Issues, func(i api.Issue) bool { return i.Number == p.Issue })]
				return p, nil
			}
		}
		for _, stranger := range found.Untrusted {
			if stranger.Name == name {
				return nil, misuse.Errorf("issue #%d is not run: %s", stranger.Issue, stranger.Reason)
			}
		}
	}
	return nil, nil
}

// programOfIssue is the name of the program whose issue or pull request has a
// number; "" when it belongs to no program.
func (a *App) programOfIssue(ctx context.Context, number int) (string, error) {
	states, err := a.Memory.States(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if machine, _, err := state.ParseMachine(states[name]); err == nil &&
			(machine.Issue == number || machine.PR == number) {
			return name, nil
		}
	}
	found, err := a.discover(ctx, sync.ProgramLabel)
	if err != nil {
		return "", err
	}
	for _, p := range found.Programs {
		if p.Issue == number {
			return p.Name, nil
		}
	}
	for name, issue := range found.Linked {
		if issue == number {
			return name, nil
		}
	}
	return "", nil
}
