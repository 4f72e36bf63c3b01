package program

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/org/autoloop/internal/lazyregexp"
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
	for _, s := range targets {
		r := targetReader{body: b}
		r.blocks(s.nodes)
	}
	for _, s := range protects {
		r := targetReader{body: b, denying: true}
		r.blocks(s.nodes)
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
}

// What a person reads of a list or a sentence that may be meant either way.
const (
	unclearList = "this list does not say whether its files may change; write a line `You may also modify:` or " +
		"`Do NOT modify:` above it"
	unclearSentence = "this sentence does not say whether its files may change; write them in a list below `You may " +
		"also modify:` or `Do NOT modify:`"
)

func (r *targetReader) blocks(nodes []ast.Node) {
	for _, node := range nodes {
		switch node := node.(type) {
		case *ast.Heading:
			if node.Lines().Len() > 0 {
				text := ""
				for _, c := range r.clauses(r.headingStart(node), r.headingEnd(node)) {
					text += " " + c.text
				}
				r.introduce(sayingOf(strings.TrimSpace(text)))
			}
		case *ast.List:
			r.list(node)
		case *ast.Paragraph, *ast.TextBlock:
			r.paragraph(node)
		case *ast.Blockquote:
			r.blocks(children(node))
		}
	}
}

func (r *targetReader) introduce(says saying) {
	r.intro, r.begun = says, true
	if says != silent {
		r.denying = says == denies
	}
}

func (r *targetReader) paragraph(node ast.Node) {
	clauses, before := r.clauses(extent(node)), []codeSpan(nil)
	last := len(clauses) - 1
	colon := strings.HasSuffix(clauses[last].text, ":")
	_, beforeList := node.NextSibling().(*ast.List)
	named := r.named && !r.targetsGiven // the targets were given before
	r.intro, r.begun = silent, true
	for i, c := range clauses {
		says, introduces := sayingOf(c.text), i == last && (colon || beforeList && !strings.HasSuffix(c.text, "."))
		switch {
		case strings.HasPrefix(c.text, "|"):
			r.take(c, false)
		case len(c.spans) > 0:
			before = c.spans
			if len(before) == 1 && strings.Trim(c.text, "` .:") == "" { // the line is a path, and no sentence
				c.spans = []codeSpan{{text: before[0].text, at: before[0].at, begins: true}}
			}
			if says = r.take(c, named); says == denies {
				r.intro, r.denying = denies, true
			} else if r.intro == silent {
				r.intro = says
			}
		case says == denies && others().MatchString(c.text) && (!introduces || !colon || r.intro == permits):
		case introduces:
			r.introduce(says)
		case says == permits && r.intro == silent:
			r.intro = permits
		case says == denies && forbids(c.text):
			if about().MatchString(c.text) {
				r.protectBefore(c.at, before)
			}
			r.intro, r.denying = denies, true
		}
	}
}

// protectBefore takes a clause such as "Do not modify it." It is about the paths of the
// clause before; where that has none, nobody can tell which are meant.
func (r *targetReader) protectBefore(at int, before []codeSpan) {
	for _, span := range before {
		r.protect(span)
	}
	if len(before) == 0 && r.named && !r.denying {
		r.fail(r.line(at), "this sentence does not say which files may not change; name them in it")
	}
}

// isNew reports whether a span is a path that was not spoken of before.
func (r *targetReader) isNew(span codeSpan) bool {
	pattern, err := newPattern(span.text, 0)
	same := func(known Pattern) bool { return known.Text == pattern.Text }
	return err == nil && !pattern.Bare && !slices.ContainsFunc(r.Targets, same) &&
		!slices.ContainsFunc(r.Protected, same) && !anyMatch(r.Targets, pattern.Text)
}

// list reads a list. A second one that nothing permits is protected; where nothing says
// so, that is an error, since nobody can tell what was meant.
func (r *targetReader) list(node *ast.List) {
	switch {
	case !r.begun:
	case r.intro == permits:
		if r.denying = false; r.doubt > 0 {
			r.fail(r.doubt, unclearList)
		}
		r.doubt = 0
	case r.denying:
	case r.named:
		if r.namesPaths(node) {
			r.fail(r.line(offset(node)), unclearList)
		}
		r.denying = true
	case r.namesPaths(node):
		r.doubt = r.line(offset(node))
	}
	for _, item := range children(node) {
		r.item(item)
	}
	r.intro, r.begun = silent, false
}

// item reads a list item: its sentences, and the lists in it, which it introduces. Words
// that deny in an item that does not begin with a path are about all that follows.
func (r *targetReader) item(item ast.Node) {
	denying, begins := r.denying, false
	for _, node := range children(item) {
		if nested, ok := node.(*ast.List); ok {
			for _, inner := range children(nested) {
				r.item(inner)
			}
			continue
		}
		start, end := extent(node)
		found := r.spansWithin(start, end)
		if li, ok := item.(*ast.ListItem); ok && node == item.FirstChild() {
			if word, at := r.firstWord(li); looksLikePath(word) {
				found = append([]codeSpan{{text: word, at: at, loose: true}}, found...)
			}
			if len(found) > 0 && strings.Trim(string(r.prose[start:found[0].at]),
				"`*_-+.)[]xX 0123456789✅❌🚫🔒⛔🛑") == "" {
				found, begins = slices.Clone(found), true
				found[0].begins = true
			}
		}
		r.itemClauses(node, found, &begins)
	}
	if begins {
		r.denying = denying
	}
}

// itemClauses reads the sentences of an item. Begins becomes false with one that is about
// all that follows.
func (r *targetReader) itemClauses(node ast.Node, found []codeSpan, begins *bool) {
	_, introduces := node.NextSibling().(*ast.List)
	var before []codeSpan
	for i, c := range r.clauses(extent(node)) {
		c.spans = slices.DeleteFunc(slices.Clone(found), func(s codeSpan) bool { return s.at < c.at || s.at >= c.end })
		switch says := r.take(c, false); {
		case says != denies:
		case len(c.spans) > 0, introduces:
			r.denying, *begins = true, *begins && i == 0
		case about().MatchString(c.text):
			r.protectBefore(c.at, before)
		case !*begins && forbids(c.text):
			r.denying = true
		}
		if len(c.spans) > 0 {
			before = c.spans
		}
	}
}

// take adds the paths of a clause and returns what it says. With must, a path that was
// not spoken of before needs words that permit.
func (r *targetReader) take(c clause, must bool) saying {
	says, turn := sayingOf(c.text), c.end
	if found := contrast().FindSubmatchIndex(c.raw); found != nil && len(c.spans) > 0 {
		rest := string(c.raw[:found[0]])
		if found[2] >= 0 {
			rest += string(c.raw[found[3]:])
		}
		says = sayingOf(strings.Join(strings.Fields(rest), " "))
		switch before := c.spans[0].at < c.at+found[0]; {
		case (says == denies || r.denying) && found[2] >= 0:
			r.fail(r.line(c.at), "this says by an exception what may change; name it in a list below `Only "+
				"modify:`, and what may not below `Do NOT modify:`")
		case says != denies && before:
			turn = c.at + found[0]
		default:
			says = denies
		}
	}
	if says == silent && must && !r.denying && slices.ContainsFunc(c.spans, r.isNew) {
		r.fail(r.line(c.at), unclearSentence)
		says = denies
	}
	for _, span := range c.spans {
		switch {
		case bytes.HasSuffix(bytes.TrimRight(r.prose[:span.at], "` "), []byte("~~")): // struck out
		case r.denying || says == denies || span.at >= turn:
			r.protect(span)
		case !r.targetsGiven:
			r.target(span)
			r.named = true
		}
	}
	return says
}

// namesPaths reports whether a list names something that must be a path.
func (r *targetReader) namesPaths(node *ast.List) bool {
	paths := false
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if item, ok := node.(*ast.ListItem); ok && entering {
			word, _ := r.firstWord(item)
			paths = paths || looksLikePath(word)
		}
		return ast.WalkContinue, nil
	})
	start, end := extent(node)
	return paths || slices.ContainsFunc(r.spansWithin(start, end),
		func(span codeSpan) bool { return !doubtful(strings.TrimSpace(span.text)) })
}

// clause is a sentence, a heading, or a line that begins like a sentence.
type clause struct {
	at, end int
	// raw is its text without what is in backticks, paths and emphasis: what files are
	// called says nothing about what may be done to them. Text is raw on one line.
	raw   []byte
	text  string
	spans []codeSpan
}

// clauses cuts a paragraph at the ends of its sentences, and before a line that begins
// like one.
func (b *body) clauses(start, end int) []clause {
	text := bytes.Clone(b.prose[start:end])
	for _, span := range b.spansWithin(start, end) {
		at := span.at - start
		blank(text[at:min(at+len(span.text), len(text))])
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
	from := 0
	for _, at := range append(clauseEnd().FindAllIndex(text, -1), []int{len(text)}) {
		raw := text[from:at[0]]
		list = append(list, clause{
			start + from, start + at[0], raw, strings.Join(strings.Fields(string(raw)), " "),
			b.spansWithin(start+from, start+at[0]),
		})
		from = at[0]
	}
	return list
}

func (b *body) target(found codeSpan) {
	line := b.line(found.at)
	pattern, err := newPattern(found.text, line)
	if err != nil {
		b.warn(line, "not read as a target: %v", err)
		return
	}
	pattern.Loose, pattern.Named = found.loose, found.begins
	b.Targets = addPattern(b.Targets, pattern)
}

func (b *body) protect(found codeSpan) {
	line := b.line(found.at)
	pattern, err := newProtection(found.text, line)
	if err != nil {
		b.fail(line, "cannot be protected: %v", err)
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
