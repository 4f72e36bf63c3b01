package document

import (
	"errors"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/plain"
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	File string
	Line int // 1-based; 0 for the file as a whole
	// Key is the path of the key, such as checks[2].path; "" for the file.
	Key string
	// Message is one line that says what is wrong and what is accepted.
	Message string
}

// String renders the problem as "file:line: key: message", on one line.
func (p Problem) String() string {
	text := plain.Short(p.File, MaxPath)
	if p.Line > 0 {
		text += fmt.Sprintf(":%d", p.Line)
	}
	if p.Key != "" {
		text += ": " + plain.Short(p.Key, MaxShown)
	}
	return text + ": " + p.Message
}

// Problems are all that is wrong, in the order of the files.
type Problems []Problem

// With adds a problem of one file; of those beyond the bound it says that there
// are some.
func (p Problems) With(one Problem) Problems {
	switch {
	case len(p) < maxProblems:
		return append(p, one)
	case len(p) == maxProblems:
		return append(p, Problem{
			File:    one.File,
			Message: fmt.Sprintf("has more than %d faults; correct these first", maxProblems),
		})
	default:
		return p
	}
}

// Err joins the problems, one line each, or nil.
func (p Problems) Err() error {
	var all []error
	for _, problem := range p {
		all = append(all, errors.New(problem.String()))
	}
	return errors.Join(all...)
}

// What is quoted of hostile text, in characters.
const (
	MaxShown = 80
	MaxPath  = 300
)

// Quote shows a piece of hostile text in a message, with its line breaks and tabs as code has them.
func Quote(text string) string {
	text = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
	return `"` + plain.Clip(plain.Text(text), MaxShown) + `"`
}
