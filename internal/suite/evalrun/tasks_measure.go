package evalrun

import (
	"context"
	"fmt"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/tasks"
)

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
	s.tell("", "")
	return Each(ctx, &s.Runner, s.spent, missing, func(int, unit) string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return fmt.Sprintf("after %d of %d runs%s", len(s.records), s.total, goOn)
	}, func(ctx context.Context, u unit) error {
		r, err := s.make(ctx, u)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err == nil {
			s.records[u] = r
			passed := tasks.Counted(r.Checks)
			last := fmt.Sprintf(": %s, %s: %d of %d checks passed", s.tasks[u.task].ID, u.side, passed.Passed, passed.Total)
			if r.Failure != "" {
				last += " (" + plain.Short(r.Failure, maxFailure) + ")"
			}
			s.tell("", last)
		}
		return err
	})
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

// tell says how far the runs, and the judge, are and what they have cost, and what was done last.
func (s *comparison) tell(judged, last string) {
	if s.Progress == nil {
		return
	}
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
	s.Progress(line + last)
}
