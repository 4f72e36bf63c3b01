package tuner

import (
	"bytes"
	"strings"
)

// comment is one comment of a line that may hold a tune mark: code before it,
// the comment's own words, and the mark's text after "tune:".
type comment struct {
	codeEnd int    // where the comment's marker begins
	end     int    // where the comment ends; the line's end for a line comment
	mark    string // the text after "tune:"
	leading bool   // "tune:" is the comment's first word
}

// markers are the beginnings of comments. Of the weak ones the last before the
// mark counts, and only when the line has no other: they are operators or ends
// of statements elsewhere.
var (
	strongMarkers = []string{"//", "/*", "<!--", "#"}
	weakMarkers   = []string{"--", ";"}
)

const tuneWord = "tune:"

// findComment returns the first comment in line[from:] that says "tune:".
func findComment(line string, from int) (comment, bool) {
	for at := from; ; {
		found := strings.Index(line[at:], tuneWord)
		if found < 0 {
			return comment{}, false
		}
		word := at + found
		at = word + len(tuneWord)
		if word > 0 && isWord(line[word-1]) {
			continue // fine-tune:, autotune:
		}
		start, size := commentStart(line, from, word)
		if size == 0 {
			continue // no comment
		}
		c := comment{codeEnd: start, end: len(line), leading: strings.TrimSpace(line[start+size:word]) == ""}
		c.mark = line[at:]
		if closing := closingOf(line[start : start+size]); closing != "" {
			if end := strings.Index(c.mark, closing); end >= 0 {
				c.end = at + end + len(closing)
				c.mark = c.mark[:end]
			}
		}
		return c, true
	}
}

func closingOf(marker string) string {
	switch marker {
	case "/*":
		return "*/"
	case "<!--":
		return "-->"
	}
	return ""
}

// commentStart returns where the comment around line[word:] begins and the
// length of its marker, which is 0 when there is no comment.
func commentStart(line string, from, word int) (start, size int) {
	quoted := quotes(line[from:word])
	inQuotes := func(at int) bool { return quoted[at-from] }
	for at := from; at < word; at++ {
		if inQuotes(at) {
			continue
		}
		for _, marker := range strongMarkers {
			if strings.HasPrefix(line[at:word], marker) && beginsComment(line, at, marker, word) {
				return at, len(marker)
			}
		}
	}
	best, size := 0, 0
	for _, marker := range weakMarkers {
		for at := word - len(marker); at >= from; at-- {
			if strings.HasPrefix(line[at:], marker) && !inQuotes(at) {
				if size == 0 || at > best {
					best, size = at, len(marker)
				}
				break
			}
		}
	}
	return best, size
}

// beginsComment tells the marker of a comment from an address (https://…), a
// colour (#fff) and a directive (#define).
func beginsComment(line string, at int, marker string, word int) bool {
	after := at + len(marker)
	if strings.TrimSpace(line[after:word]) == "" {
		return true
	}
	switch marker {
	case "//":
		return at == 0 || line[at-1] != ':'
	case "#":
		return (at == 0 || isSpace(line[at-1])) && isSpace(line[after])
	}
	return true
}

// quotes says for every byte whether it is inside quotes. A quote that does not
// end opens nothing, nor does an apostrophe inside a word.
func quotes(text string) []bool {
	inside := make([]bool, len(text))
	for at := 0; at < len(text); at++ {
		quote := text[at]
		if quote != '"' && quote != '\'' && quote != '`' || quote == '\'' && at > 1 && isWord(text[at-1]) &&
			isWord(text[at-2]) {
			continue // no quote, or it's an apostrophe
		}
		end := closingQuote(text, at)
		if end < 0 {
			continue
		}
		for i := at + 1; i < end; i++ {
			inside[i] = true
		}
		at = end
	}
	return inside
}

func closingQuote(text string, open int) int {
	for at := open + 1; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case text[open]:
			return at
		}
	}
	return -1
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isWord reports whether b can be part of a name; bytes of other alphabets can.
func isWord(b byte) bool {
	return b == '_' || b == '-' || b == '$' || b >= 0x80 || isDigit(b) || isLetter(b)
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// mayHaveMarks is the cheap test before a file is read line by line.
func mayHaveMarks(text []byte) bool { return bytes.Contains(text, []byte(tuneWord)) }
