package process

import (
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// quoting is how a place in a shell command is quoted: not at all, or by the
// quotation mark.
type quoting byte

// after is how the place behind a text is quoted that begins like this one.
func (q quoting) after(text string) quoting {
	escaped := false
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			escaped = false
		case c == '\\' && q != '\'':
			escaped = true
		case q == 0 && (c == '"' || c == '\''):
			q = quoting(c)
		case c == byte(q):
			q = 0
		}
	}
	return q
}

// write is a text as it is written at such a place.
func (q quoting) write(text string) string {
	single := strings.ReplaceAll(text, "'", `'\''`)
	switch q {
	case '"':
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(text)
	case '\'':
		return single
	default:
		return "'" + single + "'"
	}
}

// plainWord is a word that needs no quotes.
var plainWord = lazyregexp.New(`[\w./-]+`)

// ReplaceWords replaces plain words of a shell command, quoted where they stand
// as what comes instead of them needs it.
func ReplaceWords(text string, by func(word string) string) string {
	var out strings.Builder
	quoted, done := quoting(0), 0
	for _, at := range plainWord().FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		quoted = quoted.after(text[done:at[0]])
		out.WriteString(text[done:at[0]])
		if replaced := by(word); plainWord().FindString(replaced) == replaced {
			out.WriteString(replaced)
		} else {
			out.WriteString(quoted.write(replaced))
		}
		done = at[1]
	}
	return out.String() + text[done:]
}

var (
	shellWord = lazyregexp.New(`(?s)(?:[^ \t\n;&|<>()"'\\]|\\.|"(?:\\.|[^"\\])*"|'[^']*')+`)
	shellPart = lazyregexp.New(`(?s)\\.|"(?:\\.|[^"\\])*"|'[^']*'`)
	escaped   = lazyregexp.New(`(?s)\\(.)`)
)

// ShellWords are the words of a command as a shell splits it, as far as quotes
// go.
func ShellWords(text string) []string {
	words := shellWord().FindAllString(text, -1)
	for i, word := range words {
		words[i] = shellPart().ReplaceAllStringFunc(word, func(part string) string {
			switch part[0] {
			case '\\':
				return part[1:]
			case '"':
				return escaped().ReplaceAllString(part[1:len(part)-1], "$1")
			default:
				return part[1 : len(part)-1]
			}
		})
	}
	return words
}

// QuoteWord is a text as one word of a shell command; a plain word stays as it is.
func QuoteWord(text string) string {
	if text != "" && plainWord().FindString(text) == text {
		return text
	}
	return quoting(0).write(text)
}
