package setup

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/loop"
)

// suffixed is a branch of a program as gh-aw named it: with random digits behind the name.
var suffixed = lazyregexp.New(`^(.+)-[0-9a-f]{6,40}$`)

const branchRefs = "refs/heads/" + loop.BranchPrefix

// AdoptSteps are the renames that are due of the branches of a gh-aw installation, and what is
// left as it is, with the reason. State, labels and issues stay: they are read as they are. The
// branches are those of the memory's remote, if any.
func AdoptSteps(ctx context.Context, m *memory.Memory, files []string) ([]Step, error) {
	states, err := m.States(ctx)
	if err != nil {
		return nil, err
	}
	refs, err := m.Repo.Remote(cmp.Or(m.Remote, ".")).Refs(ctx)
	if err != nil {
		return nil, err
	}
	programs, branches := slices.AppendSeq(files, maps.Keys(states)), map[string][]string{}
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		branch, ours := strings.CutPrefix(ref, branchRefs)
		if found := suffixed().FindStringSubmatch(branch); ours && found != nil && !slices.Contains(programs, branch) {
			branches[found[1]] = append(branches[found[1]], branch)
		}
	}
	steps := []Step{}
	for _, name := range slices.Sorted(maps.Keys(branches)) {
		chosen, why, all := "", "", branches[name]
		machine, _, err := state.ParseMachine(states[name])
		named := strings.TrimPrefix(machine.Branch, loop.BranchPrefix)
		switch {
		case !slices.Contains(programs, name):
			why = "there is no program " + name
		case refs[branchRefs+name] != "":
			why = loop.BranchPrefix + name + " is there already; delete this one when nothing in it is needed"
		case len(all) == 1:
			chosen = all[0]
		case err == nil && slices.Contains(all, named):
			chosen, why = named, fmt.Sprintf("the state of %s names %s%s", name, loop.BranchPrefix, named)
		default:
			why = fmt.Sprintf("program %s has %d such branches, and its state names none of them; delete all but one",
				name, len(all))
		}
		for _, branch := range all {
			step := Step{Action: Keep, Name: "branch " + loop.BranchPrefix + branch, Why: "(" + why + ")"}
			if branch == chosen {
				step.Action, step.Why = Rename, "to "+loop.BranchPrefix+name+"; GitHub closes an open pull request of it, "+
					"and the next gain opens another"
				step.Do = func(ctx context.Context) error { return rename(ctx, m, branch, name, refs[branchRefs+branch]) }
			}
			steps = append(steps, step)
		}
	}
	for _, file := range []string{workflowDir + "autoloop.md", workflowDir + "autoloop.lock.yml"} {
		if exists(m.Repo.Root, file) { // it is its owner's to delete
			steps = append(steps,
				Step{Action: Keep, Name: file, Why: "(the workflow of gh-aw: delete it, or both run)"})
		}
	}
	return steps, nil
}

// rename moves a branch on the remote, with a lease on both names, and its copy here. One
// that is checked out is left alone, on both sides.
func rename(ctx context.Context, m *memory.Memory, from, to, at string) error {
	updates := []git.RefUpdate{{Ref: branchRefs + to, New: at}, {Ref: branchRefs + from, Old: at}}
	used, err := m.Repo.ListRefs(ctx, branchRefs+from)
	if err != nil {
		return err
	}
	if len(used) > 0 && used[0].WorkTree != "" {
		return fmt.Errorf("it is checked out in %s: switch to another branch there", used[0].WorkTree)
	}
	if m.Remote != "" {
		remote := m.Repo.Remote(m.Remote)
		if err := remote.Fetch(ctx, branchRefs+from); err != nil {
			return err
		}
		if err := remote.Push(ctx, updates...); err != nil {
			return err
		}
	}
	here, found, err := m.Repo.Resolve(ctx, branchRefs+from)
	if err != nil || !found || here != at {
		return err // a copy that stands elsewhere has what is on no remote
	}
	return m.Repo.UpdateRefs(ctx, "autoloop: adopted", updates...)
}
