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

// introduce takes in a heading.
func (r *targetReader) introduce(text string) {
	r.intro, r.said, r.label, r.more = introOf(text), true, true, moreForm.MatchString(text)
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
		if len(own) > 0 && referForm.MatchString(text) {
			continue // it is only mentioned
		}
		introduces := i == len(list)-1 && (colon || beforeList && isLabel(prose) && !strings.HasSuffix(prose, "."))
		switch {
		case len(own) > 0:
			c.intent = r.leadOf(c, own[0], i == 0)
		case introduces:
			c.intent = introOf(text)
		case c.intent == denies && !beforeList && !c.others && backForm.MatchString(text):
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
				r.intro, r.more = permits, moreForm.MatchString(text)
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
	return c.intent == silent && !c.row && c.except < 0 && !r.denying && turnForm.MatchString(r.clauseText(min(last.at+len(last.text), c.end), c.end))
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
			case len(own) == 0 && about && c.intent == denies && !c.others && backForm.MatchString(r.clauseText(c.start, c.end)):
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
		if at := exceptForm.FindIndex(said); at != nil {
			if len(b.spansWithin(c.start+at[0], c.start+at[1])) > 0 { // "all of `src/` but `a.go`"
				at[0] = bytes.LastIndex(said[:at[1]], []byte("but"))
			}
			if c.except = c.start + at[0]; len(b.spansWithin(c.start, c.except)) > 0 {
				said = slices.Concat(said[:at[0]], said[at[1]:]) // "excluding" denies what comes behind it
			} else {
				c.resumes = c.start + resumes(said, at[1])
			}
		} else if at := exceptBehind.FindIndex(said); at != nil && len(b.spansWithin(c.start, c.start+at[0])) > 0 {
			c.except, c.resumes = c.start, c.start+at[0]
		}
		c.intent = intentOf(string(said))
		if at := butNotForm.FindIndex(said); at != nil && c.except < 0 && len(b.spansWithin(c.start, c.start+at[0])) > 0 {
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
		c.others = othersForm.Match(text[from:to])
		list = append(list, c)
	}
	from := 0
	for _, at := range clauseEnd.FindAllIndex(text, -1) {
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
		at := commaForm.FindIndex(said[from:])
		if at == nil {
			return len(said)
		}
		from += at[1]
		next := len(said)
		if end := commaForm.FindIndex(said[from:]); end != nil {
			next = from + end[0]
		}
		if letterForm.MatchString(joiners.ReplaceAllString(string(said[from:next]), "")) {
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
	for _, at := range pathWord.FindAllIndex(text, -1) {
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

func children(node ast.Node) []ast.Node {
	var list []ast.Node
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		list = append(list, child)
	}
	return list
}

// extent is where the lines of a block, and of those within it, begin and end.
func extent(node ast.Node) (start, end int) {
	start = -1
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || node.Type() == ast.TypeInline || node.Lines() == nil {
			return ast.WalkContinue, nil
		}
		if lines := node.Lines(); lines.Len() > 0 {
			if at := lines.At(0).Start; start < 0 || at < start {
				start = at
			}
			end = max(end, lines.At(lines.Len()-1).Stop)
		}
		return ast.WalkContinue, nil
	})
	return max(start, 0), max(end, start, 0)
}

func offset(node ast.Node) int {
	start, _ := extent(node)
	return start
}

// firstWord is the first word of a list item, without emphasis and the like.
func (b *body) firstWord(item *ast.ListItem) (word string, at int) {
	block := item.FirstChild()
	if block == nil || block.Lines() == nil || block.Lines().Len() == 0 {
		return "", 0
	}
	switch block.(type) {
	case *ast.TextBlock, *ast.Paragraph:
	default:
		return "", 0
	}
	segment := block.Lines().At(0)
	text := string(segment.Value(b.text))
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		text = strings.TrimPrefix(text, box)
	}
	words := strings.Fields(text)
	if len(words) == 0 || strings.Contains(words[0], "`") {
		return "", 0
	}
	word = words[0]
	if title, _, link := strings.Cut(strings.TrimPrefix(word, "["), "]("); link {
		word = title
	}
	for _, mark := range []string{"**", "__", `"`, "'"} {
		if inner, ok := strings.CutPrefix(word, mark); ok {
			word, _, _ = strings.Cut(inner, mark)
		}
	}
	return strings.TrimRight(word, ".,:;)"), segment.Start
}

// looksLikePath reports whether a word that is not in backticks is a path.
func looksLikePath(word string) bool {
	if word == "" || doubtful(word) || slices.Contains([]string{"e.g", "i.e", "and/or", "n/a", "N/A", "I/O"}, word) {
		return false
	}
	return strings.ContainsAny(strings.Trim(word, "."), "/.*")
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
