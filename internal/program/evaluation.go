package program

import (
	"encoding/json"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
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
		heading := ""
		for _, node := range s.nodes {
			if node.Kind() == ast.KindHeading {
				heading = blockText(node, b.text)
			}
			_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
				fence, ok := node.(*ast.FencedCodeBlock)
				if !ok || !entering {
					return ast.WalkContinue, nil
				}
				text := strings.TrimRight(blockText(fence, b.text), "\n") + "\n"
				label := strings.ToLower(string(fence.Language(b.text)))
				b.numbers = max(b.numbers, numbersIn(text))
				switch {
				case label == "" && b.isOutput(fence, text, heading):
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

var (
	jsonObject = lazyregexp.New(`\{[^{}\n]*\}`)
	jsonNumber = lazyregexp.New(`\\?"([A-Za-z_][\w.-]*)\\?"\s*:\s*(?:-?[0-9]|%|\$|<|"?\$|\.\.\.|null)`)
)

// numbersIn is the largest count of numbers that one JSON object of a text has,
// as far as it can be seen.
func numbersIn(text string) int {
	most := 0
	for _, object := range jsonObject().FindAllString(strings.ReplaceAll(text, "${", "$("), -1) {
		most = max(most, len(jsonNumber().FindAllString(object, -1)))
	}
	var shown map[string]any
	if json.Unmarshal([]byte(text), &shown) == nil {
		count := 0
		for _, value := range shown {
			if _, number := value.(float64); number {
				count++
			}
		}
		most = max(most, count)
	}
	return most
}

// hasCommand is a script that has more than comments.
var hasCommand = lazyregexp.New(`(?m)^[ \t]*[^#\s]`)

// The ways in which a text names its metric, the exact ones first: "The metric
// is `x`", "Metric: `x`", "Maximise `x`".
var metricForms = []lazyregexp.Regexp{
	lazyregexp.New(`(?i)\bthe\s+(?:[*_]*\w+[*_]*\s+){0,2}?[*_]*metric[*_]*\s+[*_]*is[*_]*:?\s+(?:the\s+|called\s+|named\s+)?[*_]*` + "`+\\s?$"),
	lazyregexp.New(`(?i)(?:^|[\n.;>*+-])\s*[*_]*(?:the\s+|primary\s+|main\s+)?metric(?:\s+name)?[*_]*\s*:[*_]*\s*[*_]*` + "`+\\s?$"),
	optimiseForm,
}

var (
	optimiseForm = lazyregexp.New(
		`(?i)\b(maximi[sz]e|minimi[sz]e)s?[*_]*:?\s+(?:the\s+)?(?:(?:metric|value|score|number)\s+)?(?:of\s+)?[*_]*` + "`+\\s?$")
	metricName = lazyregexp.New(`^[A-Za-z_][\w-]*(?:\.[\w-]+)*$`)
	sourceFile = lazyregexp.New(
		`(?i)\.(?:go|py|js|jsx|ts|tsx|rs|c|h|cc|cpp|hpp|java|kt|rb|cs|php|swift|sh|sql|md|txt|json|ya?ml|toml|cfg|conf|ini|html|css|lock)$`)
	conditionForm = lazyregexp.New(
		`(?i)\b(?:when|whenever|if|unless|otherwise|in case|until|should)\b|\b(?:on|upon|after|in case of|in the event of)\s+(?:an?\s+|any\s+)?(?:failure|error|timeout|crash|panic|exception)s?\b`)
	measureForm = lazyregexp.New(
		`(?i)^[-+]?(?:0x[0-9a-f]+|0b[01]+|\d[\d.,_]*(?:e[-+]?\d+)?\s*(?:%|[nmµu]?s|min|h|hz|[kmgt]?i?b|x|ops|req|ms)?(?:/s)?)$`)
	noName      = lazyregexp.New(`(?i)^(?:null|none|nil|true|false|nan|-?inf|-?infinity|undefined)?$`)
	notForm     = lazyregexp.New(`(?i)\b(?:not|never|don['’]?t|instead of|rather than|without|avoid|stop)\b`)
	orForm      = lazyregexp.New("^`+[*_]*\\s*(?:/|\\bor\\b)\\s*[*_]*`+\\s?")
	sentenceEnd = lazyregexp.New(`(?:[.!?]["”)]*\s)|\n\s*\n|\n\s*[-*+] `)
)

// beforeName is how much of what stands before a name says what it names.
const beforeName = 160

// namedMetric is the metric that the text names, and in which way; again is a
// second, different one that is named in the same way.
func (b *body) namedMetric() (name codeSpan, again *codeSpan) {
	for _, form := range metricForms {
		for _, span := range b.spans {
			text := b.prose[max(0, span.at-beforeName):span.at]
			if !form().Match(text) || !b.canBeMetric(span, form() == optimiseForm()) || conditional(text) ||
				form() == optimiseForm() && notForm().Match(lastSentence(text)) {
				continue
			}
			content := strings.TrimSpace(span.text)
			switch {
			case name.text == "":
				name = codeSpan{text: content, at: span.at}
				if other := b.alternative(span); other != nil && strings.TrimSpace(other.text) != content {
					return name, other
				}
			case content != name.text:
				return name, &codeSpan{text: content, at: span.at}
			}
		}
		if name.text != "" {
			break
		}
	}
	return name, nil
}

// alternative is the name that a text gives beside a metric's: "`a` or `b`".
func (b *body) alternative(span codeSpan) *codeSpan {
	end := min(span.at+len(span.text), len(b.prose))
	join := orForm().Find(b.prose[end:min(end+40, len(b.prose))])
	if join == nil {
		return nil
	}
	for _, other := range b.spansWithin(end, end+len(join)+1) {
		if b.canBeMetric(other, true) {
			return &codeSpan{text: strings.TrimSpace(other.text), at: other.at}
		}
	}
	return nil
}

// canBeMetric tells names from values such as `null` and `0`. What is to be
// optimised may also be code: it counts when it looks like a key.
func (b *body) canBeMetric(span codeSpan, optimised bool) bool {
	content := strings.TrimSpace(span.text)
	_, err := metric.ParseValue(strings.TrimSuffix(content, "%"))
	if err == nil || noName().MatchString(content) || json.Valid([]byte(content)) || measureForm().MatchString(content) {
		return false
	}
	return !optimised || metricName().MatchString(content) && !sourceFile().MatchString(content)
}

// conditional reports whether the sentence that ends a text has a condition: it
// speaks of one case and names nothing.
func conditional(text []byte) bool { return conditionForm().Match(lastSentence(text)) }

// lastSentence is the sentence that ends a text.
func lastSentence(text []byte) []byte {
	if ends := sentenceEnd().FindAllIndex(text, -1); len(ends) > 0 {
		return text[ends[len(ends)-1][0]:]
	}
	return text
}

// readMetric takes the metric's name from the text.
func (b *body) readMetric() {
	name, again := b.namedMetric()
	switch {
	case b.Metric == "" && again != nil:
		b.fail(b.line(again.at), "the text names two metrics, `%s` on line %d and `%s` here; say which with `metric: %s`", clip(name.text), b.line(name.at), clip(again.text), clip(name.text))
	case b.Metric == "":
		b.Metric = name.text
	case name.text != "" && name.text != b.Metric:
		b.warn(b.line(name.at), "the text says that the metric is `%s`; `metric: %s` of the frontmatter counts",
			clip(name.text), clip(b.Metric))
	}
	if b.Metric == "" && again == nil && b.Evaluation == Metric && max(b.numbers, numbersIn(b.Script)) > 1 {
		b.warn(0, "the evaluation prints several numbers and none is named as the metric; add a line `metric: NAME` "+
			"to the frontmatter")
	}
}
