package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// several is a program with as many proposals as the front says; each runs the
// shell script SIDE/propose with the numbers of the iteration and its own. Every
// evaluation leaves a line beside the repository.
const several = `---
%s
metric: m
evaluation-runs: 1
agent-command: sh "$SIDE/propose" "$AUTOLOOP_ITERATION" "$AUTOLOOP_PROPOSAL"
env: [SIDE]
---
## Goal
Move the number.
## Target
- ` + "`value.txt`" + `
## Evaluation
` + "```sh" + `
cat value.txt >> "$SIDE/measured"
printf '{"m": %%s}\n' "$(cat value.txt)"
` + "```" + `
`

func severalWorld(t *testing.T, front, propose string) *world {
	t.Helper()
	w := newWorld(t, map[string]string{
		".autoloop/programs/p.md": fmt.Sprintf(several, front), "value.txt": "1\n",
		"other.txt": "x\n",
	})
	require.NoError(t, os.WriteFile(filepath.Join(w.side, "propose"), []byte(propose), 0o600))
	return w
}
