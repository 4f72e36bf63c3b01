package program

import (
	"encoding/json"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/org/autoloop/internal/lazyregexp"
)

var (
	// outputForm are words for what a command writes. The weaker ones count where
	// they end what stands before a fence.
	outputForm = lazyregexp.New(`(?i)\b(?:prints?|printed|printing|outputs?|emits?|stdout)\b`)
	weakForm   = lazyregexp.New(`(?i)\b(?:produces|returns|yields|gives|shows|writes|answers(?: with)?)(?:\s+(?:something|a line|lines|one line|like|such as|this|the|following|e\.g\.|for (?:example|instance)))*[\s:*_]*$`)
	resultForm = lazyregexp.New(`(?i)^[\s*_]*(?:(?:the|an?|example|sample|typical|expected)\s+)*(?:results?|response)(?:\s+(?:is|are|looks?)(?:\s+like)?(?:\s+this)?)?[\s:*_]*$`)

	// runForm are words for what is to be run, priorForm those that speak of what was
	// run before.
	runForm   = lazyregexp.New(`(?i)\b(?:run|runs|execute|invoke|call|command|script below)\b`)
	priorForm = lazyregexp.New(`(?i)\b(?:(?:command|script|run|evaluation|benchmark)s? above|(?:above|previous|preceding) (?:command|script|run)s?|(?:when|once|if|after|after being|each|every)(?: it (?:is|was|has))?(?: been)? run|outputs? (?:of|from) (?:the|this|that|a|its) (?:command|script|run)|the command(?: then| also)? (?:prints|outputs|emits))\b`)
)

// shownForm begins what no shell could run: an object or a list of objects in JSON
// or something close to it, a number alone, a word with a colon, and a transcript.
var shownForm = lazyregexp.New(
	`^(?:\{\s*(?:"[^"\n]*"|'[^'\n]*')\s*:|\[\s*\{\s*["'}]|[-+]?\d[\d.,]*%?\s*(?:\n|$)|[A-Za-z_][\w./-]*:(?:[ \t]|\n|$)|\$ )`)

// isOutput reports whether an unlabelled fence shows what an evaluation prints: it
// is JSON, or nothing that a shell could run, or the text or heading before it says
// so.
func (b *body) isOutput(fence ast.Node, text, heading string) bool {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) || shownForm().MatchString(text) {
		return true
	}
	if showsOutput(heading) {
		return true
	}
	before := fence.PreviousSibling()
	if before == nil || before.Kind() != ast.KindParagraph && before.Kind() != ast.KindTextBlock {
		return false
	}
	clauses := b.clauses(extent(before))
	return showsOutput(clauses[len(clauses)-1].text)
}

// showsOutput reports whether a clause says that what follows it is output, and not
// that it is to be run.
func showsOutput(clause string) bool {
	if runForm().MatchString(priorForm().ReplaceAllString(clause, "")) {
		return false
	}
	return outputForm().MatchString(clause) || weakForm().MatchString(clause) || resultForm().MatchString(clause)
}
