package program

import (
	"bytes"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

// Sentinel marks a template that nobody filled in.
const Sentinel = "<!-- AUTOLOOP:UNCONFIGURED -->"

var sentinelForm = lazyregexp.New(`<!-- *AUTOLOOP:UNCONFIGURED *-->`)

func (p *Program) placeholder(line int) {
	if !p.Unconfigured || line < p.Placeholder {
		p.Placeholder = line
	}
	p.Unconfigured = true
}

var placeholderForm = lazyregexp.New(`^(?:REPLACE[ _](?:THIS|ME)\b.*|REPLACE_WITH_\w*)$`)

// isPlaceholder reports whether a text is nothing but a placeholder.
func isPlaceholder(text string) bool { return placeholderForm().MatchString(text) }

// readPlaceholders finds lines and code spans that were not filled in.
func (b *body) readPlaceholders() {
	if !bytes.Contains(b.text, []byte("TODO")) && !bytes.Contains(b.text, []byte("REPLACE")) {
		return
	}
	number, before := b.first-1, ""
	for line := range bytes.Lines(b.prose) {
		number++
		text := string(bytes.TrimSpace(line))
		if inner := unmarked(
			text,
		); isPlaceholder(inner) ||
			isTodo(inner, inner == text && !finished().MatchString(before)) {
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

// finished is a line after which another sentence begins.
var finished = lazyregexp.New("^(?:#|```|~~~|$)|[.:;!?]$")

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
	said := map[metric.Direction]int{}
	say := func(direction metric.Direction, at int) {
		if first, known := said[direction]; !known || at < first {
			said[direction] = at
		}
	}
	for _, found := range betterForm().FindAllSubmatchIndex(b.prose, -1) {
		for _, group := range []int{2, 4} {
			if found[group] >= 0 {
				word := strings.ToLower(string(b.prose[found[group]:found[group+1]]))
				say(metric.Direction(word), found[0])
			}
		}
	}
	if len(said) == 0 {
		b.readOptimised(say)
	}
	if len(said) != 1 {
		return
	}
	for direction, at := range said {
		if !b.DirectionGiven {
			b.textDirection = direction
		}
		if direction != b.Direction {
			b.contradict(b.line(at), direction.String())
		}
	}
}

var (
	optimiseForm = lazyregexp.New(
		`(?i)\b(maximi[sz]e|minimi[sz]e)s?[*_]*:?\s+(?:the\s+)?(?:(?:metric|value|score|number)\s+)?(?:of\s+)?[*_]*` + "`+\\s?$",
	)
	notForm     = lazyregexp.New(`(?i)\b(?:not|never|don['’]?t|instead of|rather than|without|avoid|stop)\b`)
	sentenceEnd = lazyregexp.New(`(?:[.!?]["”)]*\s)|\n\s*\n|\n\s*[-*+] `)
)

// readOptimised finds "Maximise `x`" and "Minimise `x`" of the metric, or of anything where
// nothing names that.
func (b *body) readOptimised(say func(direction metric.Direction, at int)) {
	name := b.Metric
	for _, span := range b.spans {
		text := b.prose[max(0, span.at-beforeName):span.at]
		found := optimiseForm().FindSubmatch(text)
		sentences := sentenceEnd().Split(string(text), -1)
		if name != "" && strings.TrimSpace(span.text) != name || found == nil ||
			notForm().MatchString(sentences[len(sentences)-1]) {
			continue
		}
		direction := metric.Higher
		if bytes.EqualFold(found[1][:2], []byte("mi")) {
			direction = metric.Lower
		}
		say(direction, span.at)
	}
}

func (b *body) contradict(line int, says string) {
	cure := "add the line `metric_direction: " + says + "` to the frontmatter"
	if b.DirectionGiven {
		cure = "change the frontmatter's line to `metric_direction: " + says + "`"
	}
	problem := b.problem(Error, line, "the text says %q and metric_direction is %s; %s, or change the text",
		strings.ToUpper(says[:1])+says[1:]+" is better", b.Direction, cure)
	problem.Contradiction = true
	b.Problems = append(b.Problems, problem)
}
