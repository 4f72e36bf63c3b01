// Command evaluate measures how much of package version its tests cover. It
// compiles the package with the tests beside it in a module of its own, runs
// them as a process of its own, and prints one JSON object: the `coverage` in
// percent of the statements, or null with the reason when a test fails. What the
// tests print counts for nothing. The numbers come from the counters that the
// compiler put into the package, for all the statements that the compiler sees.
package main

import (
	"errors"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"time"

	"programs/evaluator"
)

const (
	// limit is how long the tests may take.
	limit = 20 * time.Second
	// maxOutput bounds the tests' output, in bytes.
	maxOutput = 1 << 20
)

// result is what the evaluation prints.
type result struct {
	// Coverage is in percent; nil when a test fails or does not play by the rules.
	Coverage *float64 `json:"coverage"`
	// Covered and Statements are what it is computed from.
	Covered    int `json:"covered,omitempty"`
	Statements int `json:"statements,omitempty"`
	// Reason says why there is no coverage.
	Reason string `json:"rejected_reason,omitempty"`
}

func main() {
	evaluator.Print(evaluate("version", limit))
}

func evaluate(dir string, limit time.Duration) (result, error) {
	scored, err := measure(dir, limit)
	if reason, rejected := evaluator.Rejected(err); rejected {
		return result{Reason: reason}, nil
	}
	return scored, err
}

// measure runs the tests twice: once without any test, for all the statements
// that there are, and once with all, for those that ran.
func measure(dir string, limit time.Duration) (result, error) {
	work, remove, err := evaluator.Scratch()
	if err != nil {
		return result{}, err
	}
	defer remove()
	binary := filepath.Join(work, "tests.exe")
	if err := lay(work, dir); err != nil {
		return result{}, err
	}
	if err := evaluator.Compile(work, "test", "-c", "-covermode=set", "-o", binary, "./version"); err != nil {
		return result{}, err
	}
	all, err := profile(work, binary, "^$", limit)
	if err != nil {
		return result{}, err
	}
	ran, err := profile(work, binary, ".", limit)
	if err != nil {
		return result{}, err
	}
	return score(all, ran)
}

// lay writes the package and its tests into work.
func lay(work, dir string) error {
	code, err := evaluator.Read(filepath.Join(dir, "version.go"))
	if err != nil {
		return err
	}
	tests, err := evaluator.Read(filepath.Join(dir, "version_test.go"))
	if err != nil {
		return err
	}
	err = tests.Harmless([]string{"errors", "fmt", "math", "slices", "sort", "strconv", "strings", "testing"})
	if err != nil {
		return err
	}
	if err := onlyTests(tests); err != nil {
		return err
	}
	into := filepath.Join(work, "version")
	if err := os.Mkdir(into, 0o700); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(into, code.Name), code.Text, 0o600),
		os.WriteFile(filepath.Join(into, tests.Name), tests.Text, 0o600))
}

// onlyTests refuses what package testing has for those who run tests: TestMain
// with its M, and all that could stand in for the measurement.
func onlyTests(s evaluator.Source) error {
	found := error(nil)
	ast.Inspect(s.File, func(node ast.Node) bool {
		selected, ok := node.(*ast.SelectorExpr)
		if !ok {
			return found == nil
		}
		from, ok := selected.X.(*ast.Ident)
		if ok && from.Name == "testing" && !slices.Contains([]string{"T", "TB"}, selected.Sel.Name) {
			found = evaluator.Faultf("%s may not use testing.%s: only testing.T and testing.TB", s.Name, selected.Sel.Name)
		}
		return found == nil
	})
	return found
}

// profile runs the tests that match a pattern and returns the blocks of
// statements with whether they ran.
func profile(work, binary, pattern string, limit time.Duration) (map[block]bool, error) {
	file := filepath.Join(work, "profile")
	if err := os.RemoveAll(file); err != nil {
		return nil, err
	}
	_, err := evaluator.Process{
		Binary: binary, Dir: filepath.Join(work, "version"), Limit: limit, Output: maxOutput,
		Args: []string{"-test.run=" + pattern, "-test.coverprofile=" + file},
	}.Run()
	if err != nil {
		return nil, err
	}
	return readProfile(file)
}
