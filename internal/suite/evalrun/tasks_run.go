package evalrun

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/internal/suite/tasks"
)

// commandAgent is the agent that may or may not ask a model: nobody knows.
const commandAgent = "command"

// unit is one run: a task, a side, and which repeat, from 0.
type unit struct {
	task   int
	side   role
	repeat int
}

// record is what a finished run came to, but for its judge and the paths of its files. Its JSON
// is what is kept.
type record struct {
	// Session made it.
	Session string `json:"session"`
	tasks.Run
	// Crashed says that the agent itself failed, by no fault of the task.
	Crashed bool `json:"crashed,omitempty"`
	// Words are the agent's last words, one line.
	Words string `json:"words,omitempty"`
	// Digest identifies what the agent left, as far as the diff shows it.
	Digest string `json:"digest"`

	dir string // where transcript and diff are
}

// The files of a kept run.
const (
	recordFile     = "result.json"
	transcriptFile = "transcript.txt"
	diffFile       = "changes.diff"
)

// execute runs one task once and keeps the result.
func (s *comparison) execute(ctx context.Context, u unit) (r record, err error) {
	task := s.tasks[u.task]
	staged, err := s.Archive.Begin()
	if err != nil {
		return record{}, err
	}
	err = s.Try(ctx, s.spent, Attempt{
		Format: suite.Tasks, Name: "task " + task.ID, Box: fmt.Sprintf("box-%d-%d-%d", u.task, u.side, u.repeat),
		Agent: task.agent, From: task.templates[u.side].Copy, Keep: staged,
		Request: func(*sandbox.Box) agent.Request {
			return agent.Request{
				Prompt: task.Prompt, Transcript: filepath.Join(staged, transcriptFile), Timeout: task.Timeout,
				Iteration: u.repeat + 1, Seed: int64(u.repeat + 1),
			}
		},
		Look: func(box *sandbox.Box, reply agent.Reply) (err error) {
			r, err = s.look(ctx, box, task, reply, filepath.Join(staged, diffFile))
			return err
		},
	})
	if err == nil {
		err = s.Archive.Keep(staged, s.name(u), recordFile, r)
	}
	r.dir = s.Archive.Path(s.name(u))
	return r, err
}

// look looks at what an agent left, and runs the task's checks.
func (s *comparison) look(ctx context.Context, box *sandbox.Box, task *prepared, reply agent.Reply, file string,
) (r record, err error) {
	changes, err := box.Changes(ctx)
	if err != nil {
		return r, fmt.Errorf("task %s: look at what the agent changed: %w", task.ID, err)
	}
	diff := box.Masker.String(changes)
	if err := os.WriteFile(file, []byte(diff), 0o600); err != nil {
		return r, err
	}
	r = record{Session: s.Session, Digest: digest(diff), Words: box.Masker.OneLine(reply.Summary, MaxWords)}
	r.Cost = costOf(reply)
	if failure := reply.Failure; failure != nil {
		r.Crashed, r.Failure = failure.Kind == agent.Crashed, box.Masker.OneLine(failure.Error(), MaxWords)
	}
	left := task.Timeout - reply.Duration
	for i, check := range task.Checks {
		passed, evidence := false, "not looked at: the agent failed" // which is a result
		if reply.Failure == nil {
			var took time.Duration
			if passed, evidence, took, err = box.Check(ctx, i, ".", check, changes, left); err != nil {
				return r, fmt.Errorf("task %s: %w", task.ID, err)
			}
			left -= took
		}
		if passed {
			evidence = ""
		}
		r.Checks = append(r.Checks, tasks.CheckResult{
			Kind: check.Kind, Name: plain.Short(check.Subject(), MaxWords), Passed: passed, Detail: evidence,
		})
	}
	r.Objective = tasks.Counted(r.Checks)
	return r, nil
}

func costOf(reply agent.Reply) tasks.Cost {
	used := reply.Usage
	cost := tasks.Cost{
		WallClockMs: count(new(reply.Duration.Round(time.Millisecond).Milliseconds())), Steps: count(used.Turns),
		ToolCalls: count(used.ToolCalls), USD: used.CostUSD,
	}
	if used.InputTokens != nil && used.OutputTokens != nil {
		cost.Tokens = count(used.Tokens())
	}
	return cost
}

func count(n *int64) *metric.Value {
	if n == nil {
		return nil
	}
	return new(metric.FromInt(*n))
}

// same reports whether two runs of one configuration came to the same.
func (r record) same(other record) bool {
	return r.Failure == other.Failure && r.Digest == other.Digest &&
		slices.EqualFunc(r.Checks, other.Checks, func(a, b tasks.CheckResult) bool { return a.Passed == b.Passed })
}

// name is where a run is kept.
func (s *comparison) name(u unit) string {
	return fmt.Sprintf("%s/%d", s.tasks[u.task].keys[u.side], u.repeat+1)
}

// recall reads a run that was kept; what cannot be read is run again.
func (s *comparison) recall(u unit) (r record, kept bool) {
	kept = s.Archive.Read(s.name(u), recordFile, &r) && r.Session != ""
	r.dir = s.Archive.Path(s.name(u))
	return r, kept
}

// file is the path of one of a run's files, or "".
func (r record) file(name string) string {
	path := filepath.Join(r.dir, name)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// key identifies the runs of a task on one side by all that they depend on, as far as it can
// be known. Whose part it is counts too: a candidate that was chosen for its good runs is
// measured anew when it is the baseline.
func (s *comparison) key(of role, p *prepared) string {
	return digest([]any{
		of, p.ID, p.Prompt, p.Checks, p.Timeout.Milliseconds(), p.templates[of].Manifest.Digest(),
		p.agent.Name(), p.version, s.Model, s.Command, s.Surroundings, s.Env,
	})
}

// digest identifies a value of plain fields by its JSON.
func digest(value any) string {
	text, _ := json.Marshal(value) //nolint:errchkjson // plain fields can always be written
	sum := sha256.Sum256(text)
	return fmt.Sprintf("%x", sum[:16])
}

// repeatsWhenVarying is how often each task is run once anything in the suite
// is stochastic.
const repeatsWhenVarying = 5

// maxFailure bounds what a line of progress says of a failed run.
const maxFailure = 100

// measure makes as many runs as the rule asks for. Where no model is known to
// take part, a difference between the sides is believed when it shows again in
// a second run of both; when the second run differs from the first, chance is
// at work.
func (s *comparison) measure(ctx context.Context) error {
	repeats := 1
	if s.varies = s.modelTakesPart(); !s.auto {
		repeats = s.Runs
	} else if s.varies {
		repeats = repeatsWhenVarying
	}
	if err := s.upTo(ctx, repeats); err != nil || !s.auto || s.standalone {
		return err
	}
	if s.varies = s.modelTakesPart(); !s.varies { // also a command that says what it used
		before, after := s.outcome(theBaseline, 1, nil), s.outcome(theCandidate, 1, nil) // judged by nobody
		if tasks.Compare(before, after, s.Thresholds).Verdict == decision.Neutral {
			return nil
		}
		const again = 2
		if err := s.upTo(ctx, again); err != nil {
			return err
		}
		s.varies = slices.ContainsFunc(s.units(1), func(u unit) bool {
			return !s.records[u].same(s.records[unit{u.task, u.side, 1}])
		})
	}
	if !s.varies {
		return nil
	}
	return s.upTo(ctx, repeatsWhenVarying)
}

// modelTakesPart reports whether a model is known to work or to judge.
func (s *comparison) modelTakesPart() bool {
	if s.Grader != nil && s.suite.Judged() ||
		slices.ContainsFunc(s.tasks, func(p *prepared) bool { return p.agent.Name() != commandAgent }) {
		return true
	}
	for _, r := range s.records {
		if r.Cost.Tokens != nil {
			return true
		}
	}
	return false
}

// upTo makes the runs that are missing for so many repeats, some at the same time, as long as
// the budget lasts; they are kept.
func (s *comparison) upTo(ctx context.Context, repeats int) error {
	missing := s.units(repeats)
	s.total = len(missing)
	missing = slices.DeleteFunc(missing, func(u unit) bool {
		if _, there := s.records[u]; there {
			return true
		}
		r, kept := s.recall(u)
		if kept = kept && !s.Fresh; kept {
			s.records[u] = r
			s.reused++
		}
		return kept
	})
	s.say("", "")
	return s.each(ctx, missing, func(u unit) error {
		r, err := s.make(ctx, u)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil {
			s.records[u] = r
			last := fmt.Sprintf(": %s, %s: %d of %d checks passed", s.tasks[u.task].ID, u.side, r.Objective.Passed,
				r.Objective.Total)
			if r.Failure != "" {
				last += " (" + plain.Short(r.Failure, maxFailure) + ")"
			}
			s.say("", last)
		}
		return err
	})
}

// each does something for every unit, and says of what ends it how to go on.
func (s *comparison) each(ctx context.Context, units []unit, do func(unit) error) error {
	err := Each(ctx, s.Jobs, len(units), func(i int) error { return do(units[i]) })
	if none, is := errors.AsType[*NoResultError](err); is {
		none.Reason += fmt.Sprintf("; %d of %d runs are finished and kept: run it again to go on", len(s.records),
			s.total)
	}
	return err
}

// units lists the runs in their order: repeat by repeat, and within a task the
// sides in turn first, so that what drifts meets both.
func (s *comparison) units(repeats int) []unit {
	var list []unit
	for k := range repeats {
		for i := range s.tasks {
			if s.standalone {
				list = append(list, unit{i, theBaseline, k})
				continue
			}
			first := role((k + i) % int(roles))
			list = append(list, unit{i, first, k}, unit{i, 1 - first, k})
		}
	}
	return list
}

// say tells how far the runs, and the judge, are and what they have cost, and what was done last.
func (s *comparison) say(judged, last string) {
	line := fmt.Sprintf("%d/%d runs", len(s.records), s.total)
	if s.reused > 0 {
		line += fmt.Sprintf(", %d kept from before", s.reused)
	}
	line += judged
	tokens, usd, unknown := s.spent.Known()
	if usd.Sign() > 0 {
		line += fmt.Sprintf(", %.4f USD", usd.Float64())
	}
	if tokens > 0 {
		line += fmt.Sprintf(", %d tokens", tokens)
	}
	if unknown > 0 && (usd.Sign() > 0 || tokens > 0) {
		line += fmt.Sprintf(", %d runs of unknown cost", unknown)
	}
	s.tell(line + last)
}
