package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/app"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop"
)

func newReplayCommand(env Env, o *iterateOptions) *cobra.Command {
	var asJSON bool
	var remote string
	cmd := &cobra.Command{
		Use:   "replay [PROGRAM]",
		Short: "Compute every decision again from the ledger, and say where the books disagree",
		Long: "Compute every decision of a program again from the measurements in its ledger alone, and hold the\n" +
			"state, the table of results and the commits of the program branch against it. Nothing is run and\n" +
			"nothing is written. Without a name every program that has books is replayed.\n\n" +
			"The exit code is 1 when anything disagrees.",
		Example: "  iterate replay speed\n  iterate replay --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := *o
			o.Remote = remote
			return replay(cmd.Context(), env, o, args, asJSON)
		},
	}
	cmd.Flags().StringVar(&remote, "remote", "", "the git remote that the books are shared with, such as origin")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object for each program")
	return cmd
}

// errDisagree is the verdict of a replay that found something; it was printed.
var errDisagree = errors.New("the books disagree with the ledger's measurements")

func replay(ctx context.Context, env Env, o iterateOptions, names []string, asJSON bool) error {
	deps, err := app.Open(ctx, env, o.Options)
	if err != nil {
		return err
	}
	repo, books := deps.Repo, deps.Memory
	if len(names) == 0 {
		states, _, err := books.States(ctx)
		if err != nil {
			return err
		}
		for name := range states {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	reports := map[string]audit.Report{}
	found := 0
	for _, name := range names {
		records, err := readRecords(ctx, repo, books, name)
		if err != nil {
			return err
		}
		reports[name] = audit.Audit(decision.Known(), records)
		found += len(reports[name].Findings)
	}
	if err := printReplay(env, names, reports, asJSON); err != nil {
		return err
	}
	if found > 0 {
		return errDisagree
	}
	return nil
}

// readRecords reads all that a program's audit needs.
func readRecords(ctx context.Context, repo *git.Repo, books *memory.Memory, name string) (audit.Records, error) {
	files, _, err := books.Read(ctx, name)
	if err != nil {
		return audit.Records{}, err
	}
	if files.State == nil && files.Ledger == nil {
		return audit.Records{}, Usagef("program %q has no books yet: run `iterate --program %s` first", name, name)
	}
	log, err := history.Parse(files.Ledger)
	if err != nil {
		return audit.Records{}, fmt.Errorf("read %s.jsonl on the memory branch: %w", name, err)
	}
	table, err := results.Parse(files.Results)
	if err != nil {
		return audit.Records{}, fmt.Errorf("read %s.results.tsv on the memory branch: %w", name, err)
	}
	doc, err := state.Parse(files.State)
	if err != nil {
		return audit.Records{}, fmt.Errorf("read %s.md on the memory branch: %w", name, err)
	}
	records := audit.Records{Events: log.Events, Machine: doc.Machine(), Rows: table.Rows()}
	records.Head, err = books.HeadOf(ctx, "refs/heads/"+loop.BranchPrefix+name)
	if err != nil {
		return records, err
	}
	tips, from := branchTips(records)
	if tips, err = obtain(ctx, repo, books.Remote, tips); err != nil {
		return records, err
	}
	records.Commits, err = keptCommits(ctx, repo, name, tips, from)
	return records, err
}

// history selects the commits since the program's first baseline, on its
// branch and on the default branch.
func branchTips(records audit.Records) (tips []string, from string) {
	if records.Head != "" {
		tips = append(tips, records.Head)
	}
	base := ""
	for _, e := range records.Events {
		if e.Kind == history.Measured && e.Role == history.Baseline && e.BaseBranch != "" {
			base = e.BaseBranch
			if from == "" {
				from = e.Commit
			}
		}
	}
	if base != "" {
		tips = append(tips, "refs/heads/"+base)
	}
	return tips, from
}

// obtain makes the commits of a shared program be here: those of its branch
// and, where the remote has moved on, of the default branch.
func obtain(ctx context.Context, repo *git.Repo, remote string, tips []string) ([]string, error) {
	if remote == "" {
		return tips, nil
	}
	for i, tip := range tips {
		refs, err := repo.LsRemote(ctx, remote, tip)
		if err != nil {
			return nil, err
		}
		commit, shared := refs[tip]
		if !shared {
			continue
		}
		if _, here, err := repo.Resolve(ctx, commit); err == nil && !here {
			if err := repo.Fetch(ctx, remote, tip); err != nil {
				return nil, err
			}
		}
		tips[i] = commit
	}
	return tips, nil
}

// keptCommits lists the commits that say that this program kept them.
func keptCommits(ctx context.Context, repo *git.Repo, name string, tips []string, from string) ([]audit.Commit, error) {
	var revs []string
	for _, tip := range tips {
		if commit, found, err := repo.Resolve(ctx, tip); err == nil && found {
			revs = append(revs, commit)
		}
	}
	if len(revs) == 0 {
		return nil, nil
	}
	if _, found, err := repo.Resolve(ctx, from); from != "" && err == nil && found {
		revs = append(revs, "^"+from)
	}
	log, err := repo.Log(ctx, 0, revs...)
	if err != nil {
		return nil, err
	}
	var kept []audit.Commit
	for _, commit := range log {
		trailers := commit.Trailers()
		if strings.HasPrefix(commit.Subject(), "[Autoloop: "+name+"] ") && trailers["Autoloop-Iteration"] != "" {
			kept = append(kept, audit.Commit{ID: commit.ID, Iteration: trailers["Autoloop-Iteration"], Metric: trailers["Autoloop-Metric"]})
		}
	}
	return kept, nil
}

func printReplay(env Env, names []string, reports map[string]audit.Report, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(reports)
	}
	if len(names) == 0 {
		fmt.Fprintln(env.Stdout, "no program has books yet")
	}
	for _, name := range names {
		report := reports[name]
		fmt.Fprintf(env.Stdout, "%s: %d iterations, %d decisions computed again", name, report.Decisions, report.Repeated)
		if report.Old > 0 {
			fmt.Fprintf(env.Stdout, ", %d from before rules were recorded", report.Old)
		}
		if len(report.Findings) == 0 {
			fmt.Fprintln(env.Stdout, ": the books agree")
			continue
		}
		fmt.Fprintf(env.Stdout, ": %d disagreements\n", len(report.Findings))
		for _, finding := range report.Findings {
			fmt.Fprintf(env.Stdout, "  %s, iteration %d: %s\n", finding.Where, finding.Iteration, finding.Message)
		}
	}
	return nil
}
