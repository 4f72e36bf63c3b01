package program

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

var commentForm = regexp.MustCompile(`(?s)<!--.*?-->`)

// readGoal takes the Goal section, or the body when there is none.
func (b *body) readGoal(sections []section) {
	var parts []string
	for _, s := range sections {
		parts = append(parts, string(b.text[s.start:s.end]))
	}
	if len(sections) == 0 {
		parts = []string{string(b.text)}
	}
	b.Goal = strings.TrimSpace(commentForm.ReplaceAllString(strings.Join(parts, "\n"), ""))
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
				switch label := strings.ToLower(string(fence.Language(b.text))); label {
				case "", "bash", "sh":
					script.WriteString(strings.TrimRight(blockText(fence, b.text), "\n") + "\n")
				default:
					other, otherLine = label, b.line(fence.Info.Segment.Start)
				}
				return ast.WalkSkipChildren, nil
			})
		}
	}
	if hasCommand(script.String()) {
		b.Script = strings.Trim(script.String(), "\n") + "\n"
	} else if other != "" {
		b.warn(otherLine, "a fence of `%s` is documentation; the evaluation is what stands in `bash` and `sh` fences", clip(other))
	}
}

// hasCommand reports whether a script has more than comments.
func hasCommand(script string) bool {
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return true
		}
	}
	return false
}

var metricForm = regexp.MustCompile(`(?i)\bthe\s+[*_]*metric[*_]*\s+[*_]*is[*_]*:?\s+(?:the\s+|called\s+|named\s+)?[*_]*` + "`+\\s?$")

// readMetric takes the metric's name from the sentence "The metric is `x`".
func (b *body) readMetric() {
	const before = 100
	name, line := "", 0
	for _, span := range b.spans {
		if !metricForm.Match(b.prose[max(0, span.at-before):span.at]) {
			continue
		}
		content := strings.TrimSpace(span.text)
		switch {
		case content == "" || content == name:
		case name == "":
			name, line = content, b.line(span.at)
		case b.Metric == "":
			b.fail(b.line(span.at), "the text names two metrics, `%s` on line %d and `%s` here; say which with `metric: %s`", clip(name), line, clip(content), clip(name))
			return
		}
	}
	switch {
	case b.Metric == "":
		b.Metric = name
	case name != "" && name != b.Metric:
		b.warn(line, "the text says that the metric is `%s`; `metric: %s` of the frontmatter counts", clip(name), clip(b.Metric))
	}
}
