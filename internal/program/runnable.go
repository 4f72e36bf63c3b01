package program

import "github.com/org/autoloop/internal/misuse"

// NotRunnableError is a program that cannot run, with the places of what is
// wrong.
type NotRunnableError struct {
	error

	Problems []Problem
}

// Unwrap returns the mistake of the caller.
func (e *NotRunnableError) Unwrap() error { return e.error }

// Runnable reports why a program cannot be iterated.
func (p *Program) Runnable() error {
	if err := p.Err(); err != nil {
		return &NotRunnableError{misuse.New(err), p.Errors()}
	}
	if p.Unconfigured {
		return misuse.Errorf("%s: the program is not configured yet: replace its placeholders and remove the line %s", p.File, Sentinel)
	}
	if missing := p.Missing(); len(missing) > 0 {
		return &NotRunnableError{misuse.Errorf("%s", missing[0]), missing[:1]}
	}
	return nil
}

// Names lists the names of programs, in their order.
func Names(programs []*Program) []string {
	list := make([]string, len(programs))
	for i, p := range programs {
		list[i] = p.Name
	}
	return list
}
