package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// objectFlag is --json of a command that does something and otherwise tells people of it.
func objectFlag(flags *pflag.FlagSet, asJSON *bool) {
	flags.BoolVar(asJSON, "json", false, "print a JSON object, and the rest to standard error")
}

// asObject runs a command. With --json standard output is what it returns, as one object,
// also when it fails; nil prints nothing. What it says to people is on standard error then.
func asObject[T any](env Env, asJSON bool, do func(Env) (*T, error)) error {
	if !asJSON {
		_, err := do(env)
		return err
	}
	speaking := env
	speaking.Stdout = env.Stderr
	done, err := do(speaking)
	if done != nil {
		err = errors.Join(err, json.NewEncoder(env.Stdout).Encode(done))
	}
	return err
}

// printJSON prints a value for programs.
func printJSON(env Env, value any) error {
	encoder := json.NewEncoder(env.Stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// printEscapedJSON is printJSON for formats in which <, > and & are escaped.
func printEscapedJSON(env Env, value any) error {
	encoder := json.NewEncoder(env.Stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// printEither prints a value for programs, or a text for people.
func printEither(env Env, asJSON bool, value, text any) error {
	if asJSON {
		return printJSON(env, value)
	}
	_, err := fmt.Fprint(env.Stdout, text)
	return err
}

// verdict is an error, else a failure that was printed already.
func verdict(err error, failed bool) error {
	if err == nil && failed {
		err = &ExitError{Code: ExitFailed}
	}
	return err
}

// text is a string for JSON, null for an empty one.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
