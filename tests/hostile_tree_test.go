package tests

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAnAgentDestroysItsTree: whatever it does to its own directories is on record
// as that iteration's, and the next one goes on.
func TestAnAgentDestroysItsTree(t *testing.T) {
	for name, script := range map[string]string{
		"removes its tree":       `rm -rf "$PWD"`,
		"a file in its place":    `d=$PWD; cd /; rm -rf "$d"; echo x > "$d"`,
		"a link in its place":    `d=$PWD; cd /; rm -rf "$d"; ln -s /etc "$d"`,
		"cannot be read":         `chmod 000 src; chmod 000 .`,
		"its home is gone":       `rm -rf "$HOME" "$TMPDIR"; echo 4 > src/value.txt`,
		"its parent is gone":     `d=$(dirname "$PWD"); cd /; rm -rf "$d"`,
		"its parent is a file":   `d=$(dirname "$PWD"); cd /; rm -rf "$d"; echo x > "$d"`,
		"its repository is gone": `rm -rf .git; echo 4 > src/value.txt`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := agentWorld(t, `[ -e "$SIDE/again" ] && { echo 3 > src/value.txt; exit; }; touch "$SIDE/again"; `+script)
			a := w.binary("iterate", "--program", "p", "--json")
			assert.Zero(t, a.code, a.stderr)
			if assert.Equal(t, 1, w.count("decided"), "it is on record") && strings.Contains(script, "rm -rf \"$d\"") {
				first := w.decode(a.stdout)[0]
				assert.Equal(t, "error", first.Outcome)
				assert.Contains(t, strings.Join(first.Reasons, "\n"), "the agent left nothing to look at: its tree is ")
			}
			got := w.one()
			assert.Equal(t, "accepted", got.Outcome, got.Reasons)
			assert.Empty(t, got.Warnings)
		})
	}
}
