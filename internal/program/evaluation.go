package program

import (
	"encoding/json"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/org/autoloop/internal/lazyregexp"
)

var commentForm = lazyregexp.New(`(?s)<!--.*?-->`)

// readGoal takes the Goal section, or else the body.
func (b *body) readGoal(sections []section) {
	goal := string(b.text)
	for i, s := range sections {
		if i == 0 {
			goal = ""
		}
		goal += "\n" + string(b.text[s.start:s.end])
	}
	b.Goal = strings.TrimSpace(commentForm().ReplaceAllString(goal, ""))
}

// readEvaluation joins the shell fences of the Evaluation section.
func (b *body) readEvaluation(sections []section) {
	var script strings.Builder
	other, otherLine := "", 0
	for _, s := range sections {
		for _, node := range s.nodes {
			_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
				fence, ok := node.(*ast.FencedCodeBlock)
				if !ok || !entering {
					return ast.WalkContinue, nil
				}
				text := strings.TrimRight(blockText(fence, b.text), "\n") + "\n"
				label := strings.ToLower(string(fence.Language(b.text)))
				switch {
				case label == "" && (json.Valid([]byte(text)) || shownForm().MatchString(text)):
					b.warn(b.line(offset(fence)), "this fence is taken as output and not run; label it `bash` when "+
						"it is part of the evaluation")
				case label == "", label == "bash", label == "sh":
					script.WriteString(text)
				default:
					other, otherLine = label, b.line(fence.Info.Segment.Start)
				}
				return ast.WalkSkipChildren, nil
			})
		}
	}
	if hasCommand().MatchString(script.String()) {
		b.Script = strings.Trim(script.String(), "\n") + "\n"
	} else if other != "" {
		b.warn(otherLine, "a fence of `%s` is documentation; the evaluation is what stands in `bash` and `sh` fences",
			clip(other))
	}
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

// namedMetric is the metric that the text names; again is a second, different one.
func (b *body) namedMetric() (name codeSpan, again *codeSpan) {
	for _, span := range b.spans {
		content := strings.TrimSpace(span.text)
		switch {
		case !metricForm().Match(b.prose[max(0, span.at-beforeName):span.at]) ||
			!metricName().MatchString(content) || noName().MatchString(content):
		case name.text == "":
			name = codeSpan{text: content, at: span.at}
		case content != name.text:
			return name, &codeSpan{text: content, at: span.at}
		}
	}
	return name, nil
}

// readMetric takes the metric's name from the text.
func (b *body) readMetric() {
	name, again := b.namedMetric()
	switch {
	case b.Metric == "" && again != nil:
		b.fail(b.line(again.at), "the text names two metrics, `%s` on line %d and `%s` here; say which with "+
			"`metric: %s`", clip(name.text), b.line(name.at), clip(again.text), clip(name.text))
	case b.Metric == "":
		b.Metric = name.text
	case name.text != "" && name.text != b.Metric:
		b.warn(b.line(name.at), "the text says that the metric is `%s`; `metric: %s` of the frontmatter counts",
			clip(name.text), clip(b.Metric))
	}
}

// shownForm begins what no shell could run: an object or a list of objects in JSON
// or something close to it, a number alone, a word with a colon, and a transcript.
var shownForm = lazyregexp.New(
	`^\s*(?:\{\s*(?:"[^"\n]*"|'[^'\n]*')\s*:|` +
		`\[\s*\{\s*["'}]|[-+]?\d[\d.,]*%?\s*(?:\n|$)|[A-Za-z_][\w./-]*:(?:[ \t]|\n|$)|\$ )`)
