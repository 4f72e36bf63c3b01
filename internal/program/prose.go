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
	for _, c := range b.blocks {
		number, before := c.line-1, ""
		for line := range bytes.Lines(c.text) {
			number++
			text := string(bytes.TrimSpace(line))
			inner := text
			if !c.isCode() {
				inner = unmarked(text)
			}
			todo := todo()
			if inner == text && !c.isCode() && !finished().MatchString(before) { // TODO may be a word of a sentence
				todo = todoAlone()
			}
			if isPlaceholder(inner) || todo.MatchString(inner) {
				b.placeholder(number)
			}
			before = text
		}
		for _, span := range c.spans {
			if isPlaceholder(strings.TrimSpace(span.text)) {
				b.placeholder(span.line)
			}
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
var finished = lazyregexp.New(`^$|[.:;!?]$`)

var (
	todo = lazyregexp.New(`^TODO\b`)
	// todoAlone is no word of a sentence.
	todoAlone = lazyregexp.New(`^TODO(?:[:(]|$)`)
)

var betterForm = lazyregexp.New(`(?i)(?:\b|_)(lower|higher)(?:[*_` + "`" + `]*\s*(?:/|\bor\b)\s*[*_` + "`" +
	`]*(lower|higher))?[*_` + "`" + `]*\s+(?:[a-z]+\s+)?[*_]*(?:is|are)[*_]*\s+[*_]*better\b`)

// readDirection finds what the text says about the direction, and whether that
// contradicts the frontmatter. A text that says both says nothing.
func (b *body) readDirection() {
	if b.Unconfigured || b.directionBad {
		return
	}
	said := map[metric.Direction]int{} // its first line
	say := func(direction metric.Direction, line int) {
		if said[direction] == 0 {
			said[direction] = line
		}
	}
	for _, c := range b.blocks {
		if c.isCode() {
			continue
		}
		for _, found := range betterForm().FindAllSubmatchIndex(c.text, -1) {
			for _, group := range []int{2, 4} {
				if found[group] >= 0 {
					word := strings.ToLower(string(c.text[found[group]:found[group+1]]))
					say(metric.Direction(word), c.lineAt(found[0]))
				}
			}
		}
	}
	if len(said) == 0 { // "Maximise `x`" and "Minimise `x`" of the metric, or of anything where nothing names that
		b.named(func(span codeSpan, before []byte) {
			found := optimiseForm().FindSubmatch(before)
			sentences := sentenceEnd().Split(string(before), -1)
			if b.Metric != "" && strings.TrimSpace(span.text) != b.Metric || found == nil ||
				notForm().MatchString(sentences[len(sentences)-1]) {
				return
			}
			direction := metric.Higher
			if bytes.EqualFold(found[1][:2], []byte("mi")) {
				direction = metric.Lower
			}
			say(direction, span.line)
		})
	}
	if len(said) != 1 {
		return
	}
	for direction, line := range said {
		if !b.DirectionGiven {
			b.textDirection = direction
		}
		if direction != b.Direction {
			b.contradict(line, direction.String())
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
