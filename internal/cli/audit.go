package cli

import (
	"context"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/loop"
)

// Audit computes the decisions of a program again, and holds the other records
// against them; memory.ErrNoRecords when it has none. Signatures count where known
// says whose.
func (d *dependencies) Audit(ctx context.Context, name string, known *memory.Signers) (audit.Report, error) {
	asked, err := d.askedRules(ctx, name)
	if err != nil {
		return audit.Report{}, err
	}
	auditor := audit.New(asked)
	records, err := d.Memory.Records(ctx, auditor, name, loop.BranchPrefix+name, known)
	if err != nil {
		return audit.Report{}, err
	}
	return auditor.Report(records), nil
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
