// Package evaluator checks and runs code that is not to be trusted: the code may
// import only what can neither read nor write, is compiled in a module of its
// own, and runs as a process of its own without environment, in bounded time,
// with bounded output.
package evaluator

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxSource bounds one source file, in bytes.
	maxSource = 1 << 20
	// buildLimit is how long a build may take.
	buildLimit = 2 * time.Minute
	// module is the go.mod that candidates are built with.
	module = "module candidate\n\ngo 1.25\n"
)

// Fault is what a candidate did wrong: it is not scored, and the Fault is the
// reason. Any other error means that the evaluation itself could not work.
type Fault string

// Error returns the reason.
func (f Fault) Error() string { return string(f) }

// Faultf returns a Fault with a message.
func Faultf(format string, args ...any) error { return Fault(fmt.Sprintf(format, args...)) }

// Rejected is the reason of an error that is a Fault.
func Rejected(err error) (reason string, rejected bool) {
	var wrong Fault
	rejected = errors.As(err, &wrong)
	return wrong.Error(), rejected
}

// Print ends an evaluation: it prints what was found as one JSON object, or the
// error.
func Print[T any](found T, err error) {
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "evaluate:", err)
		os.Exit(1)
	}
}

// Scratch makes a module of its own to build in.
func Scratch() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp("", "evaluate-"); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	if err = os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600); err != nil {
		remove()
	}
	return dir, remove, err
}

// Source is one file of Go code.
type Source struct {
	Name string
	Text []byte
	File *ast.File

	set *token.FileSet
}

// Read reads and parses one source file.
func Read(path string) (Source, error) {
	code := Source{Name: filepath.Base(path), set: token.NewFileSet()}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return code, Faultf("%s is no regular file of at most %d bytes", code.Name, maxSource)
	}
	var err error
	if code.Text, err = os.ReadFile(path); err != nil {
		return code, err
	}
	if code.File, err = parser.ParseFile(code.set, code.Name, code.Text, parser.SkipObjectResolution); err != nil {
		return code, Fault(err.Error())
	}
	return code, nil
}

// Harmless refuses source that starts goroutines, which would work on when
// nobody measures, or imports anything but the allowed packages. Without
// package unsafe, C or one that does I/O, Go code can reach nothing outside.
func (s Source) Harmless(allowed []string) error {
	for _, spec := range s.File.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err != nil || spec.Name != nil || !slices.Contains(allowed, path) {
			return Faultf("%s may not import %s: only %s, under their own names", s.Name, spec.Path.Value, strings.Join(allowed, ", "))
		}
	}
	found := error(nil)
	ast.Inspect(s.File, func(node ast.Node) bool {
		if _, ok := node.(*ast.GoStmt); ok {
			found = Faultf("%s may not start goroutines", s.Name)
		}
		return found == nil
	})
	return found
}

// Compile runs the go command in dir, outside any module or workspace of the
// repository.
func Compile(dir string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), buildLimit)
	defer cancel()
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.WaitDelay = dir, time.Second
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "GO111MODULE=on", "CGO_ENABLED=0")
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return Faultf("it does not compile: %.1000s", strings.TrimSpace(string(output)))
	}
	return err
}

// Process is one run of a candidate.
type Process struct {
	Binary, Dir string
	Args        []string
	Stdin       io.Reader
	Limit       time.Duration // how long it may take
	Output      int           // how much it may print, in bytes
}

// Run runs the candidate to its end and returns its standard output.
func (p Process) Run() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.Limit)
	defer cancel()
	command := exec.CommandContext(ctx, p.Binary, p.Args...)
	command.Env, command.Dir, command.WaitDelay = []string{}, p.Dir, time.Second
	command.Stdin = p.Stdin
	output := &capped{room: p.Output, full: cancel}
	messages := &capped{room: 1 << 20, full: cancel}
	command.Stdout, command.Stderr = output, messages
	err := command.Run()
	switch {
	case output.room < 0 || messages.room < 0:
		return nil, Faultf("it printed too much: more than %d bytes", p.Output)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, Faultf("it took longer than %s", p.Limit)
	case err != nil:
		line, _, _ := strings.Cut(cmp.Or(messages.text.String(), output.text.String()), "\n")
		return nil, Faultf("it failed: %v: %.200s", err, line)
	}
	return output.text.Bytes(), nil
}

// capped keeps what is written up to a limit, and says when it is full.
type capped struct {
	text bytes.Buffer
	room int
	full func()
}

func (c *capped) Write(p []byte) (int, error) {
	if c.room -= len(p); c.room < 0 {
		c.full()
		return 0, errors.New("too much output")
	}
	return c.text.Write(p)
}
