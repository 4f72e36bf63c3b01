package cli

import (
	"encoding/json"
	"errors"

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
