package evalrun

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/plain"
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
			lines = append(lines, fmt.Sprintf("  failed: %s (%s)", plain.Short(failed.Text, maxWords), plain.Short(failed.Evidence, maxWords)))
		}
	}
	for _, c := range r.Cases {
		if text := overall(r.Feedback[c.ID]); text != "" {
			lines = append(lines, fmt.Sprintf("the grader on case %s: %s", c.ID, text))
		}
	}
	if len(whole) > 0 {
		lines = append(lines, fmt.Sprintf("passed whole, %d of %d cases: %s", len(whole), len(r.Cases), strings.Join(whole, ", ")))
	}
	text := strings.Join(lines, "\n")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// overall is the one sentence of a grader's feedback.
func overall(feedback string) string {
	var said struct {
		Overall string `json:"overall"`
	}
	if json.Unmarshal([]byte(feedback), &said) != nil {
		return ""
	}
	return plain.Short(said.Overall, maxWords)
}
