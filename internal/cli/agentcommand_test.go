package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAgentCommandOfTheFlag: the command of the flag proposes, for a program that
// names nobody and for one with a command of its own.
func TestAgentCommandOfTheFlag(t *testing.T) {
	t.Parallel()
	for name, front := range map[string]string{
		"nobody": "", "the tuner": "agent: tuner\n",
		"another": "agent: command\nagent-command: echo 4 > value.txt\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.file(".autoloop/programs/p.md",
				"---\n"+front+"evaluation-runs: 1\nisolation: off\n---\n"+goodTarget+
					"\n## Evaluation\n```sh\ncat value.txt\n```\n")
			s.file("value.txt", "5\n")
			s.commit()
			a := s.iterate("--program", "p", "--agent-command", "echo 6 > value.txt", "--json")
			require.Equal(t, 0, a.code, a.errors)
			assert.Contains(t, a.out, `"outcome": "accepted"`)
			assert.Contains(t, a.out, `"agent": "command"`)
		})
	}
}
