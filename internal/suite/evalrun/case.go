package evalrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/judge"
	"github.com/org/autoloop/internal/suite/sandbox"
)

// The files of a case.
const (
	GradingFile    = "grading.json"
	TranscriptFile = "transcript.md"
)

// one runs a case in a sandbox of its own, which it removes.
func (s *session) one(ctx context.Context, number int, c suite.Case) (done suite.CaseScore, err error) {
	dir := filepath.Join(s.out, "eval-"+c.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return done, err
	}
	err = s.Try(ctx, s.spent, Attempt{
		Format: suite.Evals, Name: "case " + c.ID, Box: fmt.Sprintf("box-%d", number), Agent: s.Agent, Keep: dir,
		From: func(ctx context.Context, dir string) (*sandbox.Template, error) { return s.compose(ctx, dir, c) },
		Request: func(box *sandbox.Box) agent.Request {
			env := []string{"AUTOLOOP_SKILL=" + filepath.Join(box.Dir, s.at())}
			if s.url != "" {
				env = append(env, "AUTOLOOP_SERVER="+s.url)
			}
			return agent.Request{
				Prompt: s.prompt(c), Env: env, Transcript: transcriptOf(box), Timeout: s.Timeout, Iteration: 1, Seed: 1,
			}
		},
		Look: func(box *sandbox.Box, reply agent.Reply) (err error) {
			w := &cased{session: s, c: c, box: box, dir: dir, reply: reply}
			done, err = w.finish(ctx)
			return err
		},
	})
	return done, err
}

// transcriptOf is where an agent writes what it printed.
func transcriptOf(box *sandbox.Box) string { return filepath.Join(box.Base, "transcript") }

// cased is a case whose executor has ended.
type cased struct {
	*session

	c          suite.Case
	box        *sandbox.Box
	dir        string
	reply      agent.Reply
	transcript string
	files      string // of outputs/, as text
	chars      int
	grading    suite.Grading
	took       time.Duration // of the grader
}

// finish keeps what the executor left, and grades it.
func (w *cased) finish(ctx context.Context) (done suite.CaseScore, err error) {
	printed, err := os.ReadFile(transcriptOf(w.box))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = w.keepTranscript(printed)
	}
	switch {
	case err != nil:
		return done, err
	case w.reply.Failure != nil:
		return w.c.Crashed(w.box.Masker.OneLine(w.reply.Failure.Error(), MaxWords)), err
	case w.c.Trigger != nil:
		used, shows := skillUsed(printed, agent.ProjectOf(w.Agent).Printed, w.skill.Name), "shows"
		if !used {
			shows = "does not show"
		}
		w.grading.Expectations = []suite.Graded{{
			Text: w.c.Checks[0].Label(), Source: suite.Deterministic, Passed: used == *w.c.Trigger,
			Evidence: "the transcript " + shows + " that the skill was loaded",
		}}
	default:
		if err = w.keepOutputs(ctx); err == nil {
			err = w.check(ctx)
		}
		if err == nil && len(w.c.Expectations) > 0 {
			err = w.grade(ctx)
		}
	}
	if err == nil {
		err = w.write()
	}
	return w.c.Score(w.grading), err
}

// check answers the deterministic checks. What runs commands comes last, so that
// files are looked at as the executor left them.
func (w *cased) check(ctx context.Context) error {
	w.grading.Expectations = make([]suite.Graded, len(w.c.Checks))
	for _, commands := range []bool{false, true} {
		for i, check := range w.c.Checks {
			if (check.Command != "") != commands {
				continue
			}
			passed, evidence, _, err := w.box.Check(ctx, i, suite.OutputsDir, check, "", check.Timeout)
			if err != nil {
				return fmt.Errorf("case %s: %w", w.c.ID, err)
			}
			w.grading.Expectations[i] = suite.Graded{
				Text: check.Label(), Source: suite.Deterministic, Passed: passed, Evidence: evidence,
			}
		}
	}
	return nil
}

// grade asks the grader about the expectations. A grader that does not answer
// says nothing about the skill, so there is no result then.
func (w *cased) grade(ctx context.Context) error {
	begun := w.Now()
	grades, err := w.Grader.Grade(ctx, judge.Work{
		Prompt: w.c.Prompt, Expected: w.c.ExpectedOutput, Expectations: w.c.Expectations, Transcript: w.transcript,
		Outputs: w.files,
	})
	w.spent.Add(grades.Usage, true)
	if err == nil && grades.Problem != "" {
		err = &NoResultError{
			What: suite.NoAnswer, Reason: "case " + w.c.ID + " cannot be graded: " + grades.Problem,
		}
	}
	w.took = w.Now().Sub(begun)
	w.grading.Expectations = append(w.grading.Expectations, grades.Expectations...)
	w.grading.Feedback = grades.Feedback
	return err
}

// write keeps the grading.
func (w *cased) write() error {
	executor, usage := w.reply.Duration, w.reply.Usage
	w.grading.Timing = map[string]float64{
		"executor_duration_seconds": executor.Seconds(), "grader_duration_seconds": w.took.Seconds(),
		"total_duration_seconds": (executor + w.took).Seconds(),
	}
	w.grading.Metrics = map[string]any{
		"total_tool_calls": usage.ToolCalls, "total_steps": usage.Turns, "input_tokens": usage.InputTokens,
		"output_tokens": usage.OutputTokens, "output_chars": w.chars, "transcript_chars": len(w.transcript),
	}
	text, err := json.MarshalIndent(w.grading, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.dir, GradingFile), append(text, '\n'), 0o600)
}

const (
	// maxTranscript bounds transcript.md, in bytes.
	maxTranscript = 16 << 20
	// maxShownFile and maxShown bound what the grader sees of one file and of all,
	// in bytes.
	maxShownFile = 32 << 10
	maxShown     = 128 << 10
)

// keepTranscript writes transcript.md: the conversation where the agent gives
// it, else what it printed, which the first line says.
func (w *cased) keepTranscript(printed []byte) error {
	var out strings.Builder
	first, title := "# Transcript of %s\n", "Conversation"
	if agent.ProjectOf(w.Agent).Printed == agent.Words {
		first, title = "The agent %s does not give its conversation; this is what it printed.\n", "Printed"
	}
	fmt.Fprintf(&out, first, w.Agent.Name())
	section(&out, "Prompt", w.prompt(w.c))
	section(&out, title, string(printed))
	if failure := w.reply.Failure; failure != nil {
		section(&out, "Failure", failure.Error())
	}
	w.transcript = w.box.Masker.String(strings.ToValidUTF8(out.String(), "\ufffd"))
	if len(w.transcript) > maxTranscript {
		w.transcript = strings.ToValidUTF8(w.transcript[:maxTranscript], "") + "\n… the rest is left out\n"
	}
	return os.WriteFile(filepath.Join(w.dir, TranscriptFile), []byte(w.transcript), 0o600)
}

// section is a heading with text in a fence that the text cannot close.
func section(out *strings.Builder, title, text string) {
	fence := plain.Fence(text)
	fmt.Fprintf(out, "\n## %s\n\n%s\n%s\n%s\n", title, fence, strings.TrimRight(text, "\n"), fence)
}

// keepOutputs copies what is in outputs/, and shows it to the grader as text.
func (w *cased) keepOutputs(ctx context.Context) error {
	dir := filepath.Join(w.dir, suite.OutputsDir)
	kept, left, err := w.box.KeepOutputs(ctx, dir)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, file := range kept {
		w.chars += int(file.Size)
		fmt.Fprintf(&out, "--- %q, %d bytes\n", file.Path, file.Size)
		data, err := os.ReadFile(filepath.Join(dir, file.Path))
		switch {
		case err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
			out.WriteString("(not text)\n")
		case out.Len() > maxShown:
			out.WriteString("(not shown)\n")
		case len(data) > maxShownFile:
			fmt.Fprintf(&out, "%s\n… the rest is left out\n", strings.ToValidUTF8(string(data[:maxShownFile]), ""))
		default:
			fmt.Fprintf(&out, "%s\n", data)
		}
	}
	if left > 0 {
		fmt.Fprintf(&out, "%d further paths are links, special files, or too much, and are not shown\n", left)
	}
	w.files = w.box.Masker.String(out.String())
	return nil
}
