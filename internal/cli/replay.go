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
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
)

func newReplayCommand(env Env, o *iterateOptions) *cobra.Command {
	var asJSON bool
	var sign string
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
			return replay(cmd.Context(), env, o.Options, args, sign, asJSON)
		},
	}
	sharedFlags(cmd.Flags(), &o.Options)
	cmd.Flags().StringVar(&sign, "sign", "",
		"hold every commit against the keys of this allowed-signers file of SSH, or with `gpg` those that your "+
			"keyring trusts")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an object for each program")
	return cmd
}

// errDisagree is the verdict of a replay that found something; it was printed.
var errDisagree = errors.New("the records disagree with the ledger's measurements")

// signers reads --sign; nil is that signatures do not count.
func signers(env Env, sign string) (*memory.Signers, error) {
	switch sign {
	case "":
		return nil, nil
	case "gpg":
		return &memory.Signers{How: git.OpenPGP}, nil
	}
	file := env.Path(sign)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil, misuse.Errorf("--sign %s: give an allowed-signers file, or gpg", sign)
	}
	return &memory.Signers{How: git.SSH, Allowed: file}, nil
}

func replay(ctx context.Context, env Env, o Options, names []string, sign string, asJSON bool) error {
	known, err := signers(env, sign)
	if err != nil {
		return err
	}
	deps, err := openDeps(ctx, env, o)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		states, err := deps.Memory.States(ctx)
		if err != nil {
			return err
		}
		names = slices.Sorted(maps.Keys(states))
	}
	reports := map[string]audit.Report{}
	found := 0
	for i, word := range names {
		name := deps.NameOf(word)
		names[i] = name
		reports[name], err = deps.Audit(ctx, name, known)
		if errors.Is(err, memory.ErrNoRecords) {
			return deps.noHistory(ctx, name)
		}
		if err != nil {
			return err
		}
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

func printReplay(env Env, names []string, reports map[string]audit.Report, asJSON bool) error {
	if asJSON {
		return printJSON(env, reports)
	}
	if len(names) == 0 {
		fmt.Fprintln(env.Stdout, "no program has records yet")
	}
	for _, name := range names {
		report := reports[name]
		fmt.Fprintf(env.Stdout, "%s: %s", name, &report)
	}
	return nil
}

// Audit computes the decisions of a program again, and holds the other records
// against them; memory.ErrNoRecords when it has none. Signatures count where known
// says whose.
func (d *dependencies) Audit(ctx context.Context, name string, known *memory.Signers) (audit.Report, error) {
	asked, err := d.askedRules(ctx, name)
	if err != nil {
		return audit.Report{}, err
	}
	records, err := d.Memory.Records(ctx, name, loop.BranchPrefix+name, known)
	if err != nil {
		return audit.Report{}, err
	}
	return audit.Of(records, asked), nil
}

// askedRules are the rules that the versions of a program's file ask for. Programs
// that are issues have no file.
func (d *dependencies) askedRules(ctx context.Context, name string) ([]decision.Rule, error) {
	revs := []string{"HEAD", "refs/heads/" + loop.BranchPrefix + name}
	if d.Options.Base != "" {
		revs = append(revs, d.Options.Base)
	}
	versions, err := d.Source().Versions(ctx, d.Memory, name, revs...)
	if err != nil {
		return nil, err
	}
	var rules []decision.Rule
	for _, p := range versions {
		rules = append(rules, loop.AskedRule(p))
	}
	return rules, nil
}
