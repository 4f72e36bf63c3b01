package taskrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/cache"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/sandbox"
)

// commandAgent is the agent that may or may not ask a model: nobody knows.
const commandAgent = "command"

// maxWords bounds what is kept of failures and last words, in characters.
const maxWords = 400

// job is a run that is to be made.
type job struct {
	unit

	// number tells the sandboxes of a comparison apart.
	number int
	limit  agent.Limit
}

// execute runs one task once and keeps the result. It leaves no sandbox behind.
// With an error the record has the cost alone, when an agent worked.
func (s *session) execute(ctx context.Context, j job) (r record, err error) {
	task := s.tasks[j.task]
	staged, err := s.Archive.Begin()
	if err != nil {
		return record{}, err
	}
	base := filepath.Join(s.RunDir, fmt.Sprintf("box-%d", j.number))
	box, err := s.Sandboxes.Open(ctx, base, task.templates[j.side], s.Env)
	if err != nil {
		return record{}, err
	}
	defer func() {
		if closed := box.Close(); closed != nil && err == nil {
			err = fmt.Errorf("remove the sandbox of %s: %w", task.ID, closed)
		}
	}()
	r, err = s.attempt(ctx, box, j, staged)
	if err != nil {
		return r, err
	}
	// A full disk makes agents and checks fail: that is no result.
	for _, dir := range []string{base, staged} {
		if err := cache.Room(dir); err != nil {
			return r, err
		}
	}
	return s.keep(j.unit, staged, r)
}

// attempt lets the agent work in the sandbox and looks at what it left.
func (s *session) attempt(ctx context.Context, box *sandbox.Box, j job, staged string) (record, error) {
	task := s.tasks[j.task]
	reply, err := task.agent.Propose(ctx, agent.Request{
		Dir: box.Dir, Prompt: task.Prompt, Env: box.Env, Home: box.Home,
		Transcript: filepath.Join(staged, transcriptFile),
		Timeout:    task.Timeout, Model: s.Model, Command: s.Command, IsTarget: func(string) bool { return true },
		Targets:   task.templates[j.side].Manifest.Paths(),
		Iteration: j.repeat + 1, Seed: int64(j.repeat + 1), Limit: j.limit,
	})
	r := record{Format: recordFormat, Session: s.Session, Cost: costOf(reply)}
	if err != nil {
		return r, fmt.Errorf("task %s: %w", task.ID, err)
	}
	if reply.Failure != nil && !j.countsAsResult(*reply.Failure) {
		return r, fmt.Errorf("task %s: agent %s: %w; %w", task.ID, task.agent.Name(), reply.Failure, ErrIncomplete)
	}
	changes, err := box.Changes(ctx)
	if err != nil {
		return r, fmt.Errorf("task %s: look at what the agent changed: %w", task.ID, err)
	}
	masker := s.Masker.With(reply.Secrets)
	box.Hide(reply.Secrets)
	diff := masker.String(changes.Diff)
	if err := os.WriteFile(filepath.Join(staged, diffFile), []byte(diff), 0o600); err != nil {
		return r, fmt.Errorf("keep the changes: %w", err)
	}
	r.Crashed = reply.Failure != nil && reply.Failure.Kind == agent.Crashed
	r.Digest, r.Words = digest(diff), masker.OneLine(reply.Summary, maxWords)
	if reply.Failure != nil {
		r.Failure, r.Checks = masker.OneLine(reply.Failure.Error(), maxWords), unanswered(task.Checks)
		return r, nil //nolint:nilerr // a run of which the agent failed is a result
	}
	r.Checks, err = box.Check(ctx, task.Checks, changes, task.Timeout-reply.Duration)
	if err != nil {
		return r, fmt.Errorf("task %s: %w", task.ID, err)
	}
	return r, nil
}

// countsAsResult tells failures that a configuration can be to blame for from
// those that would fail any. Where the comparison has a budget, an agent that
// ran out of it may have worked well.
func (j job) countsAsResult(failure agent.Failure) bool {
	what := suite.OfAgent(failure.Kind, failure.NotStarted, j.limit != agent.Limit{})
	return suite.Tasks.After(what) != suite.NoResult
}

// unanswered are the checks of a run whose agent failed: none passes.
func unanswered(checks []format.Check) []format.CheckResult {
	results := make([]format.CheckResult, len(checks))
	for i, check := range checks {
		results[i] = sandbox.Result(check, "not looked at: the agent failed")
	}
	return results
}

func costOf(reply agent.Reply) format.Cost {
	ms := metric.NumberFromInt(reply.Duration.Round(time.Millisecond).Milliseconds())
	cost := format.Cost{WallClockMs: &ms, Steps: count(reply.Usage.Turns), ToolCalls: count(reply.Usage.ToolCalls)}
	if in, out := reply.Usage.InputTokens, reply.Usage.OutputTokens; in != nil && out != nil {
		cost.Tokens = new(metric.NumberFromInt(*in + *out))
	}
	if usd := reply.Usage.CostUSD; usd != nil {
		cost.USD = new(metric.NumberOf(*usd))
	}
	return cost
}

func count(n *int) *metric.Number {
	if n == nil {
		return nil
	}
	return new(metric.NumberFromInt(int64(*n)))
}

// ErrIncomplete is in errors that end a comparison before all runs are there,
// through no fault of suite or configurations. What was finished is kept.
var ErrIncomplete = errors.New("what was finished is kept; run it again to go on")
