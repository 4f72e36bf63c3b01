package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/program/checkout"
	"github.com/org/autoloop/internal/render"
)

// Leftover is what a program that is gone has left.
type Leftover struct {
	Program string `json:"program"`
	Branch  string `json:"branch,omitempty"`
	Issue   int    `json:"issue,omitempty"`
	PR      int    `json:"pr,omitempty"`
	// Kept says why it is not to be removed; "" when it may be.
	Kept    string `json:"kept,omitempty"`
	Removed bool   `json:"removed"`

	own bool // the issue is Autoloop's, not a person's
}

// Leftovers are those of all programs that are gone, sorted by their names.
type Leftovers []Leftover

// Pruner finds and removes what programs that are gone have left.
type Pruner struct {
	Repo   *git.Repo
	Memory *memory.Memory // with the remote that branches are shared with, if any
	GitHub *api.Client    // nil when it is left out

	states map[string][]byte
	files  map[string]string // by program, where its file is
}

// Find lists the programs that have state and are gone. What cannot be known
// without GitHub is kept.
func (p *Pruner) Find(ctx context.Context, files []string) (Leftovers, error) {
	var err error
	if p.states, err = p.Memory.States(ctx); err != nil {
		return nil, err
	}
	open, err := p.openIssues(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.onDefaultBranch(ctx); err != nil {
		return nil, err
	}
	list := Leftovers{}
	for _, name := range slices.Sorted(maps.Keys(p.states)) {
		left := Leftover{Program: name, Kept: p.files[name]}
		machine, _, err := state.ParseMachine(p.states[name])
		title, alive := open[machine.Issue]
		left.own = title == render.Title(name)
		switch {
		case slices.Contains(files, name), alive && !left.own:
			continue
		case left.Kept != "":
		case err != nil:
			left.Kept = "its state cannot be read: " + err.Error()
		default:
			left.Issue, left.PR = machine.Issue, machine.PR
			if left.Branch, err = p.Memory.HeadOf(ctx, "refs/heads/"+loop.BranchPrefix+name); err == nil {
				left.Kept, err = p.working(ctx, name)
			}
			if err != nil {
				return nil, err
			}
			if machine.Issue > 0 && p.GitHub == nil {
				left.Kept = cmp.Or(
					left.Kept,
					"it may be a program that an issue holds: give --repo and a token to find out",
				)
			}
		}
		list = append(list, left)
	}
	return list, nil
}

// openIssues are the titles of open issues with a label of programs, by number.
func (p *Pruner) openIssues(ctx context.Context) (map[int]string, error) {
	open := map[int]string{}
	if p.GitHub == nil {
		return open, nil
	}
	for _, label := range []string{sync.ProgramLabel, sync.CompletedLabel} {
		issues, err := p.GitHub.Issues(ctx, label, "open")
		if err != nil {
			return nil, err
		}
		for _, issue := range issues {
			open[issue.Number] = issue.Title
		}
	}
	return open, nil
}

// working is why a program is kept that a run may be working on, or whose file is on the
// branch that its records say its work was for, or, without records, on any; "" otherwise.
func (p *Pruner) working(ctx context.Context, name string) (string, error) {
	files, _, err := p.Memory.Read(ctx, name)
	if problem, is := errors.AsType[*memory.LedgerError](err); is {
		return "its ledger cannot be read: " + problem.Error(), nil // it is said, and the program kept
	}
	if err != nil {
		return "", err
	}
	summary := files.Ledger.Copy().Summary()
	if open := summary.Open; open != nil && open.Lease != nil && p.Memory.Now().Before(open.Lease.Until) {
		return "run " + open.Run + " may be working on it", nil
	}
	refs, err := p.Repo.ListRefs(ctx, "refs/heads/", "refs/remotes/")
	for _, ref := range refs {
		branch, here := strings.CutPrefix(ref.Name, "refs/heads/")
		if !here {
			_, branch, _ = strings.Cut(strings.TrimPrefix(ref.Name, "refs/remotes/"), "/")
		}
		ours := strings.HasPrefix(branch, loop.BranchPrefix) || branch == memory.MemoryBranch
		if err == nil && !ours && cmp.Or(summary.BaseBranch, branch) == branch {
			err = p.look(ctx, ref.Name, branch)
		}
	}
	return p.files[name], err
}

// Remove removes what may be removed, and notes what was.
func (p *Pruner) Remove(ctx context.Context, list Leftovers) error {
	for i, left := range list {
		if left.Kept != "" {
			continue
		}
		if err := p.remove(ctx, left); err != nil {
			return fmt.Errorf("remove what %s left: %w", left.Program, err)
		}
		list[i].Removed = true
	}
	return nil
}

// remove removes what is left; the state goes last, so that what fails is found
// again.
func (p *Pruner) remove(ctx context.Context, left Leftover) error {
	if p.GitHub != nil {
		pulls, err := p.GitHub.Pulls(ctx, loop.BranchPrefix+left.Program)
		for _, pull := range pulls {
			if err == nil && pull.Open {
				err = p.GitHub.ClosePull(ctx, pull.Number)
			}
		}
		if err == nil && left.own {
			err = p.GitHub.SetIssueOpen(ctx, left.Issue, false)
		}
		if err != nil {
			return err
		}
	}
	update := memory.Update{
		Program: left.Program, Message: left.Program + ": removed, the program is gone",
		Apply: func(memory.Files) (memory.Files, error) { return memory.Files{}, nil },
	}
	ref := "refs/heads/" + loop.BranchPrefix + left.Program
	if left.Branch != "" {
		// In one step with the state: else the next update takes the branch that is
		// gone for one that an interrupted run has not moved yet, and brings it back.
		update.Branch = &git.RefUpdate{Ref: ref, Old: left.Branch}
	}
	if _, err := p.Memory.Update(ctx, update); err != nil {
		return err
	}
	// What a shared branch has left in this repository.
	if _, here, err := p.Repo.Resolve(ctx, ref); err != nil || !here {
		return err
	}
	return p.Repo.UpdateRefs(ctx, "autoloop: the program is gone", git.RefUpdate{Ref: ref, Old: git.Any})
}

// onDefaultBranch finds the programs with a file on the remote's default branch, and in
// the usual place of the checkout: a feature branch, or another directory of programs, is
// no reason to remove what they have.
func (p *Pruner) onDefaultBranch(ctx context.Context) error {
	p.files = map[string]string{}
	if p.Memory.Remote != "" {
		remote := p.Repo.Remote(p.Memory.Remote)
		ref, err := remote.DefaultBranch(ctx)
		if err != nil {
			return err
		}
		if err := remote.Fetch(ctx, ref.Name); err != nil {
			return err
		}
		if err := p.look(ctx, ref.ID, "the default branch"); err != nil {
			return err
		}
	}
	usual, err := checkout.Programs{Root: p.Repo.Root}.Load(true)
	if err != nil {
		return err
	}
	for _, one := range usual {
		p.files[one.Name] = "its file is in " + checkout.DefaultPrograms
	}
	return nil
}

// look notes the programs that have a file in a commit, the head of a branch. Outside of the usual
// places, where --programs may have them, a file of that name counts when it has a
// target and an evaluation.
func (p *Pruner) look(ctx context.Context, commit, branch string) error {
	entries, err := p.Repo.LsTree(ctx, commit)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := programOf(entry.Path)
		if _, has := p.states[name]; !has || p.files[name] != "" {
			continue
		}
		where := "its file is in " + branch
		usual := []string{".autoloop/program.md", "program.md"}
		if !strings.HasPrefix(entry.Path, checkout.DefaultPrograms+"/") && !slices.Contains(usual, entry.Path) {
			objects, err := p.Repo.Cat(ctx, entry.ID)
			if err != nil {
				return err
			}
			if len(objects) != 1 || len(program.Parse(entry.Path, objects[0].Data).Missing()) > 0 {
				continue
			}
			where = fmt.Sprintf("its file is %s in %s: give --programs %s", entry.Path, branch,
				path.Dir(strings.TrimSuffix(entry.Path, "/program.md")))
		}
		p.files[name] = where
	}
	return nil
}

// programOf is the name that a program has whose file is at a path, "" for a path
// that cannot be one.
func programOf(file string) string {
	if path.Ext(file) != ".md" {
		return ""
	}
	return program.Parse(file, nil).Name
}

// String says in a line each what is left, and what became of it.
func (list Leftovers) String() string {
	if len(list) == 0 {
		return "nothing is left of programs that are gone\n"
	}
	var out strings.Builder
	for _, left := range list {
		what := []string{"state"}
		if left.Branch != "" {
			what = append(what, "branch "+loop.BranchPrefix+left.Program)
		}
		if left.own {
			what = append(what, fmt.Sprintf("issue #%d", left.Issue))
		}
		if left.PR > 0 {
			what = append(what, fmt.Sprintf("pull request #%d", left.PR))
		}
		word := "left"
		switch {
		case left.Removed:
			word = "removed"
		case left.Kept != "":
			word = "kept (" + left.Kept + ")"
		}
		fmt.Fprintf(&out, "%s: %s: %s\n", left.Program, word, strings.Join(what, ", "))
	}
	return out.String()
}
