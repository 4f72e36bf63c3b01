package setup

import (
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

// FindLeftovers lists the programs that have a state and no program file among these, nor in the
// usual place of the checkout.
// What cannot be known without GitHub, a nil client, is kept.
func FindLeftovers(ctx context.Context, m *memory.Memory, client *api.Client, files []string) (Leftovers, error) {
	states, err := m.States(ctx)
	if err != nil {
		return nil, err
	}
	open, err := openIssues(ctx, client)
	if err != nil {
		return nil, err
	}
	usual, err := checkout.Programs{Root: m.Repo.Root}.Load(true)
	if err != nil {
		return nil, err
	}
	files = append(files, program.Names(usual)...)
	list := Leftovers{}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		machine, _, unread := state.ParseMachine(states[name])
		title, alive := open[machine.Issue]
		left := Leftover{Program: name, Issue: machine.Issue, PR: machine.PR, own: title == render.Title(name)}
		if slices.Contains(files, name) || alive && !left.own {
			continue
		}
		if left.Branch, err = m.HeadOf(ctx, branchRefs+name); err != nil {
			return nil, err
		}
		switch left.Kept, err = whyKept(ctx, m, name); {
		case err != nil:
			return nil, err
		case left.Kept != "":
		case unread != nil:
			left.Kept = "its state cannot be read: " + unread.Error()
		case machine.Issue > 0 && client == nil:
			left.Kept = "it may be a program that an issue holds: give --repo and a token to find out"
		}
		list = append(list, left)
	}
	return list, nil
}

// openIssues are the titles of open issues with a label of programs, by number.
func openIssues(ctx context.Context, client *api.Client) (map[int]string, error) {
	open := map[int]string{}
	if client == nil {
		return open, nil
	}
	for _, label := range []string{sync.ProgramLabel, sync.CompletedLabel} {
		issues, err := client.Issues(ctx, label, "open")
		if err != nil {
			return nil, err
		}
		for _, issue := range issues {
			open[issue.Number] = issue.Title
		}
	}
	return open, nil
}

// whyKept is why a program is kept that a run may be working on, or that has a file in what is
// checked out, on the branch that its records say its work was for, or on the remote's default
// branch; "" otherwise.
func whyKept(ctx context.Context, m *memory.Memory, name string) (string, error) {
	files, _, err := m.Read(ctx, name)
	if problem, is := errors.AsType[*memory.LedgerError](err); is {
		return "its ledger cannot be read: " + problem.Error(), nil // it is said, and the program kept
	}
	if err != nil {
		return "", err
	}
	summary := files.Ledger.Copy().Summary()
	if open := summary.Open; open != nil && open.Lease != nil && m.Now().Before(open.Lease.Until) {
		return "run " + open.Run + " may be working on it", nil
	}
	heads := [][2]string{{"refs/heads/" + summary.BaseBranch, summary.BaseBranch}, {"HEAD", "HEAD"}}
	if m.Remote != "" {
		remote := m.Repo.Remote(m.Remote)
		ref, err := remote.DefaultBranch(ctx)
		if err == nil {
			err = remote.Fetch(ctx, ref.Name)
		}
		if err != nil {
			return "", err
		}
		heads = append(heads, [2]string{ref.ID, "the default branch"})
	}
	for _, head := range heads {
		if found, err := fileIn(ctx, m.Repo, head[0], head[1], name); err != nil || found != "" {
			return found, err
		}
	}
	return "", nil
}

// fileIn says where the head of a branch has the file of a program; "" for nowhere. Outside of the usual
// places, where --programs may have them, a file of that name counts when it has a target and an
// evaluation.
func fileIn(ctx context.Context, repo *git.Repo, rev, branch, name string) (string, error) {
	commit, exists, err := repo.Resolve(ctx, rev)
	if err != nil || !exists {
		return "", err
	}
	entries, err := repo.LsTree(ctx, commit)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if path.Ext(entry.Path) != ".md" || program.Parse(entry.Path, nil).Name != name {
			continue
		}
		if strings.HasPrefix(entry.Path, checkout.DefaultPrograms+"/") ||
			checkout.Single(&program.Program{File: entry.Path}) {
			return "its file is in " + branch, nil
		}
		objects, err := repo.Cat(ctx, entry.ID)
		if err != nil {
			return "", err
		}
		if len(program.Parse(entry.Path, objects[0].Data).Missing()) == 0 {
			return fmt.Sprintf("its file is %s in %s: give --programs %s", entry.Path, branch,
				path.Dir(strings.TrimSuffix(entry.Path, "/program.md"))), nil
		}
	}
	return "", nil
}

// RemoveLeftovers removes what may be removed, and notes what was.
func RemoveLeftovers(ctx context.Context, m *memory.Memory, client *api.Client, list Leftovers) error {
	for i, left := range list {
		if left.Kept != "" {
			continue
		}
		if err := left.remove(ctx, m, client); err != nil {
			return fmt.Errorf("remove what %s left: %w", left.Program, err)
		}
		list[i].Removed = true
	}
	return nil
}

// remove removes what is left; the state goes last, so that what fails is found
// again.
func (left Leftover) remove(ctx context.Context, m *memory.Memory, client *api.Client) error {
	if client != nil {
		pulls, err := client.Pulls(ctx, loop.BranchPrefix+left.Program)
		for _, pull := range pulls {
			if err == nil && pull.Open() {
				err = client.ClosePull(ctx, pull.Number)
			}
		}
		if err == nil && left.own {
			err = client.SetIssueOpen(ctx, left.Issue, false)
		}
		if err != nil {
			return err
		}
	}
	update := memory.Update{
		Program: left.Program, Message: left.Program + ": removed, the program is gone",
		Apply: func(memory.Files) (memory.Files, error) { return memory.Files{}, nil },
	}
	ref := branchRefs + left.Program
	if left.Branch != "" {
		// In one step with the state: else the next update takes the branch that is
		// gone for one that an interrupted run has not moved yet, and brings it back.
		update.Branch = &git.RefUpdate{Ref: ref, Old: left.Branch}
	}
	if _, err := m.Update(ctx, update); err != nil {
		return err
	}
	// What a shared branch has left in this repository.
	if _, here, err := m.Repo.Resolve(ctx, ref); err != nil || !here {
		return err
	}
	return m.Repo.UpdateRefs(ctx, "autoloop: the program is gone", git.RefUpdate{Ref: ref, Old: git.Any})
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
