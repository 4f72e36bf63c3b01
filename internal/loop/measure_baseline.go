package loop

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
)

// baseline is iteration 0: what the default branch's tree and the incumbent
// measure. They are the same samples while the branch has nothing of its own.
type baseline struct {
	base, head *samples
	noisy      bool
}

// series is the runs of one commit in two environments of its own.
type series struct {
	*bench
	side    history.Role
	samples *samples
	// teaches says that what the evaluator writes itself is learned from it.
	teaches bool
}

func (r *measurer) newSeries(commit string, side history.Role) *series {
	return &series{bench: r.newBench(commit), side: side, teaches: side == history.Baseline}
}

// measureBaseline probes the unchanged files twice, in two environments. Equal
// numbers make the program deterministic so far. Different ones, or a program that
// asks for repeats, get as many runs as a comparison has, incumbent and default
// branch in turn. When the default branch cannot be measured the incumbent stands
// for it; when neither can, the error is a *baselineError.
func (r *measurer) measureBaseline(ctx context.Context, at position) (baseline, error) {
	base := r.newSeries(at.Base, history.Baseline)
	head, all := base, []*series{base}
	if at.Head != at.Base {
		head = r.newSeries(at.Head, history.Incumbent)
		all = append(all, head)
	}
	defer head.Close()
	defer base.Close()
	count := len(head.environments)
	if r.Program.Runs == 1 {
		count = 1 // the plain comparison
	}
	if base != head {
		problem, err := r.probe(ctx, base, count)
		if err != nil {
			return baseline{}, err
		}
		if problem != nil {
			r.warnings = append(r.warnings,
				"the default branch cannot be measured, so the incumbent stands for it: "+problem.String())
			base.Close()
			base, all = head, all[1:]
			head.teaches, r.own = true, ownChanges{}
		}
	}
	problem, err := r.probe(ctx, head, count)
	if err != nil {
		return baseline{}, err
	}
	if problem != nil {
		return baseline{}, &baselineError{decision.Reason{
			Kind:    decision.BaselineFails,
			Because: []decision.Reason{*problem},
		}}
	}
	noisy := r.records.sum.Noisy && r.records.sum.Evaluator == at.identity.Evaluator ||
		slices.ContainsFunc(all, func(s *series) bool { return !s.samples.same() })
	if r.Program.Runs != 0 {
		noisy = r.Program.Runs > 1
	}
	if noisy {
		err = r.repeat(ctx, all)
	}
	return baseline{base.samples, head.samples, noisy}, err
}

// probe runs the evaluation once in each of so many environments of the series, in
// any order. It returns why a run cannot be a baseline, nil when each can.
func (r *measurer) probe(ctx context.Context, s *series, count int) (problem *decision.Reason, err error) {
	s.samples = &samples{}
	for _, i := range mathrand.Perm(count) {
		if _, err := s.environment(ctx, i, s.side, s.head); err != nil {
			return nil, err
		}
		if problem, err = r.sample(ctx, s, i); problem != nil || err != nil {
			return problem, err
		}
	}
	return nil, nil
}

// repeat measures every series as often as a comparison does. The probes were
// its warm-up and are dropped; the order is random in every round.
func (r *measurer) repeat(ctx context.Context, all []*series) error {
	var seconds, prepare float64
	for _, s := range all {
		seconds = max(seconds, s.samples.seconds/float64(s.samples.runs))
		prepare = max(prepare, s.samples.prepare)
		s.samples = &samples{prepare: s.samples.prepare}
	}
	if problem := r.exceedsTimeLimit(seconds, prepare); problem != nil {
		return &baselineError{*problem}
	}
	rounds := r.rule().Pairs
	all = slices.Clone(all)
	r.step("baseline", fmt.Sprintf("noisy, %d runs", rounds))
	for i := range rounds {
		r.minor("baseline", fmt.Sprintf("noisy, run %d of %d", i+1, rounds))
		for _, s := range all {
			problem, err := r.sample(ctx, s, i%len(s.environments))
			if err != nil {
				return err
			}
			if problem != nil {
				return &baselineError{decision.Reason{
					Kind:    decision.BaselineFailsAtTimes,
					Because: []decision.Reason{*problem},
				}}
			}
		}
		mathrand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return nil
}

// sample runs the evaluation once more in an environment of the series.
func (r *measurer) sample(ctx context.Context, s *series, place int) (problem *decision.Reason, err error) {
	outcome, err := s.environments[place].evaluate(ctx)
	if err != nil {
		return nil, err
	}
	if s.teaches {
		r.learn(s.environments[place])
	}
	s.samples.add(outcome, r.Program.Guardrails)
	s.samples.prepare = max(s.samples.prepare, s.environments[place].prepare.Seconds())
	return r.unusable(outcome), nil
}

// unusable says why an outcome is no baseline, nil when it is one.
func (r *measurer) unusable(outcome evaluation.Result) *decision.Reason {
	m := outcome.Measurement
	if outcome.Problem != "" {
		return new(decision.Say(outcome.Problem))
	}
	if unfit := r.rule().Unfit(m); m.Metric == nil {
		return unfit
	}
	for _, rail := range r.Program.Guardrails {
		if _, printed := m.Numbers[rail.Metric]; !printed {
			return &decision.Reason{Kind: decision.NeedsNumber, Path: rail.Metric}
		}
	}
	return r.rule().Implausible(*m.Metric)
}
