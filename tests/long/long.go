// Package long says which tests run: those that take long, and those that need
// more than Go and git, are for AUTOLOOP_LONG=1.
package long

import (
	"os"
	"testing"
)

// Variable is set to 1 where every test is to run: nothing may be left out then
// because it takes long or because something is not installed.
const Variable = "AUTOLOOP_LONG"

// Kind is what tests that take long have in common.
type Kind string

// The kinds.
const (
	Act         Kind = "act"         // workflows as they are, with act
	Agents      Kind = "agents"      // the coding agents as they are published
	Browser     Kind = "browser"     // pages in a browser
	Builds      Kind = "builds"      // everything compiled anew: the image, the action
	Emulator    Kind = "emulator"    // a GitHub that others wrote
	Examples    Kind = "examples"    // the programs of programs/, which measure for long
	GitHub      Kind = "github"      // what issues, pull requests, rules and CI do over many iterations
	Hostile     Kind = "hostile"     // every forgery and every odd place, where a few show the same
	Kills       Kind = "kills"       // a process that is ended at each of its writes, and each write failing
	Simulations Kind = "simulations" // hundreds of iterations
	TwoJobs     Kind = "two-jobs"    // what one job does, all of it in two jobs once more
)

// Asked reports whether every test is to run.
func Asked() bool { return os.Getenv(Variable) == "1" }

// Only skips a test of this kind unless every test is to run.
func Only(t testing.TB, kind Kind) {
	t.Helper()
	if !Asked() {
		t.Skipf("%s: %s=1 runs it", kind, Variable)
	}
}

// Root skips a test of what only root may do. `.ci/run` runs it again as root.
func Root(t testing.TB, what string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: " + what)
	}
}

// Missing skips a test that needs what is not installed here, and fails it when
// every test is to run.
func Missing(t testing.TB, what string) {
	t.Helper()
	if Asked() {
		t.Fatal("missing: " + what)
	}
	t.Skip("missing: " + what)
}
