package process

import (
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// plainWord is a word that needs no quotes.
var plainWord = lazyregexp.New(`[\w./-]+`)

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
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
