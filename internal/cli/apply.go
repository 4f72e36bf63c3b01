package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill"
)

func (a *App) newApplyCommand() *cobra.Command {
	var change skillChange
	cmd := &cobra.Command{
		Use:   "apply PROGRAM|WORKSPACE",
		Short: "Take over what was kept: merge a program's branch, or make a skill its best version",
		Long: `Show what the program branch changes and what was gained, ask, and merge it into the branch that is
checked out. Where both changed the same lines the files are named, and nothing is merged.

With the workspace of a skill show the report and the diff, ask, and make the skill exactly that
version. When the skill changed since v0 nothing is applied, unless --merge can join both without a
conflict. Without a terminal to ask on, nothing is changed unless --yes is given.`,
		Example: "  iterate apply speed\n  iterate apply speed --yes\n" +
			"  iterate apply skills/release-notes-autoresearch --version 2 --yes",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.isSuite(cmd.Context(), args[0]) {
				return a.changeSkill(cmd.Context(), args[0], change, (*skill.Versions).Apply)
			}
			if err := onlyFor("workspaces of skills", cmd, "version", "merge", "skill"); err != nil {
				return err
			}
			a.Program = args[0]
			return asObject(a, func() (*keptWork, error) { return a.apply(cmd.Context()) })
		},
	}
	flags := cmd.Flags()
	a.yesFlag(cmd, "do it without asking")
	flags.IntVar(&change.Version, "version", skill.BestVersion, "the version of the skill (default: the best)")
	flags.Lookup("version").DefValue = "0" // the words have it
	flags.BoolVar(&change.Merge, "merge", false, "join the version with what was changed in the skill since v0")
	flags.StringVar(&change.dir, "skill", "", "the skill's directory (default: as the workspace says)")
	a.jsonFlag(cmd)
	a.repositoryFlags(cmd)
	return cmd
}

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
	// Conflicts are files that both changed so that they do not merge, and those that the
	// branch changes and that the checkout has changed without a commit.
	Conflicts []string `json:"conflicts,omitempty"`
}

// apply merges a program's branch into the one that is checked out, after showing and asking.
func (a *App) apply(ctx context.Context) (*keptWork, error) {
	a.Local = true // what is merged is the branch that is here
	if err := a.open(ctx); err != nil {
		return nil, err
	}
	k := &keptWork{Program: a.Program, Branch: loop.BranchPrefix + a.Program}
	head, found, err := a.Repo.Resolve(ctx, "refs/heads/"+k.Branch)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, misuse.Errorf("there is no branch %s%s", k.Branch,
			cmp.Or(a.meant(ctx, k.Program), fmt.Sprintf(": nothing of program %q was kept yet", k.Program)))
	}
	k.Commit = head
	here, err := a.Repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	base, related, err := a.Repo.MergeBase(ctx, here, head)
	if err != nil {
		return nil, err
	}
	if !related {
		return nil, fmt.Errorf("branch %s has no history in common with what is checked out", k.Branch)
	}
	if k.Merged = base == head; k.Merged {
		fmt.Fprintf(a.Stdout, "%s is merged already\n", k.Branch)
		return k, nil
	}
	gains, err := a.gains(ctx, k, base)
	if err != nil {
		return nil, err
	}
	patch, err := a.Repo.Diff(ctx, base, head)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(a.Stdout, "%s%s\n", render.Pictured(string(patch)), gains) // in which nothing can hide a line
	for _, flag := range k.Flagged {
		fmt.Fprintln(a.Stdout, "!", flag)
	}
	if err := a.mergeable(ctx, k, here, base); err != nil {
		return k, err
	}
	if !a.Yes {
		agreed, err := a.agree(ctx, fmt.Sprintf("merge %s? [y/n] ", k.Branch))
		if err != nil || !agreed {
			fmt.Fprintln(a.Stdout, "nothing was merged")
			return k, err
		}
	}
	if err := a.Repo.MergeInto(ctx, a.Environ, k.Branch, fmt.Sprintf("Merge branch '%s'", k.Branch)); err != nil {
		return nil, fmt.Errorf("%w; nothing is lost: see `git status`", err)
	}
	fmt.Fprintf(a.Stdout, "%s is merged\n", k.Branch)
	k.Merged = true
	return k, nil
}

// gains adds what the records say of the commits that are not merged yet, and returns what
// there is to gain, such as "446 → 432 in 2 commits".
func (a *App) gains(ctx context.Context, k *keptWork, base string) (string, error) {
	commits, err := a.Repo.Log(ctx, k.Commit, "^"+base)
	if err != nil {
		return "", err
	}
	files, _, err := a.Memory.Read(ctx, k.Program)
	if err != nil {
		return "", err
	}
	past := history.Replay(files.Ledger.Copy().Events)
	for _, e := range past.Attempts {
		if e.Outcome != history.Accepted ||
			!slices.ContainsFunc(commits, func(c git.Commit) bool { return c.ID == e.Commit }) {
			continue
		}
		if k.Commits++; k.Commits == 1 {
			k.Before = e.PreviousBest
		}
		if len(e.Warning) > 0 {
			k.Flagged = append(k.Flagged, plain.Line(fmt.Sprintf("iteration %d is flagged: %s", e.Iteration,
				decision.Joined(e.Warning))))
		}
	}
	recorded := k.Commits > 0
	if recorded {
		k.Now = past.Best
	}
	// The branch's last commit need not be the one that the records have numbers of: something was
	// undone, waits for CI, or came from a person.
	measured := recorded && past.Incumbent == k.Commit && !past.Unmeasured()
	if !measured {
		k.Commits = len(commits)
	}
	text := render.Count(k.Commits, "commit")
	switch {
	case recorded && !measured:
		text += ", not all of them measured and kept yet"
	case k.Before != nil && k.Now != nil:
		text = fmt.Sprintf("%s → %s in %s", render.Figure(k.Before, k.Now), render.Figure(k.Now, k.Before), text)
	}
	return text, nil
}

// mergeable finds what keeps the branch from being merged into a commit, and into the
// checkout.
func (a *App) mergeable(ctx context.Context, k *keptWork, here, base string) (err error) {
	if _, k.Conflicts, err = a.Repo.MergeTree(ctx, here, k.Commit); err != nil {
		return err
	}
	if len(k.Conflicts) > 0 {
		return fmt.Errorf("%s does not merge into what is checked out, both changed %s: run `git merge %[1]s`, "+
			"resolve it and commit", k.Branch, plain.Paths(k.Conflicts, maxListed))
	}
	changes, err := a.Repo.Changes(ctx, base, k.Commit)
	if err != nil || len(changes) == 0 {
		return err
	}
	unsaved, err := a.Repo.Uncommitted(ctx, git.Paths(changes)...)
	for _, file := range unsaved {
		k.Conflicts = append(k.Conflicts, file.Path)
	}
	if len(unsaved) > 0 {
		err = fmt.Errorf("%s changes %s, which you have changed and not committed: commit or stash that first",
			k.Branch, plain.Paths(k.Conflicts, maxListed))
	}
	return err
}

// maxListed bounds the files of a list that people read.
const maxListed = 12

var errNoTerminal = misuse.Errorf("there is no terminal to ask on: use --yes")

// ask asks on the terminal; anything but yes is no. The error is errNoTerminal, or the
// end of ctx, for which nobody has to press enter.
func (a *App) ask(ctx context.Context, question string) (bool, error) {
	if !a.Terminal {
		return false, errNoTerminal
	}
	fmt.Fprint(a.Stdout, question)
	said := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(a.Stdin).ReadString('\n')
		said <- strings.ToLower(strings.TrimSpace(answer))
	}()
	select {
	case answer := <-said:
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(a.Stdout)
		return false, context.Cause(ctx)
	}
}

// agree is ask where what is asked about was shown, so that no terminal is no mistake.
func (a *App) agree(ctx context.Context, question string) (bool, error) {
	agreed, err := a.ask(ctx, question)
	if errors.Is(err, errNoTerminal) {
		fmt.Fprintln(a.Stderr, err)
		return false, nil
	}
	return agreed, err
}
