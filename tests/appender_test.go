package tests

import (
	"fmt"
	"os"
	"time"

	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/skill/workspace"
)

// appends is the variable that makes this test binary append a row to the table
// of a workspace and end.
const appends = "AUTOLOOP_TEST_APPENDS"

// appendRow is that process.
func appendRow(dir string) int {
	w, err := workspace.OpenWorkspace(dir)
	if err == nil {
		value := metric.MustValue("0.75")
		err = w.Append(results.Row{
			Iteration: 1, Time: time.Unix(1_700_000_000, 0), Score: &value, Action: results.Kept,
			Changelog: "say more",
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
