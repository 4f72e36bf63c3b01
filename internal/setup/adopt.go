package setup

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/schedule"
)

// suffixed is a branch of a program as gh-aw named it: with random digits
// behind the name.
var suffixed = lazyregexp.New(`^(.+)-[0-9a-f]{6,40}$`)

const branchRefs = "refs/heads/" + loop.BranchPrefix

// adopted is why a branch moved, for its log.
const adopted = "autoloop: adopted"

// Adopter renames the branches of a gh-aw installation. State, labels and
// issues stay: they are read as they are.
type Adopter struct {
	Repo *git.Repo
	// GitHub is nil when it is left out.
	GitHub *api.Client
	// Programs are the program files.
	Programs memory.Programs
	// Remote has the branches; "" for none.
	Remote string
	Now    func() time.Time

	// states are the programs' states by name; nil values are programs without.
	states map[string][]byte
	// heads are the branches under autoloop/, by name without it.
	heads map[string]string
}

// Steps are the renames that are due, and what is left as it is, with the reason.
func (a *Adopter) Steps(ctx context.Context) ([]Step, error) {
	if err := a.readPrograms(ctx); err != nil {
		return nil, err
	}
	if err := a.readBranches(ctx); err != nil {
		return nil, err
	}
	steps, err := a.steps(ctx)
	return append(steps, oldWorkflows(a.Repo.Root)...), err
}

// oldWorkflows are the files of the installation that is taken over. They are
// their owner's to delete.
func oldWorkflows(root string) []Step {
	var steps []Step
	for _, name := range []string{workflowDir + "autoloop.md", workflowDir + "autoloop.lock.yml"} {
		if exists(filepath.Join(root, filepath.FromSlash(name))) {
			steps = append(steps, Step{
				Action: Keep, Name: name,
				Why: " (the workflow of gh-aw: delete it, or both run)",
			})
		}
	}
	return steps
}

// readPrograms finds the names of programs: files, states, and issues where
// they can be read.
func (a *Adopter) readPrograms(ctx context.Context) error {
	states, err := (&memory.Memory{Repo: a.Repo, Remote: a.Remote, Now: a.Now}).States(ctx)
	if err != nil {
		return err
	}
	files, err := a.Programs.Load(false)
	if err != nil {
		return misuse.New(err)
	}
	a.states = map[string][]byte{}
	for _, name := range program.Names(files) {
		a.states[name] = nil
	}
	if a.GitHub != nil {
		found, _, err := schedule.DiscoverIssues(ctx, a.GitHub, sync.ProgramLabel, files, states)
		if err != nil {
			return err
		}
		for name := range found.Numbers {
			a.states[name] = nil
		}
	}
	maps.Copy(a.states, states)
	return nil
}

func (a *Adopter) readBranches(ctx context.Context) error {
	a.heads = map[string]string{}
	if a.Remote == "" {
		refs, err := a.Repo.ListRefs(ctx, strings.TrimSuffix(branchRefs, "/"))
		for _, ref := range refs {
			a.heads[strings.TrimPrefix(ref.Name, branchRefs)] = ref.ID
		}
		return err
	}
	refs, err := a.Repo.Remote(a.Remote).Refs(ctx)
	for ref, id := range refs {
		if name, ours := strings.CutPrefix(ref, branchRefs); ours {
			a.heads[name] = id
		}
	}
	return err
}

func (a *Adopter) steps(ctx context.Context) ([]Step, error) {
	olds := map[string][]string{}
	var steps []Step
	for _, branch := range slices.Sorted(maps.Keys(a.heads)) {
		found := suffixed().FindStringSubmatch(branch)
		if _, known := a.states[branch]; known || found == nil {
			continue
		}
		if _, known := a.states[found[1]]; !known {
			steps = append(steps, kept(branch, fmt.Sprintf("there is no program %s", found[1])))
			continue
		}
		olds[found[1]] = append(olds[found[1]], branch)
	}
	for _, name := range slices.Sorted(maps.Keys(olds)) {
		more, err := a.rename(ctx, name, olds[name])
		if err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	return steps, nil
}

func kept(branch, why string) Step {
	return Step{Action: Keep, Name: "branch " + loop.BranchPrefix + branch, Why: " (" + why + ")"}
}

// rename plans for the suffixed branches of one program: the one that its state
// names, or the only one, becomes the program's.
func (a *Adopter) rename(ctx context.Context, name string, olds []string) ([]Step, error) {
	var steps []Step
	if _, taken := a.heads[name]; taken {
		for _, old := range olds {
			steps = append(steps, kept(old,
				fmt.Sprintf("%s%s is there already; delete this one when nothing in it is needed",
					loop.BranchPrefix, name)))
		}
		return steps, nil
	}
	chosen := olds[0]
	if len(olds) > 1 {
		machine, _, err := state.ParseMachine(a.states[name])
		chosen = strings.TrimPrefix(machine.Branch, loop.BranchPrefix)
		if err != nil || !slices.Contains(olds, chosen) {
			for _, old := range olds {
				steps = append(steps, kept(old,
					fmt.Sprintf("program %s has %d such branches, and its state names none of them; delete all but one",
						name, len(olds))))
			}
			return steps, nil
		}
	}
	for _, old := range olds {
		if old != chosen {
			steps = append(steps, kept(old, fmt.Sprintf("the state of %s names %s%s", name, loop.BranchPrefix, chosen)))
		}
	}
	why, err := a.pulls(ctx, chosen)
	return append(steps, Step{
		Action: Rename, Name: "branch " + loop.BranchPrefix + chosen, Why: " to " + loop.BranchPrefix + name + why,
		Do: func(ctx context.Context) error { return a.move(ctx, chosen, name) },
	}), err
}

// pulls names the open pull requests of a branch: GitHub closes them when it is
// gone.
func (a *Adopter) pulls(ctx context.Context, branch string) (string, error) {
	if a.GitHub == nil {
		return "; an open pull request of it is closed by that", nil
	}
	found, err := a.GitHub.Pulls(ctx, loop.BranchPrefix+branch)
	why := ""
	for _, pull := range found {
		if pull.Open {
			why += fmt.Sprintf("; its pull request #%d is closed by that, and the next gain opens another", pull.Number)
		}
	}
	return why, err
}

// move renames a branch on the remote, with a lease on both names, and its copy
// here. One that is checked out is left alone, on both sides.
func (a *Adopter) move(ctx context.Context, from, to string) error {
	at := a.heads[from]
	updates := []git.RefUpdate{{Ref: branchRefs + to, New: at}, {Ref: branchRefs + from, Old: at}}
	used, err := a.Repo.CheckedOutBranches(ctx)
	if err != nil {
		return err
	}
	if place, out := used[branchRefs+from]; out {
		return fmt.Errorf("it is checked out in %s: switch to another branch there", place)
	}
	if a.Remote == "" {
		return a.Repo.UpdateRefs(ctx, adopted, updates...)
	}
	if err := a.Repo.Remote(a.Remote).Fetch(ctx, branchRefs+from); err != nil {
		return err
	}
	if err := a.Repo.Remote(a.Remote).Push(ctx, updates...); err != nil {
		return err
	}
	here, found, err := a.Repo.Resolve(ctx, branchRefs+from)
	if err != nil || !found || here != at {
		return err // a copy that stands elsewhere has what is on no remote
	}
	if _, taken, err := a.Repo.Resolve(ctx, branchRefs+to); err != nil || taken {
		return err
	}
	return a.Repo.UpdateRefs(ctx, adopted, updates...)
}
