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
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/format"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/work"
)

// commandAgent is the agent that may or may not ask a model: nobody knows.
const commandAgent = "command"

// execute runs one task once and keeps the result.
func (s *session) execute(ctx context.Context, u unit) (r record, err error) {
	task := s.tasks[u.task]
	staged, err := s.Archive.Begin()
	if err != nil {
		return record{}, err
	}
	err = s.Try(ctx, s.spent, work.Attempt{
		Format: suite.Tasks, Name: "task " + task.ID, Box: fmt.Sprintf("box-%d-%d-%d", u.task, u.side, u.repeat),
		Agent: task.agent, From: task.templates[u.side], Keep: staged,
		Request: func(*sandbox.Box) agent.Request {
			return agent.Request{
				Prompt: task.Prompt, Transcript: filepath.Join(staged, transcriptFile), Timeout: task.Timeout,
				Iteration: u.repeat + 1, Seed: int64(u.repeat + 1),
			}
		},
		Look: func(box *sandbox.Box, reply agent.Reply, masker process.Masker) (err error) {
			r, err = s.look(ctx, box, task, reply, masker, staged)
			return err
		},
	})
	if none, is := errors.AsType[*work.NoResultError](err); is {
		none.Reason += goOn
	}
	if err != nil {
		return record{}, err
	}
	if err := s.Archive.Keep(staged, s.name(u), recordFile, r); err != nil {
		return r, err
	}
	r.dir = s.Archive.Path(s.name(u))
	return r, nil
}

// goOn is what to do when a comparison ends before all runs are there.
const goOn = "; what was finished is kept; run it again to go on"

// look looks at what an agent left, and runs the task's checks.
func (s *session) look(ctx context.Context, box *sandbox.Box, task *prepared, reply agent.Reply,
	masker process.Masker, staged string,
) (r record, err error) {
	r = record{Format: recordFormat, Session: s.Session, Cost: costOf(reply)}
	changes, err := box.Changes(ctx)
	if err != nil {
		return r, fmt.Errorf("task %s: look at what the agent changed: %w", task.ID, err)
	}
	diff := masker.String(changes.Diff)
	if err := os.WriteFile(filepath.Join(staged, diffFile), []byte(diff), 0o600); err != nil {
		return r, err
	}
	r.Digest, r.Words = digest(diff), masker.OneLine(reply.Summary, work.MaxWords)
	if failure := reply.Failure; failure != nil {
		r.Crashed, r.Failure = failure.Kind == agent.Crashed, masker.OneLine(failure.Error(), work.MaxWords)
		for _, check := range task.Checks { // none passes
			r.Checks = append(r.Checks, sandbox.Result(check, "not looked at: the agent failed"))
		}
		return r, nil // a run of which the agent failed is a result
	}
	r.Checks, err = box.Check(ctx, task.Checks, changes, task.Timeout-reply.Duration)
	if err != nil {
		return r, fmt.Errorf("task %s: %w", task.ID, err)
	}
	return r, nil
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
