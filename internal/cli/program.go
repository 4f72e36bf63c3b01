package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/git/tree"
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
		names, err := a.planned()
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

// planned are the programs that the scheduler selected.
func (a *App) planned() ([]string, error) {
	dir, err := a.outputDir()
	if err != nil {
		return nil, err
	}
	return schedule.ReadPlan(filepath.Join(dir, schedule.PlanFile), a.Checkout)
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

// programFile is the absolute path of the program file that a person means by a
// word: a path from where they are, else from the root; "" when no file has it.
func (a *App) programFile(word string) string {
	if !isPath(word) {
		return "" // a file of the repository may be called so too
	}
	for _, file := range []string{a.Path(word), filepath.Join(a.Checkout, word)} {
		info, err := os.Stat(file)
		if err == nil && info.IsDir() {
			file = filepath.Join(file, "program.md")
			info, err = os.Stat(file)
		}
		if err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

func isPath(word string) bool {
	return strings.ContainsAny(word, `/\`) || strings.HasSuffix(word, ".md")
}

// nameOf is the name of the program that a person means by a name or by the path
// of a program file, which need not be there any more.
func (a *App) nameOf(word string) string {
	if file := a.programFile(word); file != "" {
		return a.source().File(file).Name
	}
	if !isPath(word) {
		return word
	}
	return strings.TrimSuffix(filepath.Base(strings.TrimSuffix(word, "/program.md")), ".md")
}

// findProgram reads the program that a person means by a name or a path, or nil.
func (a *App) findProgram(word string) (*program.Program, error) {
	if file := a.programFile(word); file != "" {
		return a.source().File(file), nil
	}
	return a.source().Find(word)
}

// meant is "; did you mean …?" for a name that no program has, among those of
// files and of records; "" when none is near.
func (a *App) meant(ctx context.Context, name string) string {
	all, _ := a.source().Load(false) // what cannot be read is not near
	states, _ := a.Memory.States(ctx)
	return schedule.DidYouMean(name, slices.AppendSeq(program.Names(all), maps.Keys(states)))
}

// onlyFor refuses flags that have no effect here.
func onlyFor(what string, cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return misuse.Errorf("--%s is for %s", name, what)
		}
	}
	return nil
}

// refusals returns what asks why a program cannot run, so that the scheduler
// refuses what an iteration would. What depends on the machine that runs the
// iteration, such as an agent that is not installed, is recorded there. The
// repository may be nil: then what needs one is not asked.
func (a *App) refusals(ctx context.Context) func(*schedule.Standing) []program.Problem {
	var files []string
	if a.Repo != nil {
		files, _ = a.trackedFiles(ctx) // without a commit, nothing is known of files
	}
	return func(s *schedule.Standing) []program.Problem {
		p := s.Program
		found := a.refused(ctx, p, files, a.gated())
		if len(found) == 0 && s.Condition == schedule.Pending && s.Recorded() && !a.gated() {
			found = refusal(p, program.WaitsForCI)
		}
		return found
	}
}

func refusal(p *program.Program, why string) program.Problems {
	return program.Problems{{File: p.File, Severity: program.Error, Message: why}}
}

// gated reports whether CI's word can be had.
func (a *App) gated() bool { return a.GitHub != nil || a.InActions() }

// refused are the reasons for which no iteration of a program can begin, among these
// files, nil where they are not known: those of Refusals, else what only a look into the
// repository shows. Scheduler, validate and iterate ask this.
func (a *App) refused(ctx context.Context, p *program.Program, files []string, gated bool) program.Problems {
	known := a.Repo != nil && files != nil && !p.Unconfigured
	var suite error
	if known {
		suite = a.readSuite(ctx, p)
	}
	found := p.Refusals(files, gated)
	if !known || len(found.Certain()) > 0 {
		return found
	}
	if err := cmp.Or(a.unshared(ctx, p), suite, a.untuned(ctx, p, files)); err != nil {
		found = append(found, refusal(p, err.Error())...)
	}
	return found
}

// unshared says which path cannot be shared.
func (a *App) unshared(ctx context.Context, p *program.Program) error {
	for _, name := range p.Share {
		var refused *tree.ShareError
		if err := tree.Shareable(ctx, a.Repo, name); errors.As(err, &refused) {
			return refused
		}
	}
	return nil
}

// untuned says that a program for the tuner has nothing to tune: that is a matter of
// its files, whatever the machine. An agent that was asked for by name replaces it.
func (a *App) untuned(ctx context.Context, p *program.Program, files []string) error {
	tunes := func(one program.Proposer) bool { return one.Agent == "tuner" }
	if a.Agent != "" || !slices.ContainsFunc(a.namedAgents(p), tunes) {
		return nil
	}
	_, err := a.registry(a.NewRunner()).Ready(ctx, "tuner", a.requestFor(p, files))
	return err
}
