package audit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/audit"
)

func TestReportInWords(t *testing.T) {
	t.Parallel()
	for says, r := range map[string]*audit.Report{
		"3 iterations, 2 decisions computed again: the records agree\n": {Decisions: 3, Repeated: 2},
		"3 iterations, 2 decisions computed again: 1 disagreements\n" +
			"  state, iteration 2: odd\n": {
			Decisions: 3, Repeated: 2,
			Findings: []audit.Finding{{Where: "state", Iteration: 2, Message: "odd"}},
		},
	} {
		assert.Equal(t, says, r.String())
	}
}
