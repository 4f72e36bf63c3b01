package cli

import (
	"context"
	"os"
	"slices"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
	"github.com/org/autoloop/internal/setup"
)

// Validate checks program files: those that were named, else all.
func (s Scheduling) Validate(ctx context.Context, env Env, files []string) ([]setup.Checked, error) {
	root, repo, err := s.Root(ctx, env)
	if err != nil {
		return nil, err
	}
	programs, err := s.named(env, root, files)
	if err != nil {
		return nil, err
	}
	if repo == nil && len(programs) == 0 {
		return nil, notRepository(root)
	}
	client, err := s.Client(env)
	if err != nil {
		return nil, err
	}
	unread := goOn(ctx, env, repo, programs)
	uncommitted := s.Uncommitted(ctx, env)
	checker := s.checker(ctx, env, client, repo, root, uncommitted)
	list := make([]setup.Checked, len(programs))
	for i, p := range programs {
		list[i] = unread.note(checker.Check(ctx, p))
		if list[i].OK {
			list[i].Warnings = append(list[i].Warnings, uncommitted.Of(p)...)
		}
	}
	return list, nil
}

func (s Scheduling) checker(ctx context.Context, env Env, client *api.Client, repo *git.Repo, root string, uncommitted uncommittedWork) setup.Checker {
	deps := &dependencies{Env: env, Options: s.Options, GitHub: client, Repo: repo}
	var seen []string
	if repo != nil {
		if tracked, err := deps.TrackedFiles(ctx); err == nil {
			seen = append(tracked, uncommitted.paths()...)
		}
	}
	return setup.NewChecker(root, seen, client != nil || env.InActions(), deps.Unfit)
}

// unread says of programs why their states cannot be read.
type unread map[string]string

// goOn lets programs go on as their states on the memory branch say; where the branch
// itself cannot be read, nothing is known of them.
func goOn(ctx context.Context, env Env, repo *git.Repo, programs []*program.Program) unread {
	why := unread{}
	if repo == nil {
		return why
	}
	source := memory.States{Branch: &memory.Memory{Repo: repo, Now: env.Now}}
	states, failed, err := source.LoadEach(ctx, program.Names(programs))
	if err != nil {
		return why
	}
	for _, p := range programs {
		why[p.Name] = memory.GoOn(p, states)
		if err := failed[p.Name]; err != nil {
			why[p.Name] = program.Problem{File: memory.MemoryBranch + ":" + p.Name + ".md", Message: err.Error()}.String()
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
func (s Scheduling) named(env Env, root string, files []string) ([]*program.Program, error) {
	source := memory.Programs{Root: root, Dir: s.Programs}
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
func (s Scheduling) ValidateIssue(ctx context.Context, env Env, client *api.Client, number int) (*checkedIssue, string, error) {
	root, repo, err := s.Root(ctx, env)
	if err != nil {
		return nil, "", err
	}
	issue, err := client.Issue(ctx, number)
	if err != nil {
		return nil, "", err
	}
	p, stranger, why, err := s.programOf(ctx, env, client, repo, root, issue)
	if p == nil || err != nil {
		return nil, why, err
	}
	var states unread
	if stranger == "" {
		states = goOn(ctx, env, repo, []*program.Program{p})
	}
	return &checkedIssue{states.note(s.checker(ctx, env, client, repo, root, s.Uncommitted(ctx, env)).Check(ctx, p)), number, stranger}, "", nil
}

// programOf is the program of an issue under the name that it has among the
// others; nil with the reason when the issue is not a program.
func (s Scheduling) programOf(ctx context.Context, env Env, client *api.Client, repo *git.Repo, root string, issue api.Issue) (p *program.Program, stranger, why string, err error) {
	switch {
	case issue.Pull:
		return nil, "", "it is a pull request", nil
	case !issue.Open:
		return nil, "", "it is closed", nil
	case !slices.Contains(issue.Labels, sync.ProgramLabel):
		return nil, "", "it has no label " + sync.ProgramLabel, nil
	}
	files, err := memory.Programs{Root: root, Dir: s.Programs}.Load(true)
	if err != nil {
		return nil, "", "", misuse.New(err)
	}
	var states map[string][]byte
	if repo != nil {
		if states, _, err = (&memory.Memory{Repo: repo, Now: env.Now}).States(ctx); err != nil {
			return nil, "", "", err
		}
	}
	found, _, err := schedule.DiscoverIssues(ctx, client, sync.ProgramLabel, files, states)
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
