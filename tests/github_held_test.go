package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// TestAHeldGainIsSaidEverywhere: a gain that was held is kept with what was found, in
// the terminal, the state, the pull request and on the page; one whose number does not
// depend on the files is rejected there. The records replay.
func TestAHeldGainIsSaidEverywhere(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	for _, two := range []bool{false, true} {
		t.Run(fmt.Sprintf("two jobs: %t", two), func(t *testing.T) {
			t.Parallel()
			h := newHubIn(t, two, map[string]string{"value.txt": "500\n"}, "40", "broken")
			// What is not one number counts as 1: an error that the evaluation swallows.
			h.program(strings.Replace(onIssue, `printf '{"m": %s}\n' "$(cat value.txt)"`,
				`if [ "$(wc -l < value.txt)" = 1 ] && grep -qx '[0-9]*' value.txt; then cat value.txt; else echo 1; fi`, 1))
			const held = "500 → 40 is a jump beyond 10 times; with the changed files emptied the evaluation notices: " +
				"it gives 1"
			first := h.one()
			require.Equal(t, "accepted", first.Outcome, "%v", first.Reasons)
			assert.Contains(t, strings.Join(first.Reasons, "\n"), held)
			assert.Contains(t, h.remembered("p.md"), held)
			assert.Contains(t, h.pullBody(), "flagged: 500 → 40 is a jump beyond 10 times; with")

			const broken = "the number does not depend on what was measured: with a syntax error in the changed " +
				"files the evaluation gives 1 as well"
			second := h.one()
			require.Equal(t, "rejected", second.Outcome, "%v", second.Reasons)
			assert.Equal(t, broken, second.Reasons[0])
			assert.Contains(t, h.remembered("p.md"), broken)
			assert.Contains(t, h.remembered("p.md"), "40 → 1 is a jump beyond 10 times, so it was held")

			replayed := h.binary("iterate", "replay", "p", "--remote", "origin")
			assert.Zero(t, replayed.code, replayed.stdout+replayed.stderr)
			assert.Contains(t, replayed.stdout, "2 decisions computed again: the records agree")
			page := h.binary("iterate", "page", "--out", "autoloop.html", "--remote", "origin")
			require.Zero(t, page.code, page.stderr)
			assert.Contains(t, h.read("autoloop.html"), "500 → 40 is a jump beyond 10 times; with")
			assert.Contains(t, h.read("autoloop.html"), ">flagged<")
			assert.Contains(t, h.read("autoloop.html"), broken)
		})
	}
}
