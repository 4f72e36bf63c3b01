package state_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/state"
)

// shown is a text without what nobody sees.
func shown(text string) string { return strings.ReplaceAll(text, "\u200b", "") }

func TestQuoteTakesTheMeaning(t *testing.T) {
	t.Parallel()
	for text, gone := range map[string]string{
		"Fixes #1":                           "#1",
		"closes o/r#12, resolves GH-3":       "#12",
		"resolves GH-3":                      "GH-3",
		"fix: https://evil.test/x":           "https://",
		"see WWW.evil.test":                  "WWW.",
		"reverts 0123456789abcdefedcba98":    "0123456",
		"as in o/r@a1b2c3d":                  "a1b2c3d",
		"/autoloop pause":                    "/autoloop",
		"say /Autoloop undo 3":               "/Autoloop",
		"[all good](/o/r/actions)":           "](",
		"closes https://github.com/o/r/1":    "https://",
		"thanks @octocat":                    "@octocat",
		"two: a1b2c3d a1b2c3e":               "a1b2c3e",
		"(0f1e2d3c4b5a69788796a5b4c3d2e1f0)": "0f1e2d3",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			quoted := state.Quote(text, 300)
			assert.NotContains(t, quoted, gone)
			assert.Equal(t, quoted, state.Quote(quoted, 300))
			assert.Equal(t, strings.ReplaceAll(text, "](", `]\(`), shown(quoted), "it reads the same")
		})
	}
	for _, text := range []string{"1500000 is better than 1600000", "defaced 12 of 34", "use a/autolooper # 3", "decade", "C#, F#"} {
		assert.Equal(t, text, shown(state.Quote(text, 300)))
	}
	assert.Equal(t, "1500000 is better than 1600000", state.Quote("1500000 is better than 1600000", 300), "numbers stay as they are")
}

func FuzzQuote(f *testing.F) {
	f.Add("Fixes #1 https://x /autoloop 0123abc4 ](x")
	f.Fuzz(func(t *testing.T, text string) {
		quoted := state.Quote(text, 200)
		assert.Equal(t, quoted, state.Quote(quoted, 1000))
		assert.NotContains(t, quoted, "\n")
		assert.NotContains(t, quoted, "://")
		assert.NotContains(t, strings.ToLower(quoted), "/autoloop")
	})
}
