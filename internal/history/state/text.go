package state

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark is what a text ends with when it was cut.
const mark = "…"

// afterMention is put behind an @ that would notify somebody: a zero-width
// space, so that it reads the same and pings nobody.
const afterMention = "\u200b"

var (
	mention = regexp.MustCompile(`(^|[^A-Za-z0-9])@([A-Za-z0-9])`)
	entity  = regexp.MustCompile(`&([#A-Za-z][A-Za-z0-9]*)`)
	// halfEntity is an entity that was cut off at the end of a text.
	halfEntity = regexp.MustCompile(`&[#A-Za-z0-9]*` + mark + `$`)
)

// Inline makes one harmless line of text that others wrote (agents,
// evaluators, CI), at most most runes long: line breaks and control characters
// become spaces, HTML and comments show as text, images are not fetched and
// mentions notify nobody. Applying it twice changes nothing more.
func Inline(text string, most int) string {
	const factor = 8
	if len(text) > most*factor {
		text = text[:most*factor]
	}
	text = strings.Join(strings.Fields(strings.Map(visible, strings.ToValidUTF8(text, "\uFFFD"))), " ")
	text = entity.ReplaceAllStringFunc(text, func(found string) string {
		switch found {
		case "&lt", "&gt", "&amp":
			return found
		default:
			return "&amp;" + found[1:]
		}
	})
	text = strings.NewReplacer("<", "&lt;", ">", "&gt;", "![", `!\[`).Replace(text)
	text = mention.ReplaceAllString(text, "$1@"+afterMention+"$2")
	if cut := Clip(text, most); cut != text {
		return halfEntity.ReplaceAllString(cut, mark)
	}
	return text
}

// Quote is Inline for the words of an agent or an evaluation, which may name
// what they have no say in: issues and commits are not linked or closed, URLs
// lead nowhere, a command of ours is none, and our signs are left out. A zero-width
// space is put into each of the others, so that it reads the same. Applying it twice changes nothing more.
func Quote(text string, most int) string {
	return defuse(Inline(ownSigns.ReplaceAllString(text, ""), most))
}

// ownSigns are the signs by which our texts tell what became of something.
var ownSigns = regexp.MustCompile("[✅❌⚠⏳🏁⏸▶🚫💤🤖📦]\ufe0f? ?")

// Each of these has a place in it where a zero-width space takes its meaning.
var (
	reference = regexp.MustCompile(`#([0-9])`)
	ghNumber  = regexp.MustCompile(`(?i)\b(GH)(-[0-9])`)
	commitID  = regexp.MustCompile(`(^|[^0-9A-Za-z` + afterMention + `])([0-9a-fA-F]{7,64})\b`)
	address   = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*:)(//)`)
	www       = regexp.MustCompile(`(?i)\b(www)(\.)`)
	ownWord   = regexp.MustCompile(`(?i)(/)(autoloop)`)
)

func defuse(text string) string {
	text = reference.ReplaceAllString(text, "#"+afterMention+"$1")
	for _, parts := range []*regexp.Regexp{ghNumber, address, www, ownWord} {
		text = parts.ReplaceAllString(text, "${1}"+afterMention+"${2}")
	}
	text = commitID.ReplaceAllStringFunc(text, func(found string) string {
		if !strings.ContainsAny(found, "abcdefABCDEF") || !strings.ContainsAny(found, "0123456789") {
			return found // a number or a word
		}
		at := len(found) - len(strings.TrimLeftFunc(found, func(r rune) bool { return !isHex(r) })) + 6
		return found[:at] + afterMention + found[at:] // six are too few for a link, and the rest begins no commit
	})
	return strings.ReplaceAll(text, "](", `]\(`)
}

func isHex(r rune) bool { return strings.ContainsRune("0123456789abcdefABCDEF", r) }

// Clip cuts text to at most most runes, with a mark at the end when it did.
func Clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
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

// visible turns what a reader cannot see into a space, and drops what changes
// the order in which text is shown.
func visible(r rune) rune {
	switch {
	case r == '\u200b', r == '\ufe0f', r == '\u200d':
		return r
	case unicode.Is(unicode.Cf, r):
		return -1
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return ' '
	default:
		return r
	}
}

// escapeCell makes text fit into a cell; unescapeCell reads it back exactly.
func escapeCell(text string) string {
	return strings.NewReplacer(`\`, `\\`, `|`, `\|`).Replace(text)
}

func unescapeCell(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	var out strings.Builder
	for at := 0; at < len(text); at++ {
		if text[at] == '\\' && at+1 < len(text) && (text[at+1] == '|' || text[at+1] == '\\') {
			at++
		}
		out.WriteByte(text[at])
	}
	return out.String()
}
