package tests

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

func TestATokenThatIsPrintedIsMasked(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "11")
	h.aside("leak", hubToken)
	body := strings.Replace(onIssue, "printf",
		"cat \"$SIDE/leak\" >&2; cat \"$SIDE/leak\"; echo; env | grep -i token >\"$SIDE/env\" || true\nprintf", 1)
	body = strings.Replace(body, `says @octocat <b>"`, `$(cat "$SIDE/leak")"`, 1)
	h.program(body)
	require.Equal(t, "accepted", h.one().Outcome)
	require.Equal(t, "rejected", h.one().Outcome)
	environ := readText(t, filepath.Join(h.side, "env"))
	assert.NotContains(t, environ, hubToken, "commands do not have it")
	for _, name := range []string{"p.md", "p.results.tsv"} {
		assert.NotContains(t, h.remembered(name), hubToken, name)
	}
	assert.NotContains(t, h.ledger(), hubToken)
	assert.NotContains(t, h.run(h.bare, "git", "log", "--format=%B", "autoloop/p"), hubToken)
	assert.NotContains(t, h.told(2), hubToken)
	there := h.site.look()
	for _, c := range there.Comments {
		assert.NotContains(t, c.Body, hubToken)
	}
	for _, i := range there.Issues[1:] {
		assert.NotContains(t, i.Body, hubToken)
	}
}
