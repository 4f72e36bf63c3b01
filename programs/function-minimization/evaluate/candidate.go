package main

// This file is the same in every example. It checks and runs code that is not
// to be trusted: the code may import only what can neither read nor write, is
// compiled in a module of its own, and runs as a process of its own without
// environment, in bounded time, with bounded output.

import (
	"bytes"
	"cmp"
	"context"
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

// fault is what a candidate did wrong: it is not scored, and the fault is the
// reason. Any other error means that the evaluation itself could not work.
type fault string

func (f fault) Error() string { return string(f) }

func faultf(format string, args ...any) error { return fault(fmt.Sprintf(format, args...)) }

// scratch makes a module of its own to build in.
func scratch() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp("", "evaluate-"); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	if err = os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600); err != nil {
		remove()
	}
	return dir, remove, err
}

// source is one file of Go code.
type source struct {
	name string
	text []byte
	file *ast.File
	set  *token.FileSet
}

// read reads and parses one source file.
func read(path string) (source, error) {
	code := source{name: filepath.Base(path), set: token.NewFileSet()}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return code, faultf("%s is no regular file of at most %d bytes", code.name, maxSource)
	}
	var err error
	if code.text, err = os.ReadFile(path); err != nil {
		return code, err
	}
	if code.file, err = parser.ParseFile(code.set, code.name, code.text, parser.SkipObjectResolution); err != nil {
		return code, fault(err.Error())
	}
	return code, nil
}

// harmless refuses source that starts goroutines, which would work on when
// nobody measures, or imports anything but the allowed packages. Without
// package unsafe, C or one that does I/O, Go code can reach nothing outside.
func (s source) harmless(allowed []string) error {
	for _, spec := range s.file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err != nil || spec.Name != nil || !slices.Contains(allowed, path) {
			return faultf("%s may not import %s: only %s, under their own names", s.name, spec.Path.Value, strings.Join(allowed, ", "))
		}
	}
	found := error(nil)
	ast.Inspect(s.file, func(node ast.Node) bool {
		if _, ok := node.(*ast.GoStmt); ok {
			found = faultf("%s may not start goroutines", s.name)
		}
		return found == nil
	})
	return found
}

// compile runs the go command in dir, outside any module or workspace of the
// repository.
func compile(dir string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), buildLimit)
	defer cancel()
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir, command.WaitDelay = dir, time.Second
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "GO111MODULE=on", "CGO_ENABLED=0")
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return faultf("it does not compile: %.1000s", strings.TrimSpace(string(output)))
	}
	return err
}

// process is one run of a candidate.
type process struct {
	binary, dir string
	args        []string
	stdin       io.Reader
	limit       time.Duration // how long it may take
	output      int           // how much it may print, in bytes
}

// run runs the candidate to its end and returns its standard output.
func (p process) run() ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), p.limit)
	defer cancel()
	command := exec.CommandContext(ctx, p.binary, p.args...)
	command.Env, command.Dir, command.WaitDelay = []string{}, p.dir, time.Second
	command.Stdin = p.stdin
	output := &capped{room: p.output, full: cancel}
	messages := &capped{room: 1 << 20, full: cancel}
	command.Stdout, command.Stderr = output, messages
	err := command.Run()
	switch {
	case output.room < 0 || messages.room < 0:
		return nil, faultf("it printed too much: more than %d bytes", p.output)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, faultf("it took longer than %s", p.limit)
	case err != nil:
		line, _, _ := strings.Cut(cmp.Or(messages.text.String(), output.text.String()), "\n")
		return nil, faultf("it failed: %v: %.200s", err, line)
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
