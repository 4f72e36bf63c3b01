package plain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/plain"
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
		"faster [skip ci]":                   "[skip ci]",
		"faster [CI Skip] [no ci]":           "[CI Skip]",
		"faster [actions skip]":              "[actions skip]",
		"skip-checks: true":                  "skip-checks:",
		":white_check_mark: CI is green":     ":white_check_mark:",
		":x::+1: and :100:":                  ":+1:",
		":tada::rocket::tada:":               ":rocket:",
		"(0f1e2d3c4b5a69788796a5b4c3d2e1f0)": "0f1e2d3",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			quoted := plain.Quote(text, 300)
			assert.NotContains(t, quoted, gone)
			assert.Equal(t, quoted, plain.Quote(quoted, 300))
			assert.Equal(t, strings.ReplaceAll(text, "](", `]\(`), shown(quoted), "it reads the same")
		})
	}
	for _, text := range []string{
		"1500000 is better than 1600000", "defaced 12 of 34", "use a/autolooper # 3",
		"decade", "C#, F#",
	} {
		assert.Equal(t, text, shown(plain.Quote(text, 300)))
	}
	for _, text := range []string{
		"1500000 is better than 1600000", "at 12:30:45, x.go:12:3: undefined",
		"skip ci, [skip] it",
	} {
		assert.Equal(t, text, plain.Quote(text, 300), "it stays as it is")
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("Fixes #1 https://x /autoloop 0123abc4 ](x")
	f.Fuzz(func(t *testing.T, text string) {
		quoted := plain.Quote(text, 200)
		assert.Equal(t, quoted, plain.Quote(quoted, 1000))
		assert.NotContains(t, quoted, "\n")
		assert.NotContains(t, quoted, "://")
		assert.NotContains(t, strings.ToLower(quoted), "/autoloop")
		assert.NotContains(t, strings.ToLower(quoted), "[skip ci]")
	})
}

func TestInline(t *testing.T) {
	for text, want := range map[string]string{
		"a\r\n b\t\x1b[31mc\x00":   "a b c",
		"<!-- x --><img src=a>":    "&lt;!-- x --&gt;&lt;img src=a&gt;",
		"@a, (@b) x@c.d @@e":       "@\u200ba, (@\u200bb) x@c.d @@\u200be",
		"&#64;a &commat;b &lt; & ": "&amp;#64;a &amp;commat;b &lt; &",
		"![x](http://y)":           `!\[x](http://y)`,
		"a\u202eb\u2028c":          "ab c",
		"\xff":                     "\uFFFD",
		strings.Repeat("é", 200):   strings.Repeat("é", 99) + "…",
	} {
		got := plain.Inline(text, 100)
		assert.Equal(t, want, got)
		assert.Equal(t, got, plain.Inline(got, 100), "twice")
	}
}

func TestInlineIsNoMarkup(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a | b":              `a \| b`,
		"*x* _y_ `z` ~~q~~":  "\\*x\\* \\_y\\_ \\`z\\` \\~\\~q\\~\\~",
		"<img src=x>":        "&lt;img src=x&gt;",
		"@me and #7":         "@\u200bme and #\u200b7",
		"[a](b)":             `\[a\](b)`,
		"https://a.b www.c":  "https:\u200b//a.b www\u200b.c",
		"one\ntwo\r\n\tt":    "one two t",
		"\x1b[31m\u202eevil": "evil",
		"äöü long enough":    "äöü long…",
	} {
		width := 80
		if strings.HasPrefix(text, "äöü") {
			width = 10
		}
		assert.Equal(t, want, plain.Literal(text, width))
	}
}
