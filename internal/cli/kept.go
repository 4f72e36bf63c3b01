package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
)

// keptWork is what a program's branch has and the branch that is checked out has not, and
// whether it was merged, as JSON.
type keptWork struct {
	Program string `json:"program"`
	Branch  string `json:"branch"`
	Commit  string `json:"commit"`
	// Commits are the gains that were not merged before, Before and Now are the metric
	// without and with them, nil where the records do not say.
	Commits int           `json:"commits"`
	Before  *metric.Value `json:"previous_metric"`
	Now     *metric.Value `json:"metric"`
	// Merged says that nothing is left to merge.
	Merged bool `json:"merged"`
	// Flagged says of gains what a person should look at.
	Flagged []string `json:"flagged,omitempty"`
	// Conflicts are files that both changed so that they do not merge, and unsaved ones:
	// those that the branch changes and that the checkout has changed without a commit.
	Conflicts []string `json:"conflicts,omitempty"`

	// obstacle is the error of a branch that cannot be merged as things stand.
	obstacle error
	// base is the commit that both have.
	base string
	// unmeasured reports that the branch's last commit is not the one that the records
	// have numbers of: something was undone, waits for CI, or came from a person.
	unmeasured bool
}

// String is what there is to gain, such as "446 → 432 in 2 commits".
func (k *keptWork) String() string {
	commits := render.Count(k.Commits, "commit", "commits")
	switch {
	case k.unmeasured:
		return commits + ", not all of them measured and kept yet"
	case k.Before == nil || k.Now == nil:
		return commits
	}
	return fmt.Sprintf("%s → %s in %s", render.Figure(k.Before, k.Now), render.Figure(k.Now, k.Before), commits)
}

func listed(paths []string) string {
	shown := make([]string, len(paths))
	for i, path := range paths {
		shown[i] = plain.Line(path)
	}
	return render.Few(shown)
}

// kept compares the program's branch with the branch that is checked out.
func (a *App) kept(ctx context.Context) (*keptWork, error) {
	k := &keptWork{Program: a.Program, Branch: loop.BranchPrefix + a.Program}
	head, found, err := a.Repo.Resolve(ctx, "refs/heads/"+k.Branch)
	if err != nil {
		return k, err
	}
	if !found {
		return k, misuse.Errorf("there is no branch %s%s", k.Branch,
			cmp.Or(a.meant(ctx, k.Program), fmt.Sprintf(": nothing of program %q was kept yet", k.Program)))
	}
	k.Commit = head
	here, err := a.Repo.Head(ctx)
	if err != nil {
		return k, err
	}
	base, related, err := a.Repo.MergeBase(ctx, here, head)
	if err != nil {
		return k, err
	}
	if !related {
		return k, fmt.Errorf("branch %s has no history in common with what is checked out", k.Branch)
	}
	if k.base, k.Merged = base, base == head; k.Merged {
		return k, nil
	}
	return k, errors.Join(k.count(ctx, a), k.obstacles(ctx, a.Repo, here))
}

// count adds what the records say of the commits that are not merged yet.
func (k *keptWork) count(ctx context.Context, a *App) error {
	commits, err := a.Repo.Log(ctx, 0, k.Commit, "^"+k.base)
	if err != nil {
		return err
	}
	files, _, err := a.Memory.Read(ctx, k.Program)
	if err != nil {
		return err
	}
	log := files.Ledger.Copy()
	undone := map[int]bool{}
	for _, e := range log.Events {
		undone[history.UndoneBy(e)] = true
	}
	for _, e := range history.Of[*history.Decided](log.Events) {
		if undone[e.Iteration] || e.Outcome != history.Accepted ||
			!slices.ContainsFunc(commits, func(c git.Commit) bool { return c.ID == e.Commit }) {
			continue
		}
		if k.Commits == 0 {
			k.Before = e.PreviousBest
		}
		k.Commits++
		if len(e.Warning) > 0 {
			k.Flagged = append(k.Flagged, plain.Line(fmt.Sprintf("iteration %d is flagged: %s", e.Iteration,
				decision.Joined(e.Warning))))
		}
	}
	if k.Commits == 0 {
		k.Commits = len(commits)
		return nil
	}
	past := history.Replay(log.Events)
	if k.Now = past.Best; past.Incumbent != k.Commit || past.Unmeasured() {
		k.Commits, k.unmeasured = len(commits), true
	}
	return nil
}

// obstacles finds what keeps the branch from being merged into a commit, and
// into the checkout.
func (k *keptWork) obstacles(ctx context.Context, repo *git.Repo, here string) (err error) {
	if _, k.Conflicts, err = repo.MergeTree(ctx, here, k.Commit); err != nil {
		return err
	}
	changes, err := repo.Changes(ctx, k.base, k.Commit)
	if err != nil {
		return err
	}
	uncommitted, err := repo.Uncommitted(ctx)
	var unsaved []string
	for _, file := range uncommitted {
		if slices.ContainsFunc(changes, func(c git.DiffEntry) bool { return c.Path == file.Path }) {
			unsaved = append(unsaved, file.Path)
		}
	}
	switch {
	case len(k.Conflicts) > 0:
		k.obstacle = fmt.Errorf("%s does not merge into what is checked out, both changed %s: run `git merge %[1]s`, "+
			"resolve it and commit", k.Branch, listed(k.Conflicts))
	case len(unsaved) > 0:
		k.obstacle = fmt.Errorf("%s changes %s, which you have changed and not committed: commit or stash that first",
			k.Branch, listed(unsaved))
	}
	k.Conflicts = append(k.Conflicts, unsaved...)
	return err
}
