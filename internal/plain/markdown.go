package plain

import (
	"strings"
	"sync"

	"github.com/org/autoloop/internal/lazyregexp"
)

// hollow is a zero-width space. Put into a mention, a reference or an address it
// takes the meaning and leaves the looks.
const hollow = "\u200b"

var (
	mention = lazyregexp.New(`(^|[^A-Za-z0-9])@([A-Za-z0-9])`)
	entity  = lazyregexp.New(`&([#A-Za-z][A-Za-z0-9]*)`)
	// halfEntity is an entity that was cut off at the end of a text.
	halfEntity = lazyregexp.New(`&[#A-Za-z0-9]*` + mark + `$`)
)

// Inline makes one harmless line of markdown of a text that others wrote (agents,
// evaluators, CI), at most so many characters long: HTML and comments show as
// text, images are not fetched and mentions notify nobody. Applying it twice
// changes nothing more.
func Inline(text string, most int) string {
	const factor = 8
	text = text[:min(len(text), most*factor)]
	parts := strings.Split(text, hollow) // our own marks stay
	for i := range parts {
		parts[i] = Text(parts[i])
	}
	text = Spaced(strings.Join(parts, hollow))
	text = entity().ReplaceAllStringFunc(text, func(found string) string {
		switch found {
		case "&lt", "&gt", "&amp":
			return found
		default:
			return "&amp;" + found[1:]
		}
	})
	text = strings.NewReplacer("<", "&lt;", ">", "&gt;", "![", `!\[`).Replace(text)
	text = mention().ReplaceAllString(text, "$1@"+hollow+"$2")
	if cut := Clip(text, most); cut != text {
		return halfEntity().ReplaceAllString(cut, mark)
	}
	return text
}

// Quote is Inline for the words of an agent or an evaluation, which may name
// what they have no say in: issues and commits are not linked or closed, URLs
// lead nowhere, commands of Autoloop and of CI do nothing, and its marks are left out,
// also by the names that GitHub draws as signs. A zero-width
// space is put into each of the others, so that it reads the same. Applying it twice
// changes nothing more.
func Quote(text string, most int) string {
	return strings.ReplaceAll(unlinked(Inline(ownSigns().ReplaceAllString(text, ""), most)), "](", `]\(`)
}

// ownSigns are the signs by which our texts tell what became of something.
var ownSigns = lazyregexp.New("[✅❌⚠⏳🏁⏸▶🚫💤🤖📦]\ufe0f? ?")

// Literal is Quote without any markup: also emphasis, code and the borders of a
// table show as they were written.
func Literal(text string, most int) string {
	text = unlinked(strings.ReplaceAll(Inline(text, most), `!\[`, "!["))
	return markup().Replace(strings.ReplaceAll(text, "#"+hollow, "#"))
}

var markup = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "~", `\~`, "[", `\[`, "]", `\]`,
		"#", "#"+hollow)
})

// Each of these has a place in it where a zero-width space takes its meaning.
var (
	reference = lazyregexp.New(`#([0-9])`)
	ghNumber  = lazyregexp.New(`(?i)\b(GH)(-[0-9])`)
	commitID  = lazyregexp.New(`(^|[^0-9A-Za-z` + hollow + `])([0-9a-fA-F]{7,64})\b`)
	address   = lazyregexp.New(`(?i)\b([a-z][a-z0-9+.-]*:)(//)`)
	www       = lazyregexp.New(`(?i)\b(www)(\.)`)
	ownWord   = lazyregexp.New(`(?i)(/)(autoloop)`)
	ciWord    = lazyregexp.New(`(?i)(\[)((?:skip ci|ci skip|no ci|skip actions|actions skip)\])`)
	ciTrailer = lazyregexp.New(`(?i)\b(skip-checks)(:)`)
	signName  = lazyregexp.New(`(:)([a-z0-9_+-]*[a-z+-][a-z0-9_+-]*:|100:|1234:)`)
)

func unlinked(text string) string {
	text = reference().ReplaceAllString(text, "#"+hollow+"$1")
	for _, parts := range []lazyregexp.Regexp{ghNumber, address, www, ownWord, ciWord, ciTrailer, signName} {
		text = parts().ReplaceAllString(text, "${1}"+hollow+"${2}")
	}
	return commitID().ReplaceAllStringFunc(text, func(found string) string {
		if !strings.ContainsAny(found, "abcdefABCDEF") || !strings.ContainsAny(found, "0123456789") {
			return found // a number or a word
		}
		at := len(found) - len(strings.TrimLeftFunc(found, func(r rune) bool { return !isHex(r) })) + 6
		return found[:at] + hollow + found[at:] // six are too few for a link, and the rest begins no commit
	})
}

func isHex(r rune) bool { return strings.ContainsRune("0123456789abcdefABCDEF", r) }

// Fence is a run of backticks that is not in a text: nothing in the text ends a block
// that stands between two of them.
func Fence(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
