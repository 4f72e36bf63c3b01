package program

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
)

// maxPatterns bounds the targets and the protected paths of a program.
const maxPatterns = 1000

// saying is what a clause says of the files in it.
type saying int

const (
	silent saying = iota
	permits
	denies
)

// changes are the stems of what may be done to a file.
const changes = `(?:modif|chang|edit|touch|alter|updat|overwrit|rewrit|writ|delet|remov|renam|mov|add|commit|patch|adjust|mutat|tamper|creat|refactor|reformat|fix)`

// The words that deny, in English. A clause with one of them protects its files, and
// the list that it introduces. Those of protection deny by themselves; a negation in a
// clause without a file is about files where it speaks of a change.
var (
	negation = lazyregexp.New(
		`(?i)\b(?:not|never|no|nor|non|neither|none|nobody|nothing|cannot|without|except\w*|avoid\w*|refrain|don|dont|nope|instead|only (?:i|we|us|humans?|people|maintainers?|owners?|the))\b|n['’]t\b`,
	)
	protection = lazyregexp.New(
		`[❌🚫🔒⛔🛑]|(?i)\bleave\b.*\bbe\W*$|\b(?:(?:safe)?guarded|protect(?:ed)?|read[- ]?only|frozen|freeze|lock(?:ed)?|immutable|fixed|constants?|sacred|sacrosanct|preserved?|maintain|` +
			`forbidden|forbid|prohibit(?:ed)?|disallow(?:ed)?|verboten|banned|den(?:y|ied)|denylist|deny list|black[- ]?list(?:ed)?|block(?:ed|list)?|exclu(?:de|des|ded|ding|sions?)|reserved|restricted|ignored?|` +
			`un(?:touched|changed|modified|touchable|modifiable|changeable|editable)|alone|intact|identical|as[- ]is|as (?:it|they|given)|the (?:way|same)|exactly|let|` +
			`off[- ]?(?:limits|bounds)|out[- ]of[- ](?:scope|bounds)|(?:outside|beyond)(?: of)? (?:the )?(?:targets?|scope)|(?:non|anti|not|not an?|not part of the|not in the)[- ](?:targets?|scope)|targets? to avoid|` +
			`hands off|away|steer clear|stay off|no[- ](?:go|touch)|black[- ]box|pretend|generated|dependencies|(?:reference|context|view|look|looking|reading)[- ]only|only (?:be )?(?:read|view)|read (?:\w+ ){0,3}only|limited to reading|` +
			`by (?:hand|humans?|people|maintainers?|us|me)|belongs?|owned|business|fails?|failures?|lost|thrown|discarded|reverted|rejected|refused|disqualif\w*)\b`,
	)
	changing = lazyregexp.New(`(?i)\b` + changes)
	// permission ends what was denied before it, and opens a second list.
	permission = lazyregexp.New(
		`(?i)(?:\b(?:may|can|could|should|shall|must|will|(?:free|allowed|permitted|need|want|want you|files) to|only|also|freely)\s+(?:also\s+|only\s+|freely\s+|be\s+)*|^\W*(?:please\s+|you\s+|and\s+)*)` +
			changes + `(?:y|e|ied|ed|ten)?\b|\b(?:allowed|permitted|editable|modifiable|writable|changeable|targets?)\b`,
	)
	// others are files that a clause does not name: "Do not modify anything else."
	others = lazyregexp.New(`(?i)\b(?:else|others?)\b`)
	// about is a clause of files that were named before: "Do not modify them."
	about = lazyregexp.New(
		`(?i)\b(?:it|them|this|these|those|that)(?: files?)?\W*$|^\W*(?:it|they|this|these|those|that)\b`,
	)
	// contrast turns a clause round in the middle: "`a.go`, but not `b.go`". The first
	// group are words that would open what follows them in a clause that denies.
	contrast = lazyregexp.New(
		`(?i)(?:\b(except\w*|excluding|but|other\s+than|apart\s+from|aside\s+from|besides|unless|save|outside|minus)|\bwithout|(?:[,;(–—-]\s*|\b(?:but|and|just)\s+)(?:please\s+|do\s+|also\s+)*(?:not|never|don['’]?t|leave))` +
			`(?:\s+(?:for|of|the|any|in|it|is|files?|directory|` + changes + `\w*))*[\s("]*` + "`",
	)
	clauseEnd = lazyregexp.New(`[.!?;][)"”’]*\s+|\n[ \t]*(?:[>•–—-]*\p{Lu}|[|✅❌🚫🔒⛔🛑])`)
	pathWord  = lazyregexp.New(`[^\s()\[\]"'` + "`" + `]*(?:/|[\w-]\.\w)[^\s()\[\]"'` + "`" + `]*`)
)

// sayingOf reads what a clause says on one line. What denies wins.
func sayingOf(clause string) saying {
	switch {
	case negation().MatchString(clause) || protection().MatchString(clause):
		return denies
	case permission().MatchString(clause):
		return permits
	}
	return silent
}

// forbids reports whether a clause that names no file is about files all the same.
func forbids(clause string) bool {
	return protection().MatchString(clause) || negation().MatchString(clause) && changing().MatchString(clause)
}

// readTargets collects the patterns of the Target section. What the frontmatter names
// as target replaces the section's; what either protects is protected.
func (b *body) readTargets(targets, protects []section) {
	for _, s := range slices.Concat(targets, protects) {
		r := targetReader{body: b, denying: s.kind == protectSection}
		for i := range s.blocks {
			r.read(s.blocks[i:])
		}
	}
	if len(b.Targets) > maxPatterns || len(b.Protected) > maxPatterns {
		b.fail(0, "there are more than %d targets or protected paths; name directories or globs", maxPatterns)
	}
}

// targetReader reads a section from its beginning to its end. What it names may change
// up to the first clause that denies; from there on it is protected, up to a heading
// or the introduction of a list that permits.
type targetReader struct {
	*body
	denying bool
	named   bool   // a path was allowed before
	intro   saying // what stands before a list says
	begun   bool   // something stands between the last list and this one
	doubt   int    // the line of a first list whose introduction says nothing, else 0

	list  ast.Node   // that was begun last, the outermost
	items []openItem // that the text is in, from the outermost
}

// openItem is a list item with what held before it. Words that deny in one that does not
// begin with a path are about all that follows.
type openItem struct {
	node            ast.Node
	denying, begins bool
}

// What a person reads of a list or a sentence that may be meant either way.
const (
	unclearList = "this list does not say whether its files may change; write a line `You may also modify:` or " +
		"`Do NOT modify:` above it"
	unclearSentence = "this sentence does not say whether its files may change; write them in a list below `You may " +
		"also modify:` or `Do NOT modify:`"
)

// read takes the first of the blocks that are left.
func (r *targetReader) read(left []block) {
	c, open := left[0], 0
	for open < min(len(r.items), len(c.items)) && r.items[open].node == c.items[open] {
		open++
	}
	for _, before := range slices.Backward(r.items[open:]) {
		if before.begins {
			r.denying = before.denying
		}
	}
	r.items = r.items[:open]
	switch {
	case c.isCode():
	case len(c.items) > 0:
		if list := c.items[0].Parent(); list != r.list {
			r.list = list
			r.beginList(left)
		}
		for _, node := range c.items[open:] {
			begins := node == c.items[len(c.items)-1] && len(c.spans) > 0 && c.spans[0].begins
			r.items = append(r.items, openItem{node, r.denying, begins})
		}
		r.sentences(c, &r.items[len(r.items)-1])
	case c.node.Kind() == ast.KindHeading:
		text := ""
		for _, one := range c.clauses() {
			text += " " + one.text
		}
		r.begun = true
		r.introduce(sayingOf(strings.TrimSpace(text)))
	default:
		r.intro, r.begun = silent, true
		r.sentences(c, nil)
	}
}

func (r *targetReader) introduce(says saying) {
	r.intro = says
	if says != silent {
		r.denying = says == denies
	}
}

// sentences reads a paragraph, or the text of a list item. A sentence of an item that is about
// all that follows ends what its path at the beginning says.
func (r *targetReader) sentences(c block, item *openItem) {
	clauses, before := c.clauses(), []codeSpan(nil)
	last := len(clauses) - 1
	colon := strings.HasSuffix(clauses[last].text, ":")
	_, beforeList := c.node.NextSibling().(*ast.List)
	must := item == nil && r.named && !r.targetsGiven // the targets were given before
	for i, c := range clauses {
		says := sayingOf(c.text)
		introduces := i == last && colon || beforeList && (item != nil || i == last && !strings.HasSuffix(c.text, "."))
		switch {
		case strings.HasPrefix(c.text, "|"):
			r.take(c, false)
		case len(c.spans) > 0:
			before = c.spans
			if item == nil && len(before) == 1 && strings.Trim(c.text, "` .:") == "" { // a path, and no sentence
				c.spans = slices.Clone(before)
				c.spans[0].begins = true
			}
			if says = r.take(c, must); says == denies {
				r.deny(item, i)
			} else if r.intro == silent {
				r.intro = says
			}
		case item == nil && says == denies && others().MatchString(c.text) &&
			(!introduces || !colon || r.intro == permits):
		case introduces && says == denies:
			r.deny(item, i)
		case introduces && item == nil:
			r.introduce(says)
		case says == permits && r.intro == silent:
			r.intro = permits
		case says != denies:
		case about().MatchString(c.text) && (item != nil || forbids(c.text)):
			if r.protectBefore(c, before); item == nil {
				r.deny(nil, i)
			}
		case forbids(c.text) && (item == nil || !item.begins):
			r.deny(nil, i)
		}
	}
}

// deny protects what follows the i-th sentence.
func (r *targetReader) deny(item *openItem, i int) {
	r.introduce(denies)
	if item != nil && i > 0 {
		item.begins = false
	}
}

// protectBefore takes a clause such as "Do not modify it." It is about the paths of the
// clause before; where that has none, nobody can tell which are meant.
func (r *targetReader) protectBefore(c clause, before []codeSpan) {
	for _, span := range before {
		r.protect(span)
	}
	if len(before) == 0 && r.named && !r.denying {
		r.fail(c.line, "this sentence does not say which files may not change; name them in it")
	}
}

// isNew reports whether a span is a path that was not spoken of before.
func (r *targetReader) isNew(span codeSpan) bool {
	pattern, err := newPattern(span.text, 0)
	same := func(known Pattern) bool { return known.Text == pattern.Text }
	return err == nil && !pattern.Bare && !slices.ContainsFunc(r.Protected, same) &&
		!anyMatch(r.Targets, pattern.Text)
}

// beginList is at the first item of a list. A second one that nothing permits is protected;
// where nothing says so, that is an error, since nobody can tell what was meant.
func (r *targetReader) beginList(left []block) {
	paths := slices.ContainsFunc(left, func(c block) bool {
		names := func(span codeSpan) bool { return !doubtful(strings.TrimSpace(span.text)) }
		return len(c.items) > 0 && c.items[0].Parent() == r.list && slices.ContainsFunc(c.spans, names)
	})
	switch {
	case !r.begun:
	case r.intro == permits:
		if r.denying = false; r.doubt > 0 {
			r.fail(r.doubt, unclearList)
		}
		r.doubt = 0
	case r.denying:
	case r.named:
		if paths {
			r.fail(left[0].line, unclearList)
		}
		r.denying = true
	case paths:
		r.doubt = left[0].line
	}
	r.intro, r.begun = silent, false
}

// take adds the paths of a clause and returns what it says. With must, a path that was
// not spoken of before needs words that permit.
func (r *targetReader) take(c clause, must bool) saying {
	says, turn := sayingOf(c.text), len(c.raw)
	if found := contrast().FindSubmatchIndex(c.raw); found != nil && len(c.spans) > 0 {
		rest := string(c.raw[:found[0]])
		if found[2] >= 0 {
			rest += string(c.raw[found[3]:])
		}
		says = sayingOf(plain.Spaced(rest))
		switch before := c.spans[0].at < c.at+found[0]; {
		case (says == denies || r.denying) && found[2] >= 0:
			r.fail(c.line, "this says by an exception what may change; name it in a list below `Only "+
				"modify:`, and what may not below `Do NOT modify:`")
		case says != denies && before:
			turn = found[0]
		default:
			says = denies
		}
	}
	if says == silent && must && !r.denying && slices.ContainsFunc(c.spans, r.isNew) {
		r.fail(c.line, unclearSentence)
		says = denies
	}
	for _, span := range c.spans {
		switch {
		case r.denying || says == denies || span.at >= c.at+turn:
			r.protect(span)
		case !r.targetsGiven:
			r.target(span)
			r.named = true
		}
	}
	return says
}

// clause is a sentence, a heading, or a line that begins like a sentence.
type clause struct {
	at, line int // at is where it begins in its block
	// raw is its text without what is in backticks, paths and emphasis: what files are
	// called says nothing about what may be done to them. Text is raw on one line.
	raw   []byte
	text  string
	spans []codeSpan
}

// clauses cuts a block at the ends of its sentences, and before a line that begins
// like one.
func (c *block) clauses() []clause {
	text, spans := bytes.Clone(c.text), c.spans
	for _, span := range spans {
		if !span.loose {
			blank(text[span.at : span.at+len(span.text)])
		}
	}
	for _, at := range pathWord().FindAllIndex(text, -1) {
		blank(text[at[0]:at[1]])
	}
	for i, c := range text {
		if c == '*' || c == '_' || c == '~' {
			text[i] = ' '
		}
	}
	var list []clause
	from, line := 0, c.line
	for _, at := range append(clauseEnd().FindAllIndex(text, -1), []int{len(text), len(text)}) {
		one := clause{at: from, line: line, raw: text[from:at[0]]}
		one.text = plain.Spaced(string(one.raw))
		for len(spans) > 0 && spans[0].at < at[1] {
			one.spans, spans = append(one.spans, spans[0]), spans[1:]
		}
		line += bytes.Count(text[from:at[0]], []byte("\n"))
		list, from = append(list, one), at[0]
	}
	return list
}

func (b *body) target(found codeSpan) {
	pattern, err := newPattern(found.text, found.line)
	if err != nil {
		b.warn(found.line, "not read as a target: %v", err)
		return
	}
	pattern.Loose, pattern.Named = found.loose, found.begins
	b.Targets = addPattern(b.Targets, pattern)
}

func (b *body) protect(found codeSpan) {
	pattern, err := newProtection(found.text, found.line)
	if err != nil {
		b.fail(found.line, "cannot be protected: %v", err)
		return
	}
	b.Protected = addPattern(b.Protected, pattern)
}

func addPattern(patterns []Pattern, pattern Pattern) []Pattern {
	same := func(known Pattern) bool { return known.Text == pattern.Text }
	if at := slices.IndexFunc(patterns, same); at >= 0 {
		patterns[at].Named = patterns[at].Named || pattern.Named
		return patterns
	}
	if pattern.Text == "" || len(patterns) > maxPatterns {
		return patterns
	}
	return append(patterns, pattern)
}
