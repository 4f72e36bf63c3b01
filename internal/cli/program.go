package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// Program finds the program that was asked for, or that the scheduler selected;
// nil when it selected none. The issue is that of an issue program.
func (d *dependencies) Program(ctx context.Context) (p *program.Program, issue *api.Issue, err error) {
	name := d.Options.Program
	if name == "" {
		dir, err := d.Env.OutputDir(d.Options.Dir)
		if err != nil {
			return nil, nil, err
		}
		if name, err = schedule.ReadSelected(filepath.Join(dir, schedule.PlanFile), d.Repo.Root); err != nil ||
			name == "" {
			return nil, nil, err
		}
	}
	source := d.Source()
	p, err = source.Find(name)
	if err != nil {
		return nil, nil, err
	}
	if p == nil && d.GitHub != nil {
		if p, issue, err = d.issueProgram(ctx, source, name); err != nil {
			return nil, nil, err
		}
	}
	if p == nil {
		all, err := source.Load(false)
		if err != nil {
			return nil, nil, err
		}
		if meant := d.Meant(ctx, name); meant != "" {
			return nil, nil, misuse.Errorf("there is no program %q%s", name, meant)
		}
		cure := fmt.Sprintf("make one with `iterate init %s`", name)
		if states, err := d.Memory.States(ctx); err == nil && states[name] != nil {
			cure = fmt.Sprintf("it has records: put back its file, or its open issue with the label %s",
				sync.ProgramLabel)
		}
		return nil, nil, misuse.Errorf("there is no program %q (there are: %s); %s", name,
			cmp.Or(strings.Join(program.Names(all), ", "), "none"), cure)
	}
	if workflow := d.Options.CIWorkflow; workflow != "" {
		if !workflowFile().MatchString(workflow) {
			return nil, nil, misuse.Errorf("--ci-workflow %q is no file name of a workflow, such as ci.yml", workflow)
		}
		p.CIWorkflow = workflow
	}
	p.AgentCommand = cmp.Or(d.Options.AgentCommand, p.AgentCommand)
	return p, issue, d.Runnable(ctx, p)
}

// workflowFile matches what GitHub takes for a workflow in .github/workflows.
var workflowFile = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]*\.ya?ml$`)

// Source is where the repository's program files are.
func (d *dependencies) Source() memory.Programs {
	return memory.Programs{Root: d.Root, Dir: d.Options.Programs}
}

// Runnable reports why a program cannot be iterated, in the files of the commit
// that is checked out. What text and frontmatter say about the direction is
// settled by the state, which the loop reads; the gate by CheckCIGate.
func (d *dependencies) Runnable(ctx context.Context, p *program.Program) error {
	files, err := d.TrackedFiles(ctx)
	if err != nil {
		return err
	}
	d.protectInputs(p)
	if err := p.Runnable(files); err != nil {
		return err
	}
	return program.NotRunnable(d.Unfit(ctx, p, d.Repo.Root, files))
}

// protectInputs protects what the cases of a program's skill are given. A suite
// that cannot be read is reported where it is measured.
func (d *dependencies) protectInputs(p *program.Program) {
	if p.Evaluation != program.Skill || p.Skill == "" {
		return
	}
	if skill, err := evalrun.Load(d.Repo.Root, p.Skill, p.Evals); err == nil {
		var inputs []string
		for _, c := range skill.Evals.Cases {
			for _, file := range c.Files {
				inputs = append(inputs, path.Join(p.Skill, file.From))
			}
		}
		p.ProtectInputs(inputs)
	}
}

// TrackedFiles lists the files of the commit that is checked out, sorted.
func (d *dependencies) TrackedFiles(ctx context.Context) ([]string, error) {
	head, err := d.Repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := d.Repo.LsTree(ctx, head)
	if err != nil {
		return nil, err
	}
	files := make([]string, len(entries))
	for i, entry := range entries {
		files[i] = entry.Path
	}
	slices.Sort(files)
	return files, nil
}

// issueProgram finds a program that is an issue, by the name that discovery
// gives it, or nil. Its author is checked again.
func (d *dependencies) issueProgram(ctx context.Context, source memory.Programs, name string) (*program.Program,
	*api.Issue, error,
) {
	files, err := source.Load(true)
	if err != nil {
		return nil, nil, err
	}
	states, err := d.Memory.States(ctx)
	if err != nil {
		return nil, nil, err
	}
	var warnings []string
	unread := false
	for _, label := range []string{sync.ProgramLabel, sync.CompletedLabel} {
		found, issues, err := schedule.DiscoverIssues(ctx, d.GitHub, label, files, states)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range found.Programs {
			if p.Name == name {
				at := slices.IndexFunc(issues, func(i api.Issue) bool { return i.Number == p.Issue })
				return p, &issues[at], nil
			}
		}
		for _, stranger := range found.Untrusted {
			if stranger.Name == name {
				return nil, nil, misuse.Errorf("issue #%d is not run: %s", stranger.Issue, stranger.Reason)
			}
		}
		warnings = append(warnings, found.Warnings...)
		unread = unread || issues == nil
	}
	switch {
	case unread:
		return nil, nil, fmt.Errorf("there is no program %q among the files; %s", name, warnings[0])
	case len(warnings) > 0:
		return nil, nil, misuse.Errorf("there is no program %q among the files; %s", name, warnings[0])
	}
	return nil, nil, nil
}

// ProgramOfIssue is the name of the program whose issue or pull request has a
// number; "" when it belongs to no program.
func (d *dependencies) ProgramOfIssue(ctx context.Context, number int) (string, error) {
	states, err := d.Memory.States(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if machine, _, err := state.ParseMachine(states[name]); err == nil &&
			(machine.Issue == number || machine.PR == number) {
			return name, nil
		}
	}
	var found schedule.Discovery
	files, err := d.Source().Load(true)
	if err != nil {
		return "", err
	}
	if found, _, err = schedule.DiscoverIssues(ctx, d.GitHub, sync.ProgramLabel, files, states); err != nil {
		return "", err
	}
	for _, numbers := range []map[string]int{found.Numbers, found.Linked} {
		for name, issue := range numbers {
			if issue == number {
				return name, nil
			}
		}
	}
	return "", nil
}
