package program

import (
	"encoding/json"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/org/autoloop/internal/lazyregexp"
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
