// Package cure has what to do about an error whose cure needs more than a line:
// a page for each code, which the message ends with and `iterate explain` prints.
package cure

import (
	"embed"
	"fmt"
	"strings"
)

// Code names a page. A code never changes its meaning, and the code of a page
// that is removed is not used again.
type Code string

// Entry is what is known about one error.
type Entry struct {
	Code Code `json:"code"`
	// Title says in a few words what is wrong.
	Title string `json:"title"`
	// When says when it is reported and what it means, as markdown.
	When string `json:"when"`
	// Cure says what to do, as markdown.
	Cure string `json:"cure"`
	// Example is a message as it is printed, and what helps, as markdown.
	Example string `json:"example"`
}

//go:embed pages/*.md
var pages embed.FS

// All returns the entries in the order of their codes.
func All() []Entry {
	files, err := pages.ReadDir("pages")
	if err != nil {
		panic(err) // it is embedded
	}
	list := make([]Entry, 0, len(files))
	for _, file := range files {
		text, err := pages.ReadFile("pages/" + file.Name())
		if err != nil {
			panic(err)
		}
		list = append(list, parse(Code(strings.TrimSuffix(file.Name(), ".md")), string(text)))
	}
	return list
}

// parse reads a page: the title, then three sections.
func parse(code Code, text string) Entry {
	title, rest, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	when, rest, _ := strings.Cut(rest, "\n## What to do\n")
	cure, example, _ := strings.Cut(rest, "\n## Example\n")
	return Entry{code, strings.TrimSpace(title), strings.TrimSpace(when), strings.TrimSpace(cure), strings.TrimSpace(example)}
}

// Markdown is the page of an entry under headings of this level.
func (e Entry) Markdown(level int) string {
	head := strings.Repeat("#", level)
	return fmt.Sprintf("%s %s: %s\n\n%s\n\n%s# What to do\n\n%s\n\n%s# Example\n\n%s\n", head, e.Code, e.Title, e.When, head, e.Cure, head, e.Example)
}

// Mark ends a message with the code.
func (c Code) Mark(message string) string {
	return message + " (iterate explain " + string(c) + ")"
}

// Error is an error that has a page.
type Error struct {
	Code Code
	Err  error
}

// Error returns the message, which ends with the code.
func (e *Error) Error() string { return e.Code.Mark(e.Err.Error()) }

// Unwrap returns the error without its code.
func (e *Error) Unwrap() error { return e.Err }

// Wrap gives an error the code; nil stays nil.
func (c Code) Wrap(err error) error {
	if err == nil {
		return nil
	}
	return &Error{c, err}
}

// Errorf returns an Error with a message.
func (c Code) Errorf(format string, args ...any) error {
	return &Error{c, fmt.Errorf(format, args...)}
}
