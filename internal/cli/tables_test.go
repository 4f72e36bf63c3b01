package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoisyTableHasTrialsIncumbent, which is not the best on record.
func TestNoisyTableHasTrialsIncumbent(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.file(".autoloop/programs/p.md",
		"---\nagent: command\nagent-command: echo 100 > value.txt\nevaluation-runs: 4\nisolation: off\n---\n"+
			goodTarget+
			"\n## Evaluation\n```sh\necho $(( $(cat value.txt) + $(date +%N | cut -c8) ))\n```\n")
	s.file("value.txt", "50\n")
	s.commit()
	a := s.iterate("--program", "p")
	require.Zero(t, a.code, a.errors)
	lines := strings.Split(a.out, "\n")
	header, row := strings.Fields(lines[0]), strings.Fields(lines[1])
	require.Equal(t, []string{"iteration", "outcome", "metric", "incumbent", "delta", "best", "time", "why"}, header)
	assert.Regexp(t, `^5[0-9](\.5)?$`, row[3])
}
