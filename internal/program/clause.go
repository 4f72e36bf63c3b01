package program

import (
	"bytes"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// clause is a part of a sentence with one intent.
type clause struct {
	start, end int
	intent     intent
	except     int  // where "other than" stands, -1 without it
	resumes    int  // where what it leaves out ends
	others     bool // it speaks of everything else
	row        bool // it is a row of a table
}

var othersForm = lazyregexp.New(`(?i)\b(?:else|others?|any(?:thing)? other)\b`)

// moreForm permits something beside what was named before; backForm denies what
// was: "Do not modify it.", "These must not be changed."
var (
	referForm = lazyregexp.New(`(?i)^\W*(?:see|cf|refer to|consult|compare|siehe|voir|véase)\b|^\W*(?:参见|詳見|详见|参照)`)

	moreForm = lazyregexp.New(`(?i)\b(?:also|too|additional(?:ly)?|more|as well|further|other|both)\b`)
	backForm = lazyregexp.New(`(?i)\b(?:it|them|this|these|those|that)(?:\s+(?:files?|ones?|either|too))?\W*$|\b(?:not|never|cannot|n['’]t)\s+(?:be\s+)?` + verbs + `\w*\W*$|^\W*(?:it|this|these|they|those|that)\b(?:\s+(?:file|files|one|ones))?\s+(?:\w+\s+){0,2}(?:be|is|are|stays?|remains?)\b|^\W*(?:any\s+)?(?:edits?|changes?)\s+(?:(?:here|there|to it|in it)\s+)?(?:are|is|will|get|would)\b`)
)

// A line that begins like a sentence begins a clause, and so does what denies in the
// middle of one.
var clauseEnd = lazyregexp.New(`\n[ \t]*(?:[*_~>•–—-]*[\p{Lu}\p{Lo}]|[|✅❌🚫🔒⛔🛑]|(?:do|must|should|may)\s+not\b|never\b|don['’]t\b)|[.;!?][)"”’]*\s+|[。；！？]|` +
	`, but (?:[^n]|n[^o]|no[^t])|,?\s(?:and|but)\s+(?:please\s+)?(?:leave|keep|never|do not|don['’]t)\b|，(?:但|请|且)?[不勿禁别][^。` + "`]*`")

// clauses cuts a text of the file into clauses.
func (b *body) clauses(start, end int) []clause {
	text := b.clauseBytes(start, end)
	var list []clause
	add := func(from, to int) {
		c := clause{start: start + from, end: start + to, except: -1, resumes: start + to}
		said := text[from:to]
		if at := exceptForm().FindIndex(said); at != nil {
			if len(b.spansWithin(c.start+at[0], c.start+at[1])) > 0 { // "all of `src/` but `a.go`"
				at[0] = bytes.LastIndex(said[:at[1]], []byte("but"))
			}
			if c.except = c.start + at[0]; len(b.spansWithin(c.start, c.except)) > 0 {
				said = slices.Concat(said[:at[0]], said[at[1]:]) // "excluding" denies what comes behind it
			} else {
				c.resumes = c.start + resumes(said, at[1])
			}
		} else if at := exceptBehind().FindIndex(said); at != nil && len(b.spansWithin(c.start, c.start+at[0])) > 0 {
			c.except, c.resumes = c.start, c.start+at[0]
		}
		c.intent = intentOf(string(said))
		if at := butNotForm().FindIndex(said); at != nil && c.except < 0 && len(b.spansWithin(c.start, c.start+at[0])) > 0 {
			if by := intentOf(string(said[:at[0]])); by != denies {
				c.intent, c.except = by, c.start+at[0]
			}
		}
		if cells := strings.Split(strings.TrimSpace(string(text[from:to])), "|"); len(cells) > 2 && cells[0] == "" {
			c.row = true
			for _, cell := range cells {
				c.intent = max(c.intent, intentOf(cell))
			}
		}
		c.others = othersForm().Match(text[from:to])
		list = append(list, c)
	}
	from := 0
	for _, at := range clauseEnd().FindAllIndex(text, -1) {
		add(from, at[0])
		from = at[0]
	}
	add(from, len(text))
	return list
}

// resumes is where a sentence goes on that begins with what it leaves out, as in
// "Except for `a.go` and `b.go`, do not modify `src/`": behind the first comma that
// words follow. Paths are blanked out.
func resumes(said []byte, from int) int {
	for {
		at := commaForm().FindIndex(said[from:])
		if at == nil {
			return len(said)
		}
		from += at[1]
		next := len(said)
		if end := commaForm().FindIndex(said[from:]); end != nil {
			next = from + end[0]
		}
		if letterForm().MatchString(joiners().ReplaceAllString(string(said[from:next]), "")) {
			return from
		}
	}
}

var (
	commaForm  = lazyregexp.New(`[,，、]`)
	joiners    = lazyregexp.New(`(?i)\b(?:and|or|y|o|und|oder|et|ou|e)\b|[和与及や]`)
	letterForm = lazyregexp.New(`\pL`)
)

var pathWord = lazyregexp.New(`[^\s()\[\]"'` + "`" + `]*(?:/|[\w-]\.\w)[^\s()\[\]"'` + "`" + `]*`)

// clauseBytes is prose without code spans and paths: what they are called says
// nothing about what may be done to them.
func (b *body) clauseBytes(start, end int) []byte {
	text := bytes.Clone(b.prose[start:end])
	for _, span := range b.spansWithin(start, end) {
		at := span.at - start
		blank(text[at:min(at+len(span.text), len(text))])
	}
	for _, at := range pathWord().FindAllIndex(text, -1) {
		blank(text[at[0]:at[1]])
	}
	return text
}

func (b *body) clauseText(start, end int) string { return string(b.clauseBytes(start, end)) }

func within(spans []codeSpan, start, end int) []codeSpan {
	var list []codeSpan
	for _, span := range spans {
		if span.at >= start && span.at < end {
			list = append(list, span)
		}
	}
	return list
}
