package program

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Sentinel marks a template that nobody filled in.
const Sentinel = "<!-- AUTOLOOP:UNCONFIGURED -->"

var (
	placeholderForm = regexp.MustCompile(`^(REPLACE THIS\b.*|REPLACE_WITH_\S*|TODO\b.*)$`)
	lowerForm       = regexp.MustCompile(`(?i)\blower\s+is\s+better\b`)
	higherForm      = regexp.MustCompile(`(?i)\bhigher\s+is\s+better\b`)
	metricForm      = regexp.MustCompile("(?i)\\bthe metric is\\s+`([^`\\n]+)`")
	protectForm     = regexp.MustCompile(`(?im)^.*\b(do\s+not|don['’]t)\s+modify\b.*$`)
)

// asks reports whether choosing among programs needs the body read: a cheap
// test for the words that matter there.
func asks(body []byte) bool {
	for _, word := range []string{"REPLACE", "TODO", "AUTOLOOP:UNCONFIGURED", "is better", "is Better"} {
		if bytes.Contains(body, []byte(word)) {
			return true
		}
	}
	return lowerForm.Match(body) || higherForm.Match(body)
}

// section is one of the parts of the body that mean something.
type section struct {
	start, end int // bytes of its content
	nodes      []ast.Node
}

// readBody reads the sections. firstLine is the file's line of its first line.
func (p *Program) readBody(body []byte, firstLine int, whole bool) {
	if !whole && !asks(body) {
		return
	}
	document := goldmark.DefaultParser().Parse(text.NewReader(body))
	sections := divide(document, body)
	b := &bodyReader{Program: p, text: body, first: firstLine}
	p.Goal = strings.TrimSpace(b.slice(sections["goal"]))
	if _, given := sections["goal"]; !given && len(sections) == 0 {
		p.Goal = strings.TrimSpace(string(body))
	}
	b.readTarget(sections["target"])
	b.readEvaluation(sections["evaluation"])
	b.readProse(document)
	p.Unconfigured = b.unconfigured(document)
}

// divide finds the sections by their headings.
func divide(document ast.Node, source []byte) map[string]section {
	sections := map[string]section{}
	open, level := "", 0
	closeAt := func(at int) {
		if open != "" {
			s := sections[open]
			s.end = at
			sections[open] = s
		}
		open = ""
	}
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		heading, ok := node.(*ast.Heading)
		if !ok {
			if open != "" {
				s := sections[open]
				s.nodes = append(s.nodes, node)
				sections[open] = s
			}
			continue
		}
		start, end := extent(heading, source)
		name := sectionName(headingText(heading, source))
		if name == "" && open != "" && heading.Level > level {
			s := sections[open]
			s.nodes = append(s.nodes, node)
			sections[open] = s
			continue
		}
		closeAt(start)
		if _, twice := sections[name]; name != "" && !twice {
			sections[name] = section{start: end, end: len(source)}
			open, level = name, heading.Level
		}
	}
	return sections
}

var wordForm = regexp.MustCompile(`[a-z]+`)

func sectionName(heading string) string {
	found := map[string]bool{}
	for _, word := range wordForm.FindAllString(strings.ToLower(heading), -1) {
		found[word] = true
	}
	switch {
	case found["evaluation"], found["evaluate"]:
		return "evaluation"
	case (found["target"] || found["targets"]) && !found["metric"]:
		return "target"
	case found["goal"], found["goals"]:
		return "goal"
	default:
		return ""
	}
}

func headingText(heading *ast.Heading, source []byte) string {
	var out strings.Builder
	for i := range heading.Lines().Len() {
		segment := heading.Lines().At(i)
		out.Write(segment.Value(source))
	}
	return out.String()
}

// extent returns where a heading's lines begin and end, its marks included.
func extent(heading *ast.Heading, source []byte) (start, end int) {
	lines := heading.Lines()
	if lines.Len() == 0 {
		return 0, 0
	}
	start = bytes.LastIndexByte(source[:lines.At(0).Start], '\n') + 1
	end = lines.At(lines.Len() - 1).Stop
	if next := bytes.IndexByte(source[min(end, len(source)):], '\n'); next >= 0 {
		end += next + 1
	} else {
		end = len(source)
	}
	underline := source[end:]
	if at := bytes.IndexByte(underline, '\n'); at >= 0 {
		underline = underline[:at]
	}
	if mark := strings.TrimSpace(string(underline)); mark != "" && strings.Trim(mark, "=-") == "" {
		end = min(end+len(underline)+1, len(source))
	}
	return start, end
}

// bodyReader reads the meaning out of the sections.
type bodyReader struct {
	*Program
	text  []byte
	first int
}

func (b *bodyReader) slice(s section) string { return string(b.text[s.start:max(s.start, s.end)]) }

// line is the file's line of a byte of the body.
func (b *bodyReader) line(at int) int { return b.first + bytes.Count(b.text[:at], []byte("\n")) }

// readTarget collects the patterns of the Target section, unless the
// frontmatter gave them.
func (b *bodyReader) readTarget(s section) {
	if len(b.Targets) > 0 || len(s.nodes) == 0 {
		return
	}
	border := s.end
	if found := protectForm.FindIndex(b.text[s.start:s.end]); found != nil {
		border = s.start + found[0]
	}
	for _, node := range s.nodes {
		_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch node := node.(type) {
			case *ast.CodeSpan:
				b.addSpan(node, border)
				return ast.WalkSkipChildren, nil
			case *ast.ListItem:
				b.addItem(node, border)
			}
			return ast.WalkContinue, nil
		})
	}
}

func (b *bodyReader) addSpan(span *ast.CodeSpan, border int) {
	segment, ok := span.FirstChild().(*ast.Text)
	if !ok {
		return
	}
	b.addPattern(string(segment.Segment.Value(b.text)), segment.Segment.Start, border)
}

// addItem takes the first word of a list item when it is a path and not in
// backticks.
func (b *bodyReader) addItem(item *ast.ListItem, border int) {
	block := item.FirstChild()
	if block == nil || block.Lines().Len() == 0 {
		return
	}
	segment := block.Lines().At(0)
	words := strings.Fields(string(segment.Value(b.text)))
	if len(words) == 0 || strings.Contains(words[0], "`") {
		return
	}
	word := strings.TrimRight(strings.Trim(words[0], "*_\"'"), ",:;")
	if strings.HasPrefix(words[0], "*") && !strings.HasPrefix(words[0], "**") {
		word = strings.TrimRight(words[0], ",:;")
	}
	if strings.Contains(strings.Trim(word, "./"), "/") || strings.HasSuffix(word, "/") || strings.Contains(word, "*") || hasExtension(word) {
		b.addPattern(word, segment.Start, border)
	}
}

func hasExtension(word string) bool {
	at := strings.LastIndexByte(word, '.')
	return at >= 0 && at < len(word)-1 && len(word)-at <= 6
}

func (b *bodyReader) addPattern(span string, at, border int) {
	span = strings.TrimSpace(span)
	if span == "" || strings.ContainsAny(span, "()<>|=;$\n\"") || (strings.Contains(span, " ") && !strings.Contains(span, "/")) {
		return
	}
	line := b.line(at)
	pattern, err := newPattern(span, line)
	if err != nil {
		b.fail(line, "target `%s`: %v", clip(span), err)
		return
	}
	if at >= border {
		b.Protected = append(b.Protected, pattern)
	} else {
		b.Targets = append(b.Targets, pattern)
	}
}

// readEvaluation joins the shell fences of the Evaluation section.
func (b *bodyReader) readEvaluation(s section) {
	var scripts []string
	for _, node := range s.nodes {
		_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
			fence, ok := node.(*ast.FencedCodeBlock)
			if !ok || !entering {
				return ast.WalkContinue, nil
			}
			switch strings.ToLower(string(fence.Language(b.text))) {
			case "", "bash", "sh":
				scripts = append(scripts, blockText(fence, b.text))
			}
			return ast.WalkSkipChildren, nil
		})
	}
	b.Script = strings.TrimSpace(strings.Join(scripts, "\n"))
	if b.Script != "" {
		b.Script += "\n"
	}
}

func blockText(node ast.Node, source []byte) string {
	var out strings.Builder
	for i := range node.Lines().Len() {
		segment := node.Lines().At(i)
		out.Write(segment.Value(source))
	}
	return out.String()
}

// readProse takes the metric's name from a sentence, and finds words on the
// direction that contradict the frontmatter.
func (b *bodyReader) readProse(document ast.Node) {
	if found := metricForm.FindSubmatch(b.text); found != nil && b.Metric == "" {
		b.Metric = strings.TrimSpace(string(found[1]))
	}
	prose := b.withoutFences(document)
	lower, higher := lowerForm.FindIndex(prose), higherForm.FindIndex(prose)
	switch {
	case lower != nil && higher == nil && b.Direction != "lower":
		b.contradict(b.line(lower[0]), "Lower is better", "lower")
	case higher != nil && lower == nil && b.Direction == "lower":
		b.contradict(b.line(higher[0]), "Higher is better", "higher")
	}
}

func (b *bodyReader) contradict(line int, says, add string) {
	b.fail(line, "the text says %q and metric_direction is %s; add the line `metric_direction: %s` to the frontmatter, or mend the text", says, b.Direction, add)
	b.Problems[len(b.Problems)-1].Contradiction = true
}

// withoutFences blanks out code blocks, keeping every offset.
func (b *bodyReader) withoutFences(document ast.Node) []byte {
	prose := bytes.Clone(b.text)
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		switch node.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range node.Lines().Len() {
				segment := node.Lines().At(i)
				for at := segment.Start; at < segment.Stop; at++ {
					if prose[at] != '\n' {
						prose[at] = ' '
					}
				}
			}
		}
	}
	return prose
}

// unconfigured finds the sentinel, and lines or code spans that are only a
// placeholder.
func (b *bodyReader) unconfigured(document ast.Node) bool {
	if bytes.Contains(b.text, []byte(Sentinel)) {
		return true
	}
	for line := range bytes.Lines(b.text) {
		text := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(string(line)), "-*>#`_ "))
		if placeholderForm.MatchString(strings.TrimRight(text, "`*_ ")) {
			return true
		}
	}
	found := false
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		span, ok := node.(*ast.CodeSpan)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		if child, ok := span.FirstChild().(*ast.Text); ok && placeholderForm.MatchString(strings.TrimSpace(string(child.Segment.Value(b.text)))) {
			found = true
			return ast.WalkStop, nil
		}
		return ast.WalkSkipChildren, nil
	})
	return found
}
