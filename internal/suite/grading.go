package suite

import (
	"cmp"
	"encoding/json"
	"strings"
)

// Source says who decided an expectation.
type Source string

// The sources.
const (
	Deterministic Source = "deterministic" // a check, without a model
	ByGrader      Source = "llm"           // a model's verdict
)

// Grading is a grading.json: what one run of one case came to. Its JSON is the file, with
// the summary that follows from the flags.
type Grading struct {
	// Expectations are the deterministic ones first.
	Expectations []Graded `json:"expectations"`
	// Metrics is any JSON, and so is what follows; nil when not given.
	Metrics  any             `json:"execution_metrics,omitempty"`
	Timing   any             `json:"timing,omitempty"`
	Feedback json.RawMessage `json:"eval_feedback,omitempty"`
}

// Graded is one expectation or check with its verdict.
type Graded struct {
	Text     string `json:"text"`
	Passed   bool   `json:"passed" need:"yes"`
	Evidence string `json:"evidence"`
	// Source is "" where the file does not say.
	Source Source `json:"source,omitempty"`
}

// ParseGrading reads a grading.json, which is called name in errors. Expectations may be named `text` or
// `expectation`; the summary is not read, since it follows from the flags. A key that is
// there twice is refused: readers differ in which of the two they take.
func ParseGrading(name string, data []byte) (g Grading, err error) {
	const most, mostEntries = 8 << 20, 100_000
	root, ok := Read(name, data, most, Object)
	if ok {
		root.Object(Keys{
			"expectations": func(n Node) {
				n.List(mostEntries, func(n Node) {
					var entry writtenGraded
					n.Fill(&entry)
					if entry.Text = cmp.Or(strings.TrimSpace(entry.Text), strings.TrimSpace(entry.Expectation)); entry.Text == "" {
						n.Fail("needs a `text`")
					}
					g.Expectations = append(g.Expectations, entry.Graded)
				})
			},
			"eval_feedback": func(n Node) { g.Feedback, _ = json.Marshal(Plain(n)) },
		}, false, "expectations")
	}
	if len(root.problems) > 0 { // one says enough
		return Grading{}, root.problems[0]
	}
	return g, nil
}

// writtenGrading is the file.
type writtenGrading struct {
	Summary      summary         `json:"summary"`
	Expectations []writtenGraded `json:"expectations"`
	rest
}

type summary struct {
	PassRate float64 `json:"pass_rate"`
	Passed   int     `json:"passed"`
	Failed   int     `json:"failed"`
	Total    int     `json:"total"`
}

// writtenGraded is an entry under both names, since readers differ in which they look for.
type writtenGraded struct {
	Expectation string `json:"expectation"`
	Graded
}

type rest Grading

// MarshalJSON writes the file.
func (g Grading) MarshalJSON() ([]byte, error) {
	var file writtenGrading
	file.Expectations, file.rest = []writtenGraded{}, rest(g)
	s := &file.Summary
	s.Total = len(g.Expectations)
	for _, entry := range g.Expectations {
		if file.Expectations = append(file.Expectations, writtenGraded{entry.Text, entry}); entry.Passed {
			s.Passed++
		}
	}
	if s.Failed = s.Total - s.Passed; s.Total > 0 {
		s.PassRate = float64(s.Passed) / float64(s.Total)
	}
	return json.Marshal(file)
}
