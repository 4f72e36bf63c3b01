package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzWhatValidateCallsFine holds that iterate does not refuse what validate
// calls fine. The agent is named on the command line: whether one is installed
// is not the program's matter.
func FuzzWhatValidateCallsFine(f *testing.F) {
	for _, seed := range []string{
		goodTarget + evaluation,
		"---\nmetric_direction: lower\nci-gate: required\n---\n" + goodTarget + evaluation,
		"## Target\nThe `speed` of it and `value.txt`\n" + evaluation,
		"## Target\n- `value.txt`\n\nHelpers\n\n- `b.go`\n" + evaluation,
		"## Target\n- `*.txt`\n\nDo NOT modify `value.txt`\n" + evaluation,
		"Maximise `m`. Lower is better.\n" + goodTarget + evaluation,
		"## Target\nNobody may change:\n- `b.go`\n\nYou may modify:\n- `value.txt`\n" + evaluation,
		"## Target\n| file | may change |\n|---|---|\n| `value.txt` | yes |\n| `b.go` | no |\n" + evaluation,
		"## Target\n`value.txt`, not `b.go`. The rest is `eval.sh`. Do not modify it.\n" + evaluation,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := newRepository(t)
		s.file(".autoloop/programs/p.md", text)
		s.file("value.txt", "5\n")
		s.commit()
		var list []struct{ OK bool }
		require.NoError(t, json.Unmarshal([]byte(s.iterate("validate", "--json").out), &list))
		if !list[0].OK {
			return
		}
		a := s.iterate("--program", "p", "--dry-run", "--agent", "tuner")
		if a.code == 2 {
			require.Contains(t, a.errors, "tune", text) // the agent, not the program
		}
	})
}
