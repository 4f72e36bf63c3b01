package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/loop"
)

func (a *App) newReplayCommand() *cobra.Command {
	var known *memory.Signers
	cmd := &cobra.Command{
		Use:   "replay [PROGRAM]",
		Short: "Compute every decision again from the ledger, and say where the records disagree",
		Long: `Compute every decision of a program again from the measurements in its ledger alone, and hold the
state, the table of results, the commits of the program branch, the history of the memory branch and
the rules of the program file against it. Nothing is run and nothing is written.

The exit code is 1 when anything disagrees.`,
		Example: "  iterate replay speed\n  iterate replay --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.replay(cmd.Context(), args, known)
		},
	}
	a.sharedFlags(cmd)
	parsed(cmd, &known, "sign", "hold every commit against the keys of this allowed-signers `FILE` of SSH, or with gpg "+
		"those that your keyring trusts", a.signers)
	a.jsonFlag(cmd)
	return cmd
}

// signers reads --sign.
func (a *App) signers(sign string) (*memory.Signers, error) {
	if sign == "gpg" {
		return &memory.Signers{How: git.OpenPGP}, nil
	}
	file := a.Path(sign)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("give an allowed-signers file, or gpg")
	}
	return &memory.Signers{How: git.SSH, Allowed: file}, nil
}

// replay computes the decisions of programs again, no names are all, and holds the other
// records against them. Signatures count where known says whose.
func (a *App) replay(ctx context.Context, names []string, known *memory.Signers) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	text := ""
	if len(names) == 0 {
		states, err := a.Memory.States(ctx)
		if err != nil {
			return err
		}
		if names = slices.Sorted(maps.Keys(states)); len(names) == 0 {
			text = "no program has records yet\n"
		}
	}
	reports, found := map[string]audit.Report{}, 0
	for _, word := range names {
		name := a.nameOf(word)
		asked, err := a.askedRules(ctx, name)
		if err != nil {
			return err
		}
		records, err := a.Memory.Records(ctx, name, loop.BranchPrefix+name, known)
		if errors.Is(err, memory.ErrNoRecords) {
			return a.noHistory(ctx, name)
		}
		if err != nil {
			return err
		}
		report := audit.Of(records, asked)
		reports[name] = report
		text += fmt.Sprintf("%s: %s", name, &report)
		found += len(report.Findings)
	}
	if err := a.print(reports, text); err != nil || found == 0 {
		return err
	}
	return errors.New("the records disagree with the ledger's measurements")
}

// askedRules are the rules that the versions of a program's file ask for. Programs
// that are issues have no file.
func (a *App) askedRules(ctx context.Context, name string) ([]decision.Rule, error) {
	revs := []string{"HEAD", "refs/heads/" + loop.BranchPrefix + name}
	if a.Base != "" {
		revs = append(revs, a.Base)
	}
	versions, err := a.source().Versions(ctx, a.Repo, name, revs...)
	if err != nil {
		return nil, err
	}
	return lists.Map(versions, loop.AskedRule), nil
}
