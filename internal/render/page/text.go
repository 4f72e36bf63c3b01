package page

import (
	"strings"
	"unicode"
)

// visible replaces what would change the direction or the place of other text
// on the page, or would not be seen; html/template takes care of markup.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// clip bounds a text of unknown origin to n runes.
func clip(text string, n int) string {
	text = visible(text)
	runes := 0
	for i := range text {
		if runes++; runes > n {
			return text[:i] + "…"
		}
	}
	return text
}
