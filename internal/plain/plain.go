// Package plain makes text of unknown origin fit to be shown: to a terminal, in a
// log, in markdown. What a reader would obey and not see (control characters,
// escape sequences, characters that turn the direction of text) is taken out here
// and nowhere else.
package plain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/autoloop/internal/lazyregexp"
)

// mark is what a text ends with when it was cut.
const mark = "…"

// escapes matches the escape sequences of terminals: colours, movements, titles.
var escapes = lazyregexp.New("\x1b(\\[[0-9;:?<=>]*[ -/]*[@-~]|\\][^\x07\x1b\n]*(\x07|\x1b\\\\)?|[@-Zc78=>\\\\^_])")

// WithoutEscapes takes the escape sequences of terminals out of what a program
// printed, and changes nothing else.
func WithoutEscapes(text []byte) []byte { return escapes().ReplaceAll(text, nil) }

// Text returns what a reader sees of a text, as valid UTF-8: escape sequences go,
// with all that cannot be seen or changes the direction of other text, and other
// control characters become spaces. Line feeds and tabs stay, and so do the
// characters that join an emoji. Applying it twice changes nothing more.
func Text(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	return strings.Map(seen, escapes().ReplaceAllString(text, ""))
}

// seen is what is shown for a character; -1 for nothing.
func seen(r rune) rune {
	switch {
	case r == '\n', r == '\t', r == '\u200d':
		return r
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return ' '
	case unicode.Is(unicode.Cf, r):
		return -1
	default:
		return r
	}
}

// Spaced is a text in one line, with single spaces between its words.
func Spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// Line is Text in one line, with single spaces.
func Line(text string) string {
	return Spaced(Text(text))
}

// Short is Line of at most so many characters. Of a text that is far longer only the
// beginning is looked at.
func Short(text string, most int) string {
	const longest = 8 // bytes for each character
	bound := max(most, 0) * longest
	line := Line(text[:min(len(text), bound)])
	if len(text) > bound && utf8.RuneCountInString(line) < most {
		return line + mark
	}
	return Clip(line, most)
}

// Clip cuts text to at most so many characters, the last an ellipsis when it did.
func Clip(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	if most < 1 {
		return ""
	}
	at := 0
	for range most - 1 {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return strings.TrimRight(text[:at], ` \`) + mark
}

// Few is how many names are listed on a line for people.
const Few = 12

// List quotes names, at most so many, and counts the others.
func List(names []string, most int) string { return Joined(names, most, strconv.Quote) }

// Paths are paths as Path has them, at most so many, and how many others there are.
func Paths(paths []string, most int) string { return Joined(paths, most, Path) }

// Joined are names as they are to be shown, at most so many, and how many others there are.
func Joined(names []string, most int, show func(string) string) string {
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
	}
	shown := make([]string, min(len(names), most))
	for i := range shown {
		shown[i] = show(names[i])
	}
	return strings.Join(shown, ", ") + more
}

// Path is a path as people see it: quoted when it has line breaks or anything else
// that a terminal or a commit message could take for something else.
func Path(path string) string {
	if Text(path) == path && !strings.ContainsAny(path, "\n\t") {
		return path
	}
	return strconv.Quote(path)
}
