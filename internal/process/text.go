package process

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes matches the escape sequences of terminals: colours, movements, titles.
var escapes = regexp.MustCompile("\x1b(\\[[0-9;:?<=>]*[ -/]*[@-~]|\\][^\x07\x1b]*(\x07|\x1b\\\\)?|[@-Z\\\\^_])")

// OneLine makes text that a program printed safe to show on one line: valid
// UTF-8, no terminal escapes, no control characters, single spaces, and at most
// limit characters, the last an ellipsis when it was longer.
func OneLine(text string, limit int) string {
	const perRune = 8
	text = text[:min(len(text), limit*perRune)]
	text = escapes.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
	runes := []rune(text)
	if len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}
