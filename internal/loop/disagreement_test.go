package loop

import (
	"slices"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
)

// auditOf is what an audit finds in the ledger.
func auditOf(events []history.Event) []audit.Finding {
	return slices.DeleteFunc(audit.Of(audit.Records{Events: events}, nil).Findings,
		func(f audit.Finding) bool { return f.Where != audit.Ledger })
}
