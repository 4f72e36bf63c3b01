// Package evaluation runs a program's evaluation in a directory and reads the
// metric from its result file, or from what it prints.
package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
)

// Runner runs one command under supervision.
type Runner interface {
	Run(ctx context.Context, spec process.Spec) (process.Result, error)
}

// Evaluator runs evaluations.
type Evaluator struct {
	Runner Runner
	// Masker removes secrets from what is kept.
	Masker process.Masker
}

// Request is one evaluation.
type Request struct {
	// Script is the evaluation, Setup what runs before it; "" for none.
	Script, Setup string
	// Dir is the tree to measure, Env the whole environment.
	Dir string
	Env []string
	// Timeout bounds setup and script each; ScriptTimeout, when it is not 0, the
	// script instead.
	Timeout, ScriptTimeout time.Duration
	// Metric is the key of the metric; "" for the only number.
	Metric string
	// Names are those of other numbers that are asked for. The program's file has
	// them: they stay as they are, also where a password is one of their words.
	Names []string
	// Offline keeps the script, but not the setup, from the network.
	Offline bool
	// Trusted says that people wrote all of the tree: an isolated evaluation may
	// fill their caches of builds.
	Trusted bool
	// Fixed are files and directories of Dir that an isolated evaluation can only
	// read, by their paths below it.
	Fixed []string
	// Artifacts is a directory for the script and its output, outside the tree
	// and all else that the evaluation may write to.
	Artifacts string
	// Keep is the file that keeps what setup and script print, bounded and without
	// secrets; "" keeps nothing.
	Keep string
	// Limit is for evaluations that ask models.
	Limit metric.Limit
}

// Result is what an evaluation came to.
type Result struct {
	Measurement metric.Measurement
	// Problem is why it failed, one line; "" when it did not.
	Problem  string
	TimedOut bool
	// Duration is that of the script alone.
	Duration time.Duration
	// Tail is the end of what it printed, bounded and without secrets.
	Tail string
	// Expense is what the models used that it asked, also where it failed; nil
	// when it asked none.
	Expense *history.Expense
	// OverLimit says that Problem is the limit, and no fault of what was measured.
	OverLimit bool
}

const (
	// maxTail bounds Result.Tail, in bytes.
	maxTail = 2000
	// maxWords bounds what is quoted of a result, in characters.
	maxWords = 400
)

// setup names the script that runs before the evaluation.
const setup = "setup"

// Run runs setup and script. A failing evaluation is an Outcome with a
// Problem; the error is for failures of our own.
func (e *Evaluator) Run(ctx context.Context, request Request) (Result, error) {
	if request.Setup != "" {
		result, err := e.script(ctx, request, setup, request.Setup)
		if err != nil || result.Problem != "" {
			result.Duration = 0 // The script did not run.
			return result, err
		}
	}
	request.Timeout = cmp.Or(request.ScriptTimeout, request.Timeout)
	return e.script(ctx, request, "evaluation", request.Script)
}

func (e *Evaluator) script(ctx context.Context, request Request, name, text string) (outcome Result, err error) {
	defer func() {
		if err != nil && ctx.Err() == nil { // else it is the cause of that
			err = fmt.Errorf("run the %s: %w", name, err)
		}
	}()
	dir, err := os.MkdirTemp(request.Artifacts, "result-") // a name of its own for each run
	if err != nil {
		return outcome, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	// The code under test shares the script's standard output, and is not told of this file.
	own := filepath.Join(dir, "result.json")
	file := filepath.Join(request.Artifacts, name+".sh")
	args, preamble := shellFor(request)
	if err := os.WriteFile(file, []byte(hidden+preamble+text+"\n"), 0o600); err != nil {
		return outcome, err
	}
	result, err := e.Runner.Run(ctx, process.Spec{
		Args: append(args, file), Dir: request.Dir,
		Env: append(slices.Clone(request.Env), resultVariable+"="+own), Timeout: request.Timeout,
		Offline: request.Offline && name != setup, FillCaches: request.Trusted, Fixed: request.Fixed,
		Readable: []string{file}, Writable: []string{dir},
	})
	if err == nil && result.Cancelled {
		err = context.Cause(ctx)
	}
	shown := e.Masker.Result(result)
	if err == nil { // What meets a full disk measures something else, whether it says so or not.
		err = os.WriteFile(filepath.Join(request.Artifacts, "room"), make([]byte, 4096), 0o600)
	}
	if err == nil && request.Keep != "" {
		err = keepWhole(request.Keep, name, shown)
	}
	if err != nil {
		return outcome, err
	}
	failed := failure{
		Request: request, name: name, script: text, file: file, result: shown,
		at: failedCommand(dir, result.ExitCode), masker: e.Masker,
	}
	outcome = Result{
		TimedOut: result.TimedOut, Duration: result.Duration,
		Tail: tail(shown), Problem: failed.problem(),
	}
	if outcome.Problem != "" || name == setup {
		return outcome, nil
	}
	given, err := readResult(own)
	if err != nil {
		outcome.Problem = err.Error()
		return outcome, nil
	}
	extract := metric.ExtractOne
	switch {
	case given != nil:
	case result.StdoutTruncated:
		given, extract = result.Stdout, metric.ExtractEnd
	default:
		given, extract = result.Stdout, metric.Extract
	}
	outcome.Measurement, err = e.measured(extract, given, request)
	if err != nil {
		outcome.Problem = e.Masker.OneLine(err.Error(), maxWords)
	}
	return outcome, nil
}

// measured reads a measurement without secrets.
func (e *Evaluator) measured(extract func([]byte, string) (metric.Measurement, error), text []byte,
	request Request,
) (metric.Measurement, error) {
	m, err := extract(text, request.Metric)
	if err != nil {
		// What it quotes is cut: the secrets are taken out before.
		if _, masked := extract(e.Masker.Bytes(text), request.Metric); masked != nil {
			err = masked
		}
	}
	m.RejectedReason = e.Masker.OneLine(m.RejectedReason, maxWords)
	named := map[string]metric.Value{}
	for _, name := range slices.Concat(request.Names, slices.Sorted(maps.Keys(m.Numbers))) {
		shown := name
		if !slices.Contains(request.Names, name) {
			shown = e.Masker.String(name)
		}
		_, taken := named[shown]
		if value, given := m.Numbers[name]; given && !taken {
			named[shown] = value
		}
	}
	m.Numbers = named
	return m, err
}

func tail(result process.Result) string {
	var parts []string
	for _, stream := range [][]byte{result.Stderr, result.Stdout} {
		text := strings.TrimSpace(strings.ToValidUTF8(string(stream), "�"))
		if len(text) > maxTail/2 {
			text = "…" + strings.ToValidUTF8(text[len(text)-maxTail/2:], "")
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// maxHalf bounds the beginning and the end of a stream that are kept, each, in
// bytes: both streams together have at most 1 MiB.
const maxHalf = 256 << 10

// keepWhole appends what a script printed to a file: all of it, or of a long stream
// its beginning and its end, as far as the runner has them.
func keepWhole(file, name string, result process.Result) error {
	how := fmt.Sprintf("exit code %d", result.ExitCode)
	if result.Signal != "" {
		how = result.Signal
	}
	open, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(open, "== the %s: %s after %.3g s\n== standard error\n%s== standard output\n%s", name, how,
			result.Duration.Seconds(), whole(result.Stderr, result.StderrTruncated),
			whole(result.Stdout, result.StdoutTruncated))
		err = errors.Join(err, open.Close())
	}
	return err
}

// whole is a stream with a line where something was left out, and a line break at its end.
func whole(text []byte, truncated bool) string {
	const out = "… (left out)\n"
	shown := string(text)
	if len(text) > 2*maxHalf {
		shown = shown[:maxHalf] + "\n" + out + shown[len(shown)-maxHalf:]
	}
	if truncated {
		shown = out + shown
	}
	if shown != "" && !strings.HasSuffix(shown, "\n") {
		shown += "\n"
	}
	return shown
}
