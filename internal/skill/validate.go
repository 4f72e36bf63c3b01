package skill

import (
	"errors"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/suite/evalrun"
)

// Validated is what a skill's suites have, or what is wrong with them: `iterate validate
// --json`.
type Validated struct {
	OK       bool            `json:"ok"`
	Errors   []string        `json:"errors"`
	Name     string          `json:"name"`
	Cases    []ValidatedCase `json:"cases"`
	Triggers int             `json:"triggers"`
	Answers  int             `json:"answers"`
}

// ValidatedCase is a case of its suite.
type ValidatedCase struct {
	ID           string `json:"id"`
	Expectations int    `json:"expectations"`
	Checks       int    `json:"deterministic_checks"`
	Files        int    `json:"files"`
}

// Validate reads the suites of a suited.
func Validate(dir string) (Validated, error) {
	suited, err := evalrun.Load(dir, ".", "")
	var wrong *misuse.Error
	if err != nil && !errors.As(err, &wrong) {
		return Validated{}, err
	}
	found := Validated{OK: wrong == nil, Errors: []string{}, Cases: []ValidatedCase{}}
	if wrong != nil {
		found.Errors = strings.Split(wrong.Error(), "\n")
	} else {
		found.Name, found.Triggers = suited.Name, len(suited.Triggers)
		if suited.AnswerSuite() != nil { // else they are the cases
			found.Answers = len(suited.Answers)
		}
		for _, c := range suited.Evals.Cases {
			found.Cases = append(found.Cases, ValidatedCase{c.ID, len(c.Expectations), len(c.Checks), len(c.Files)})
		}
	}
	return found, nil
}

// String says of every case what it is held against.
func (found Validated) String() string {
	var out strings.Builder
	for _, line := range found.Errors {
		fmt.Fprintln(&out, "error:", line)
	}
	if !found.OK {
		return out.String()
	}
	for _, c := range found.Cases {
		fmt.Fprintf(&out, "case %s: %s, %s, %s\n", c.ID, render.Count(c.Expectations, "expectation", "expectations"),
			render.Count(c.Checks, "deterministic check", "deterministic checks"),
			render.Count(c.Files, "file", "files"))
	}
	if found.Triggers > 0 {
		fmt.Fprintf(&out, "triggers: %s\n", render.Count(found.Triggers, "query", "queries"))
	}
	if found.Answers > 0 {
		fmt.Fprintf(&out, "answers: %s\n", render.Count(found.Answers, "question", "questions"))
	}
	fmt.Fprintf(&out, "%s: ok\n", found.Name)
	return out.String()
}
