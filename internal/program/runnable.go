package program

import (
	"errors"
	"slices"

	"github.com/org/autoloop/internal/misuse"
)

// NotRunnableError is a program that cannot run, with the places of what is
// wrong.
type NotRunnableError struct {
	error

	Problems []Problem
}

// Unwrap returns the mistake of the caller.
func (e *NotRunnableError) Unwrap() error { return e.error }

// NotRunnable is the error of a program with problems; nil without any.
func NotRunnable(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	all := make([]error, len(problems))
	for i, problem := range problems {
		all[i] = errors.New(problem.String())
	}
	return &NotRunnableError{misuse.New(errors.Join(all...)), problems}
}

// Runnable reports why a program cannot be iterated, given the sorted paths of
// the repository's files. What is unclear about the direction is left out: the
// state, which is read later, may settle it.
func (p *Program) Runnable(files []string) error {
	problems := slices.DeleteFunc(p.Refusals(files, true), func(problem Problem) bool { return problem.Contradiction })
	if p.Unconfigured && len(problems) == 0 {
		return misuse.Errorf("%s: the program is not configured yet: replace its placeholders and remove the line %s", p.File, Sentinel)
	}
	return NotRunnable(problems)
}

// Names lists the names of programs, in their order.
func Names(programs []*Program) []string {
	list := make([]string, len(programs))
	for i, p := range programs {
		list[i] = p.Name
	}
	return list
}
