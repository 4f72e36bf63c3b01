package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestExitCodesOfIterations: a decision is 0, whatever it is; unchanged files
// that cannot be measured are 1, and other errors with --fail-on error.
func TestExitCodesOfIterations(t *testing.T) {
	t.Parallel()
	const measured, strict = "cat value.txt", "--fail-on error"
	for name, c := range map[string]struct {
		agent, script, args string
		code                int
		says                string
	}{
		"kept":     {"echo 6 > value.txt", measured, strict, 0, ""},
		"rejected": {"echo 4 > value.txt", measured, strict, 0, ""},
		"an error": {"exit 3", measured, "", 0, ""},
		"an error that counts": {
			"exit 3", measured, strict, 1, "1 of p ended in an error: agent command",
		},
		"no baseline": {
			"true", "exit 9", "", 1, "evaluation fails on the unchanged files",
		},
		"no baseline in a dry run": {"true", "exit 9", "--dry-run", 1, "p cannot be measured"},
		"no such outcome":          {"exit 3", measured, "--fail-on rejected", 2, "--fail-on rejected: give error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.file(".autoloop/programs/p.md",
				"---\nagent: command\nagent-command: "+c.agent+"\nevaluation-runs: 1\nisolation: off\n---\n"+goodTarget+
					"\n## Evaluation\n```sh\n"+c.script+"\n```\n")
			s.file("value.txt", "5\n")
			s.commit()
			a := s.iterate(append(strings.Fields(c.args), "--program", "p")...)
			assert.Equal(t, c.code, a.code, a.out+a.errors)
			assert.Contains(t, a.errors, c.says)
		})
	}
}
