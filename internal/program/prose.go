package program

import (
	"bytes"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

// Sentinel marks a template that nobody filled in.
const Sentinel = "<!-- AUTOLOOP:UNCONFIGURED -->"

func sentinelLine(data []byte) int {
	const mark = "AUTOLOOP:UNCONFIGURED"
	for at := 0; ; at += len(mark) {
		found := bytes.Index(data[at:], []byte(mark))
		if found < 0 {
			return 0
		}
		at += found
		before, after := bytes.TrimRight(data[:at], " "), bytes.TrimLeft(data[at+len(mark):], " ")
		if bytes.HasSuffix(before, []byte("<!--")) && bytes.HasPrefix(after, []byte("-->")) {
			return lineAt(data, at)
		}
	}
}

func (p *Program) placeholder(line int) {
	if !p.Unconfigured || line < p.Placeholder {
		p.Placeholder = line
	}
	p.Unconfigured = true
}

var placeholderForm = lazyregexp.New(`^(?:REPLACE[ _](?:THIS|ME)\b.*|REPLACE_WITH_\w*)$`)

// isPlaceholder reports whether a text is nothing but a placeholder.
func isPlaceholder(text string) bool {
	return strings.HasPrefix(text, "REPLACE") && placeholderForm().MatchString(text)
}

// readPlaceholders finds lines and code spans that were not filled in.
func (b *body) readPlaceholders() {
	if !bytes.Contains(b.text, []byte("TODO")) && !bytes.Contains(b.text, []byte("REPLACE")) {
		return
	}
	number, before := b.first-1, ""
	for line := range bytes.Lines(b.prose) {
		number++
		text := string(bytes.TrimSpace(line))
		if inner := unmarked(text); isPlaceholder(inner) || isTodo(inner, inner == text && unfinished(before)) {
			b.placeholder(number)
		}
		before = text
	}
	for _, node := range b.code {
		for i := range node.Lines().Len() {
			segment := node.Lines().At(i)
			text := strings.TrimSpace(string(segment.Value(b.text)))
			if isPlaceholder(text) || isTodo(text, false) {
				b.placeholder(b.line(segment.Start))
			}
		}
	}
	for _, span := range b.spans {
		if isPlaceholder(strings.TrimSpace(span.text)) {
			b.placeholder(b.line(span.at))
		}
	}
}

var markForm = lazyregexp.New(`^(?:(?:[>#*+_-]+|\d+[.)]|\[[ xX]\])\s*)+`)

// unmarked is a line without the marks of lists, quotes, headings and emphasis
// around it.
func unmarked(line string) string {
	return strings.TrimRight(line[len(markForm().FindString(line)):], "*_ ")
}

// unfinished reports whether the sentence of a line goes on in the next.
func unfinished(line string) bool {
	return line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "```") &&
		!strings.HasPrefix(line, "~~~") &&
		!strings.ContainsAny(line[len(line)-1:], ".:;!?")
}

var (
	todo = lazyregexp.New(`^TODO\b`)
	// todoAlone is the one within a sentence: there TODO may be a word of it.
	todoAlone = lazyregexp.New(`^TODO(?:[:(]|$)`)
)

// isTodo reports whether a line begins with TODO.
func isTodo(line string, inSentence bool) bool {
	if inSentence {
		return todoAlone().MatchString(line)
	}
	return todo().MatchString(line)
}

var betterForm = lazyregexp.New(`(?i)(?:\b|_)(lower|higher)(?:[*_` + "`" + `]*\s*(?:/|\bor\b)\s*[*_` + "`" +
	`]*(lower|higher))?[*_` + "`" + `]*\s+(?:[a-z]+\s+)?[*_]*(?:is|are)[*_]*\s+[*_]*better\b`)

// readDirection finds what the text says about the direction, and whether that
// contradicts the frontmatter. A text that says both says nothing.
func (b *body) readDirection() {
	if b.Unconfigured || b.directionBad {
		return
	}
	said := map[string]int{}
	say := func(word string, at int) {
		if first, known := said[word]; !known || at < first {
			said[word] = at
		}
	}
	for _, found := range betterForm().FindAllSubmatchIndex(b.prose, -1) {
		for _, group := range []int{2, 4} {
			if found[group] >= 0 {
				say(strings.ToLower(string(b.prose[found[group]:found[group+1]])), found[0])
			}
		}
	}
	if len(said) == 0 {
		b.readOptimised(say)
	}
	if len(said) != 1 {
		return
	}
	for word, at := range said {
		if !b.DirectionGiven {
			b.textDirection = metric.Direction(word)
		}
		if word != b.Direction.String() {
			b.contradict(b.line(at), word)
		}
	}
}

// readOptimised finds "Maximise `x`" and "Minimise `x`" of the metric.
func (b *body) readOptimised(say func(word string, at int)) {
	name := b.Metric
	if name == "" {
		named, again := b.namedMetric()
		if again != nil {
			return
		}
		name = named.text
	}
	for _, span := range b.spans {
		text := b.prose[max(0, span.at-160):span.at]
		found := optimiseForm().FindSubmatch(text)
		if name == "" || strings.TrimSpace(span.text) != name || found == nil || conditional(text) ||
			notForm().Match(lastSentence(text)) {
			continue
		}
		word := "higher"
		if found[1][1]|0x20 == 'i' {
			word = "lower"
		}
		say(word, span.at)
	}
}

func (b *body) contradict(line int, says string) {
	cure := "add the line `metric_direction: " + says + "` to the frontmatter"
	if b.DirectionGiven {
		cure = "change the frontmatter's line to `metric_direction: " + says + "`"
	}
	b.fail(line, "the text says %q and metric_direction is %s; %s, or change the text",
		strings.ToUpper(says[:1])+says[1:]+" is better", b.Direction, cure)
	b.Problems[len(b.Problems)-1].Contradiction = true
}
