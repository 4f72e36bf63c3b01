package program

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// maxPatterns bounds the targets and the protected paths of a program.
const maxPatterns = 1000

// readTargets collects the patterns of the Target section. What the
// frontmatter names as target replaces the section's; what either protects is
// protected.
func (b *body) readTargets(targets, protects []section) {
	for _, s := range targets {
		r := targetReader{body: b}
		r.blocks(s.nodes)
	}
	for _, s := range protects {
		r := targetReader{body: b, denying: true}
		r.blocks(s.nodes)
	}
	for _, pattern := range b.Exceptions { // "Do NOT modify anything but `a.go`"
		if pattern.Outside && !b.targetsGiven && !slices.ContainsFunc(b.Targets, func(t Pattern) bool { return !t.Bare }) {
			b.Targets = append(b.Targets, Pattern{Text: pattern.Text, Line: pattern.Line})
		}
	}
	if len(b.Targets) > maxPatterns || len(b.Protected) > maxPatterns {
		b.fail(0, "there are more than %d targets or protected paths; name directories or globs", maxPatterns)
	}
}

// targetReader reads a section from its beginning to its end. What it names may
// change up to the first words that deny it; from there on it is protected, up
// to a heading or an introduction that clearly permits.
type targetReader struct {
	*body
	denying bool
	named   bool // a path was allowed before
	intro   intent
	said    bool // there was text since the last list
	more    bool // the introduction permits something more: "You may also modify"
	label   bool // the introduction is a heading or a line that ends with a colon
	doubt   int  // the line of a first list whose label says nothing; 0 without one
}

// What a person reads of a list or a sentence that may be meant either way.
const (
	unclearList     = "this list does not say whether its files may change; write a line `You may also modify:` or `Do NOT modify:` above it"
	unclearSentence = "this sentence does not say whether its files may change; write them in a list below `You may also modify:` or `Do NOT modify:`"
)

func (r *targetReader) blocks(nodes []ast.Node) {
	for _, node := range nodes {
		switch node := node.(type) {
		case *ast.Heading:
			if node.Lines().Len() == 0 { // it says nothing, and is nowhere
				continue
			}
			r.introduce(r.clauseText(r.headingStart(node), r.headingEnd(node)))
		case *ast.List:
			r.list(node)
		case *ast.Paragraph, *ast.TextBlock:
			r.paragraph(node)
		case *ast.Blockquote:
			r.blocks(children(node))
		}
	}
}

func (r *targetReader) introduce(text string) {
	r.intro, r.said, r.label, r.more = introOf(text), true, true, moreForm().MatchString(text)
	switch r.intro {
	case denies, unclear:
		r.denying = true
	case permits:
		r.permit()
	case silent:
	}
}

// permit ends what was denied. Where a first list said nothing, and this permits
// no more but these, nobody can tell what the first was.
func (r *targetReader) permit() {
	r.denying = false
	if r.doubt > 0 && !r.more {
		r.fail(r.doubt, unclearList)
	}
	r.doubt = 0
}

func (r *targetReader) paragraph(node ast.Node) {
	start, end := extent(node)
	_, beforeList := node.NextSibling().(*ast.List)
	prose := strings.TrimRight(string(r.prose[start:end]), "*_ \t\r\n")
	colon := strings.HasSuffix(prose, ":") || strings.HasSuffix(prose, "：")
	r.intro, r.said, r.label, r.more = silent, true, colon, false
	others := false                    // it denies everything that it does not name
	var before []codeSpan              // those of the last sentence with any
	more := r.named && !r.targetsGiven // the targets were given before
	list := r.clauses(start, end)
	for i, c := range list {
		own, text := r.spansWithin(c.start, c.end), r.clauseText(c.start, c.end)
		if len(own) > 0 && referForm().MatchString(text) {
			continue // it is only mentioned
		}
		introduces := i == len(list)-1 && (colon || beforeList && isLabel(prose) && !strings.HasSuffix(prose, "."))
		switch {
		case len(own) > 0:
			c.intent = r.leadOf(c, own[0], i == 0)
		case introduces:
			c.intent = introOf(text)
		case c.intent == denies && !beforeList && !c.others && backForm().MatchString(text):
			r.deniesBefore(c, before)
			continue
		}
		if len(own) > 0 {
			before = own
		}
		switch c.intent {
		case denies, unclear:
			if c.others && len(own) == 0 {
				others = true
				continue
			}
			r.intro = c.intent
			r.denying = r.denying || !c.row
		case permits:
			if r.intro == silent {
				r.intro, r.more = permits, moreForm().MatchString(text)
			}
		case silent:
		}
		if len(own) > 0 && (r.turned(c, own) || more && !r.denying && r.names(c, own)) {
			c.intent = unclear
		}
		if len(own) > 0 && c.intent == unclear {
			r.fail(r.line(own[0].at), unclearSentence)
		}
		r.take(own, c, r.denying || c.intent == denies || c.intent == unclear)
	}
	if others && r.intro == silent && colon {
		r.intro, r.denying = denies, true
	}
}

// leadOf is what the words before the first path of a clause say. A first
// sentence with a label that says nothing leaves open what it is.
func (r *targetReader) leadOf(c clause, first codeSpan, begins bool) intent {
	if c.intent == denies || c.row || c.except >= 0 && c.except < first.at {
		return c.intent
	}
	text := strings.TrimRight(r.clauseText(c.start, first.at), "*_` \t\r\n")
	by := introOf(text)
	if by == denies || by == unclear {
		return by
	}
	if begins && by == silent && c.intent == silent && strings.HasSuffix(strings.TrimSpace(text), ":") && !r.denying && !r.targetsGiven {
		if r.named {
			return unclear
		}
		r.doubt = r.line(first.at)
	}
	return c.intent
}

// turned reports whether a sentence that neither permits nor denies goes on with a
// negation behind its last path: "`a.go` is not for you."
func (r *targetReader) turned(c clause, own []codeSpan) bool {
	last := own[len(own)-1]
	return c.intent == silent && !c.row && c.except < 0 && !r.denying && turnForm().MatchString(r.clauseText(min(last.at+len(last.text), c.end), c.end))
}

// names reports whether a sentence that says nothing names a path that was not
// spoken of before.
func (r *targetReader) names(c clause, own []codeSpan) bool {
	return c.intent == silent && !c.row && c.except < 0 && slices.ContainsFunc(own, func(span codeSpan) bool {
		pattern, err := newPattern(span.text, 0)
		same := func(known Pattern) bool { return known.Text == pattern.Text }
		return err == nil && !pattern.Bare && !slices.ContainsFunc(r.Targets, same) && !slices.ContainsFunc(r.Protected, same) && !Matcher{targets: r.Targets}.Target(pattern.Text)
	})
}

// deniesBefore takes a clause such as "Do not modify it." It is about the paths of
// the sentence before; where that has none, nobody can tell which are meant.
func (r *targetReader) deniesBefore(c clause, before []codeSpan) {
	for _, span := range before {
		r.protect(span)
	}
	if len(before) == 0 && r.named && !r.denying {
		r.fail(r.line(c.start), "this sentence does not say which files may not change; name them in it")
	}
}

// list reads a list. A second one that nothing clearly permits is protected;
// where nothing says so, that is an error, since nobody can tell what was meant.
func (r *targetReader) list(node *ast.List) {
	open := false
	if r.said {
		switch {
		case r.intro == permits:
			r.permit()
		case r.intro == unclear, r.intro == silent && r.named && !r.denying:
			open = r.namesPaths(node)
			r.denying = true
		case r.intro == silent && r.label && !r.denying && !r.targetsGiven && r.namesPaths(node):
			r.doubt = r.line(offset(node))
		}
	}
	if open {
		r.fail(r.line(offset(node)), unclearList)
	}
	for _, item := range children(node) {
		r.item(item)
	}
	r.intro, r.said, r.label, r.more = silent, false, false, false
}

// item reads a list item. Words that deny behind its path are about that path
// alone; before it, or without one, they are about all that follows.
func (r *targetReader) item(item ast.Node) {
	denying := r.denying
	about := false
	var before []codeSpan // those of the last sentence with any
	for _, node := range children(item) {
		if nested, ok := node.(*ast.List); ok {
			for _, inner := range children(nested) {
				r.item(inner)
			}
			continue
		}
		start, end := extent(node)
		if start == end {
			continue
		}
		_, beforeList := node.NextSibling().(*ast.List)
		found := r.spansWithin(start, end)
		if li, ok := item.(*ast.ListItem); ok && node == item.FirstChild() {
			if word, at := r.firstWord(li); looksLikePath(word) {
				found = append([]codeSpan{{text: word, at: at, loose: true}}, found...)
			}
		}
		about = about || len(found) > 0 && strings.TrimSpace(strings.Trim(string(r.prose[start:found[0].at]), "`*_-+.)[]xX 0123456789✅❌🚫🔒⛔🛑")) == ""
		for _, c := range r.clauses(start, end) {
			own := within(found, c.start, c.end)
			switch {
			case len(own) > 0 && (!about || own[0].at != found[0].at):
				c.intent = r.leadOf(c, own[0], false)
			case len(own) == 0 && beforeList && c.intent != denies:
				c.intent = introOf(r.clauseText(c.start, c.end))
			case len(own) == 0 && about && c.intent == denies && !c.others && backForm().MatchString(r.clauseText(c.start, c.end)):
				r.deniesBefore(c, before)
			}
			if len(own) > 0 {
				before = own
			}
			if len(own) > 0 && r.turned(c, own) {
				c.intent = unclear
			}
			if c.intent == unclear && (beforeList || len(own) > 0) {
				r.fail(r.line(c.start), unclearList)
			}
			if c.intent == denies || c.intent == unclear {
				r.denying = true
				about = about && (len(own) == 0 || own[0].at == found[0].at)
			}
			r.take(own, c, r.denying)
		}
	}
	if about {
		r.denying = denying
	}
}

// take adds the paths of a clause. Those behind "other than" are what the
// clause does not speak of.
func (r *targetReader) take(found []codeSpan, c clause, denied bool) {
	excepts := func(span codeSpan) bool { return c.except >= 0 && span.at >= c.except && span.at < c.resumes }
	positive := slices.ContainsFunc(found, func(span codeSpan) bool { return !excepts(span) })
	for _, span := range found {
		excepted := excepts(span)
		switch {
		case bytes.HasSuffix(bytes.TrimRight(r.prose[:span.at], "` "), []byte("~~")): // struck out
		case denied && excepted:
			r.excepted(span, !positive)
		case denied || excepted:
			r.protect(span)
		case !r.targetsGiven:
			r.target(span)
			r.named = true
		}
	}
}

// excepted notes what a denying clause leaves out; with outside the clause
// names nothing else, as in "anything outside `tests/`".
func (r *targetReader) excepted(span codeSpan, outside bool) {
	pattern, err := newPattern(span.text, r.line(span.at))
	if err != nil || pattern.Bare {
		return
	}
	pattern.Outside = outside
	r.Exceptions = addPattern(r.Exceptions, pattern)
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
	for _, span := range r.spansWithin(start, end) {
		paths = paths || !doubtful(strings.TrimSpace(span.text))
	}
	return paths
}

func (b *body) target(found codeSpan) {
	line := b.line(found.at)
	pattern, err := newPattern(found.text, line)
	if err != nil {
		b.warn(line, "not read as a target: %v", err)
		return
	}
	pattern.Loose = found.loose
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
	if pattern.Text == "" || len(patterns) > maxPatterns || slices.ContainsFunc(patterns, same) {
		return patterns
	}
	return append(patterns, pattern)
}
