package setup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/program/checkout"
)

// suffix is a branch of a program as gh-aw named it: with random digits
// behind the name.
var suffix = lazyregexp.New(`^(.+)-[0-9a-f]{6,40}$`)

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
	Programs checkout.Programs
	// Remote has the branches; "" for none.
	Remote string
	Now    func() time.Time
}

// Steps are the renames that are due, and what is left as it is, with the reason.
func (a *Adopter) Steps(ctx context.Context) ([]Step, error) {
	states, err := (&memory.Memory{Repo: a.Repo, Remote: a.Remote, Now: a.Now}).States(ctx)
	if err != nil {
		return nil, err
	}
	files, err := a.Programs.Load(false)
	if err != nil {
		return nil, misuse.New(err)
	}
	heads, err := a.branches(ctx)
	if err != nil {
		return nil, err
	}
	programs := slices.AppendSeq(program.Names(files), maps.Keys(states))
	suffixed := map[string][]string{}
	for branch := range heads {
		if found := suffix().FindStringSubmatch(branch); found != nil && !slices.Contains(programs, branch) {
			suffixed[found[1]] = append(suffixed[found[1]], branch)
		}
	}
	steps := []Step{}
	for _, name := range slices.Sorted(maps.Keys(suffixed)) {
		chosen, why, count := named(states[name]), "", len(suffixed[name])
		_, taken := heads[name]
		switch {
		case !slices.Contains(programs, name):
			chosen, why = "", "there is no program "+name
		case taken:
			chosen, why = "", loop.BranchPrefix+name+" is there already; delete this one when nothing in it is needed"
		case count == 1:
			chosen = suffixed[name][0]
		case slices.Contains(suffixed[name], chosen):
			why = fmt.Sprintf("the state of %s names %s%s", name, loop.BranchPrefix, chosen)
		default:
			why = fmt.Sprintf("program %s has %d such branches, and its state names none of them; delete all but one",
				name, count)
		}
		for _, branch := range slices.Sorted(slices.Values(suffixed[name])) {
			step := Step{Action: Keep, Name: "branch " + loop.BranchPrefix + branch, Why: "(" + why + ")"}
			if branch == chosen {
				if step, err = a.rename(ctx, branch, name, heads[branch]); err != nil {
					return nil, err
				}
			}
			steps = append(steps, step)
		}
	}
	for _, file := range []string{workflowDir + "autoloop.md", workflowDir + "autoloop.lock.yml"} {
		if exists(a.Repo.Root, file) { // it is its owner's to delete
			steps = append(
				steps,
				Step{Action: Keep, Name: file, Why: "(the workflow of gh-aw: delete it, or both run)"},
			)
		}
	}
	return steps, nil
}

// named is the branch that a state names, without what all have before their names.
func named(text []byte) string {
	machine, _, err := state.ParseMachine(text)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(machine.Branch, loop.BranchPrefix)
}

// rename is the step by which a branch becomes the program's. GitHub closes the open pull
// requests of a branch that is gone.
func (a *Adopter) rename(ctx context.Context, branch, name, head string) (Step, error) {
	step := Step{
		Action: Rename, Name: "branch " + loop.BranchPrefix + branch, Why: "to " + loop.BranchPrefix + name,
		Do: func(ctx context.Context) error { return a.move(ctx, branch, name, head) },
	}
	if a.GitHub == nil {
		step.Why += "; an open pull request of it is closed by that"
		return step, nil
	}
	pulls, err := a.GitHub.Pulls(ctx, loop.BranchPrefix+branch)
	for _, pull := range pulls {
		if pull.Open {
			step.Why += fmt.Sprintf("; its pull request #%d is closed by that, and the next gain opens another",
				pull.Number)
		}
	}
	return step, err
}

// branches are the heads of the programs' branches, by their names.
func (a *Adopter) branches(ctx context.Context) (map[string]string, error) {
	refs, heads := map[string]string{}, map[string]string{}
	var err error
	if a.Remote != "" {
		refs, err = a.Repo.Remote(a.Remote).Refs(ctx)
	} else {
		var here []git.Ref
		here, err = a.Repo.ListRefs(ctx, strings.TrimSuffix(branchRefs, "/"))
		for _, ref := range here {
			refs[ref.Name] = ref.ID
		}
	}
	for ref, id := range refs {
		if name, ours := strings.CutPrefix(ref, branchRefs); ours {
			heads[name] = id
		}
	}
	return heads, err
}

// move renames a branch on the remote, with a lease on both names, and its copy
// here. One that is checked out is left alone, on both sides.
func (a *Adopter) move(ctx context.Context, from, to, at string) error {
	updates := []git.RefUpdate{{Ref: branchRefs + to, New: at}, {Ref: branchRefs + from, Old: at}}
	used, err := a.Repo.CheckedOutBranches(ctx)
	if err != nil {
		return err
	}
	if place, out := used[branchRefs+from]; out {
		return fmt.Errorf("it is checked out in %s: switch to another branch there", place)
	}
	if a.Remote != "" {
		if err := a.Repo.Remote(a.Remote).Fetch(ctx, branchRefs+from); err != nil {
			return err
		}
		if err := a.Repo.Remote(a.Remote).Push(ctx, updates...); err != nil {
			return err
		}
	}
	here, found, err := a.Repo.Resolve(ctx, branchRefs+from)
	if err != nil || !found || here != at {
		return err // a copy that stands elsewhere has what is on no remote
	}
	return a.Repo.UpdateRefs(ctx, adopted, updates...)
}
