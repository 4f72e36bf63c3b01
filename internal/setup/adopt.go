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
	Programs memory.Programs
	// Remote has the branches; "" for none.
	Remote string
	Now    func() time.Time
}

// Steps are the renames that are due, and what is left as it is, with the reason.
func (a *Adopter) Steps(ctx context.Context) ([]Step, error) {
	states, err := a.programs(ctx)
	if err != nil {
		return nil, err
	}
	heads, err := a.branches(ctx)
	if err != nil {
		return nil, err
	}
	steps, suffixed := []Step{}, map[string][]string{}
	for _, branch := range slices.Sorted(maps.Keys(heads)) {
		found := suffix().FindStringSubmatch(branch)
		if _, known := states[branch]; known || found == nil {
			continue
		}
		if _, known := states[found[1]]; !known {
			steps = append(steps, kept(branch, "there is no program "+found[1]))
			continue
		}
		suffixed[found[1]] = append(suffixed[found[1]], branch)
	}
	for _, name := range slices.Sorted(maps.Keys(suffixed)) {
		chosen, others := named(states[name]), ""
		_, taken := heads[name]
		switch count := len(suffixed[name]); {
		case taken:
			chosen, others = "", loop.BranchPrefix+name+" is there already; delete this one when nothing in it is needed"
		case count == 1:
			chosen = suffixed[name][0]
		case slices.Contains(suffixed[name], chosen):
			others = fmt.Sprintf("the state of %s names %s%s", name, loop.BranchPrefix, chosen)
		default:
			chosen, others = "", fmt.Sprintf("program %s has %d such branches, and its state names none of them; "+
				"delete all but one", name, count)
		}
		for _, branch := range suffixed[name] {
			step := kept(branch, others)
			if branch == chosen {
				if step, err = a.rename(ctx, branch, name, heads[branch]); err != nil {
					return nil, err
				}
			}
			steps = append(steps, step)
		}
	}
	return append(steps, oldWorkflows(a.Repo.Root)...), nil
}

// named is the branch that a state names, without what all have before their names.
func named(text []byte) string {
	machine, _, err := state.ParseMachine(text)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(machine.Branch, loop.BranchPrefix)
}

func kept(branch, why string) Step {
	return Step{Action: Keep, Name: "branch " + loop.BranchPrefix + branch, Why: "(" + why + ")"}
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

// oldWorkflows are the files of the installation that is taken over. They are
// their owner's to delete.
func oldWorkflows(root string) []Step {
	var steps []Step
	for _, name := range []string{workflowDir + "autoloop.md", workflowDir + "autoloop.lock.yml"} {
		if exists(filepath.Join(root, filepath.FromSlash(name))) {
			steps = append(steps, Step{
				Action: Keep, Name: name,
				Why: "(the workflow of gh-aw: delete it, or both run)",
			})
		}
	}
	return steps
}

// programs are the states of all programs by name, of files, states, and issues where
// they can be read; nil of one without.
func (a *Adopter) programs(ctx context.Context) (map[string][]byte, error) {
	states, err := (&memory.Memory{Repo: a.Repo, Remote: a.Remote, Now: a.Now}).States(ctx)
	if err != nil {
		return nil, err
	}
	files, err := a.Programs.Load(false)
	if err != nil {
		return nil, misuse.New(err)
	}
	all := map[string][]byte{}
	for _, name := range program.Names(files) {
		all[name] = nil
	}
	if a.GitHub != nil {
		found, _, err := schedule.DiscoverIssues(ctx, a.GitHub, sync.ProgramLabel, files, states)
		if err != nil {
			return nil, err
		}
		for name := range found.Numbers {
			all[name] = nil
		}
	}
	maps.Copy(all, states)
	return all, nil
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
