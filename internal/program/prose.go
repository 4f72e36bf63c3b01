package program

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

// readEvaluation joins the shell fences of the Evaluation section.
func (b *body) readEvaluation(sections []section) {
	script, other, otherLine := "", "", 0
	for _, s := range sections {
		for _, c := range s.blocks {
			fence, ok := c.node.(*ast.FencedCodeBlock)
			if !ok {
				continue
			}
			text := c.code(b.text)
			switch label := strings.ToLower(string(fence.Language(b.text))); {
			case label == "" && (json.Valid([]byte(text)) || shownForm().MatchString(text)):
				b.warn(c.line, "this fence is taken as output and not run; label it `bash` when it is part of the "+
					"evaluation")
			case label == "", label == "bash", label == "sh":
				script += text
			default:
				other, otherLine = label, c.line-1
			}
		}
	}
	if hasCommand().MatchString(script) {
		b.Script = strings.Trim(script, "\n") + "\n"
	} else if other != "" {
		b.warn(otherLine, "a fence of `%s` is documentation; the evaluation is what stands in `bash` and `sh` fences",
			clip(other))
	}
}

// code is the text of a code block, without what its lines are indented by.
func (c *block) code(source []byte) string {
	var out strings.Builder
	for _, line := range c.node.Lines().Sliced(0, c.node.Lines().Len()) {
		out.Write(line.Value(source))
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// hasCommand is a script that has more than comments.
var hasCommand = lazyregexp.New(`(?m)^[ \t]*[^#\s]`)

// metricForm names the metric: "The metric is `x`", "Metric: `x`".
var metricForm = lazyregexp.New(
	`(?i)(?:\bthe\s+(?:[*_]*\w+[*_]*\s+){0,2}?[*_]*metric[*_]*\s+[*_]*is[*_]*:?\s+(?:the\s+|called\s+|named\s+)?[*_]*|` +
		`(?:^|[\n.;>*+-])\s*[*_]*(?:the\s+|primary\s+|main\s+)?metric(?:\s+name)?[*_]*\s*:[*_]*\s*[*_]*)` + "`+\\s?$",
)

// metricName tells names from values such as `null`, `0` and `10 ms`.
var (
	metricName = lazyregexp.New(`^[\pL_]`)
	noName     = lazyregexp.New(`(?i)^(?:null|none|nil|true|false|nan|inf|infinity|undefined)$`)
)

// beforeName is how much of what stands before a name says what it names.
const beforeName = 160

// named calls use for all that is in backticks, with what stands before it.
func (b *body) named(use func(span codeSpan, before []byte)) {
	for _, c := range b.blocks {
		for _, span := range c.spans {
			use(span, c.text[max(0, span.at-beforeName):span.at])
		}
	}
}

// readMetric takes the metric's name from the text.
func (b *body) readMetric() {
	var name, again codeSpan // the first, and a second that is another
	b.named(func(span codeSpan, before []byte) {
		span.text = strings.TrimSpace(span.text)
		switch {
		case !metricForm().Match(before) || !metricName().MatchString(span.text) || noName().MatchString(span.text):
		case name.text == "":
			name = span
		case span.text != name.text && again.text == "":
			again = span
		}
	})
	switch {
	case b.Metric == "" && again.text != "":
		b.fail(again.line, "the text names two metrics, `%s` on line %d and `%s` here; say which with "+
			"`metric: %s`", clip(name.text), name.line, clip(again.text), clip(name.text))
	case b.Metric == "":
		b.Metric = name.text
	case name.text != "" && name.text != b.Metric:
		b.warn(name.line, "the text says that the metric is `%s`; `metric: %s` of the frontmatter counts",
			clip(name.text), clip(b.Metric))
	}
}

// shownForm begins what no shell could run: an object or a list of objects in JSON
// or something close to it, a number alone, a word with a colon, and a transcript.
var shownForm = lazyregexp.New(
	`^\s*(?:\{\s*(?:"[^"\n]*"|'[^'\n]*')\s*:|` +
		`\[\s*\{\s*["'}]|[-+]?\d[\d.,]*%?\s*(?:\n|$)|[A-Za-z_][\w./-]*:(?:[ \t]|\n|$)|\$ )`)

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
