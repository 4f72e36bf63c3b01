package evalrun

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite"
)

// maxGradingFile is more than the parser takes: it says what is too much.
const maxGradingFile = 9 << 20

// ReadAll scores the directories that earlier runs of the suite left, together: the rate is the
// median of the runs' rates. Only eval-<id>/grading.json counts. A case whose grading is missing
// or cannot be read counts 0, with the reason.
func ReadAll(skill *Skill, dirs ...string) (Result, error) {
	var runs [][]suite.CaseScore
	for _, dir := range dirs {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return Result{}, err
		}
		var cases []suite.CaseScore
		for _, c := range skill.Cases {
			cases = append(cases, readCase(root, c))
		}
		root.Close()
		runs = append(runs, cases)
	}
	return resultOf(runs...), nil
}

// readCase scores one case.
func readCase(root *os.Root, c suite.Case) suite.CaseScore {
	name := path.Join("eval-"+c.ID, GradingFile)
	data, err := files.ReadRegular(root, name, maxGradingFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		problem := "there is no " + name
		if _, err := root.Lstat(path.Join("eval-"+c.ID, TranscriptFile)); err == nil {
			problem += "; its " + TranscriptFile + " says why"
		}
		return c.Crashed(problem)
	case err != nil:
		return c.Crashed(name + ": " + files.Cause(err).Error())
	}
	grading, err := suite.ParseGrading(name, data)
	if err != nil {
		return c.Crashed(err.Error())
	}
	return c.Score(grading)
}

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
			lines = append(lines, fmt.Sprintf("  failed: %s (%s)", plain.Short(failed.Text, MaxWords),
				plain.Short(failed.Evidence, MaxWords)))
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

// Feedback is what graders would improve in the suite, case by case.
func Feedback(scored []suite.CaseScore) (list []render.SkillFeedback) {
	for _, c := range scored {
		for _, text := range suggestions(c.Feedback) {
			list = append(list, render.SkillFeedback{Case: c.ID, Text: text})
		}
	}
	return list
}

// Remarks are the lines of that. What is said of several cases is one line.
func Remarks(scored []suite.CaseScore) (lines []string) {
	for _, one := range render.MergedFeedback(Feedback(scored)) {
		noun := "case"
		if strings.Contains(one.Case, ", ") {
			noun = "cases"
		}
		lines = append(lines, fmt.Sprintf("the grader on %s %s: %s", noun, one.Case, one.Text))
	}
	return lines
}

// suggestions are the lines of a grader's feedback on the suite: each suggestion,
// and what it says of the whole.
func suggestions(feedback json.RawMessage) []string {
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
		list = append(list, plain.Short(text, MaxWords))
	}
	list = append(list, plain.Short(said.Overall, MaxWords))
	return slices.DeleteFunc(list, func(text string) bool { return text == "" })
}
