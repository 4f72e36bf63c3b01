package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestExitCodesOfIterations: a decision is 0, whatever it is; unchanged files
// that cannot be measured are 1, and other errors with --fail-on error.
func TestExitCodesOfIterations(t *testing.T) {
	t.Parallel()
	const measured = "cat value.txt"
	for name, c := range map[string]struct {
		agent, script string
		args          []string
		code          int
		says          string
	}{
		"kept":     {"echo 6 > value.txt", measured, []string{"--fail-on", "error"}, 0, ""},
		"rejected": {"echo 4 > value.txt", measured, []string{"--fail-on", "error"}, 0, ""},
		"an error": {"exit 3", measured, nil, 0, ""},
		"an error that counts": {
			"exit 3", measured,
			[]string{"--fail-on", "error"},
			1,
			"iterate: iteration 1 of p ended in an error: agent command failed",
		},
		"no baseline": {
			"echo 6 > value.txt", "exit 9", nil, 1,
			"iterate: p cannot be measured: the evaluation fails on the unchanged files",
		},
		"no baseline in a dry run": {"echo 6 > value.txt", "exit 9", []string{"--dry-run"}, 1, "p cannot be measured"},
		"no such outcome": {
			"exit 3", measured,
			[]string{"--fail-on", "rejected"},
			2,
			"--fail-on rejected: give error",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.file(".autoloop/programs/p.md",
				"---\nagent: command\nagent-command: "+c.agent+"\nevaluation-runs: 1\nisolation: off\n---\n"+goodTarget+
					"\n## Evaluation\n```sh\n"+c.script+"\n```\n")
			s.file("value.txt", "5\n")
			s.commit()
			a := s.iterate(append([]string{"--program", "p"}, c.args...)...)
			assert.Equal(t, c.code, a.code, a.out+a.errors)
			assert.Contains(t, a.errors, c.says)
		})
	}
}
