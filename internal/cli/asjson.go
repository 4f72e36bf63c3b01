package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/org/autoloop/internal/plain"
)

// asObject runs a command that tells people what it does. With --json it tells them on
// standard error, and standard output is what it returns, also when it fails; nil prints
// nothing.
func asObject[T any](a *App, do func() (*T, error)) error {
	out := a.Stdout
	if a.JSON {
		a.Stdout = a.Stderr
	}
	done, err := do()
	if a.Stdout = out; a.JSON && done != nil {
		err = errors.Join(err, json.NewEncoder(out).Encode(done))
	}
	return err
}

// printJSON prints a value for programs.
func (a *App) printJSON(value any) error {
	encoder := json.NewEncoder(a.Stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// print prints a value for programs, or a text for people.
func (a *App) print(value, text any) error {
	if a.JSON {
		return a.printJSON(value)
	}
	_, err := fmt.Fprint(a.Stdout, text)
	return err
}

// warn says what people should know besides; nothing for "". Thousands of lines are one text,
// since each write is a wait for whoever reads it.
func (a *App) warn(texts ...string) {
	var out strings.Builder
	for _, text := range texts {
		if text != "" {
			out.WriteString("warning: " + plain.Line(text) + "\n")
		}
	}
	fmt.Fprint(a.Stderr, &out)
}

// errPrinted is a failure of which everything was printed already.
var errPrinted = errors.New("it failed")

// verdict is an error, else a failure that was printed already.
func verdict(err error, failed bool) error {
	if err == nil && failed {
		err = errPrinted
	}
	return err
}
