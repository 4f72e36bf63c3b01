package evalrun

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/work"
)

// Failures says in lines what did not pass, what graders would improve in the
// suite, and which cases are to be kept, in at most so many bytes. It is what an
// improver is told.
func Failures(r Result, most int) string {
	var lines, whole []string
	for _, c := range r.Cases {
		switch {
		case c.Problem != "":
			lines = append(lines, fmt.Sprintf("case %s: 0 of %d: %s", c.ID, c.Total, c.Problem))
			continue
		case len(c.Failed) == 0:
			whole = append(whole, c.ID)
		default:
			lines = append(lines, fmt.Sprintf("case %s: %d of %d", c.ID, c.Passed, c.Total))
		}
		for _, failed := range c.Failed {
			lines = append(lines, fmt.Sprintf("  failed: %s (%s)", plain.Short(failed.Text, work.MaxWords),
				plain.Short(failed.Evidence, work.MaxWords)))
		}
	}
	lines = append(lines, Remarks(r.Cases)...)
	if len(whole) > 0 {
		lines = append(lines, fmt.Sprintf("passed whole, %d of %d cases: %s", len(whole), len(r.Cases),
			strings.Join(whole, ", ")))
	}
	text := strings.Join(lines, "\n")
	if len(text) > most {
		const mark = "…"
		text = strings.ToValidUTF8(text[:max(most-len(mark), 0)], "") + mark
	}
	return text
}

// Remarks are lines of what graders would improve in the suite. What one says of several
// cases is one line.
func Remarks(scored []evals.CaseScore) []string {
	var texts []string
	cases := map[string][]string{}
	for _, c := range scored {
		for _, text := range Suggestions(c.Feedback()) {
			if cases[text] == nil {
				texts = append(texts, text)
			}
			cases[text] = append(cases[text], c.ID)
		}
	}
	for i, text := range texts {
		noun := "case"
		if len(cases[text]) > 1 {
			noun = "cases"
		}
		texts[i] = fmt.Sprintf("the grader on %s %s: %s", noun, strings.Join(cases[text], ", "), text)
	}
	return texts
}

// Suggestions are the lines of a grader's feedback on the suite: each suggestion,
// and what it says of the whole.
func Suggestions(feedback json.RawMessage) []string {
	var said struct {
		Suggestions []json.RawMessage `json:"suggestions"`
		Overall     string            `json:"overall"`
	}
	if json.Unmarshal(feedback, &said) != nil {
		return nil
	}
	var list []string
	for _, one := range said.Suggestions {
		var named struct{ Assertion, Expectation, Reason, Suggestion string }
		text := ""
		if json.Unmarshal(one, &text) != nil && json.Unmarshal(one, &named) == nil {
			text = cmp.Or(named.Suggestion, named.Reason)
			if about := cmp.Or(named.Assertion, named.Expectation); about != "" && text != "" {
				text = about + ": " + text
			}
		}
		list = append(list, plain.Short(text, work.MaxWords))
	}
	list = append(list, plain.Short(said.Overall, work.MaxWords))
	return slices.DeleteFunc(list, func(text string) bool { return text == "" })
}
