package loop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	mathrand "math/rand/v2"
	"slices"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/program"
)

// ensureBaseline measures iteration 0 when the recorded baseline no longer holds:
// the default branch's tree with nothing changed and, when the program branch
// has commits of its own, the incumbent beside it. When neither can be measured
// the error is a failure of the baseline.
func (r *run) ensureBaseline(ctx context.Context, at *position) error {
	var err error
	if *at, err = r.identified(ctx, *at); err != nil {
		return err
	}
	why := r.needsBaseline(*at)
	if why == nil {
		if writes := r.records.EvaluatorWrites; writes != nil {
			r.warnOfWrites(writes)
		}
		return nil
	}
	r.step("baseline", "%s", why)
	measure := r.measureBaseline
	if r.Suite != nil {
		measure = r.measureSuiteBaseline
	}
	before, err := r.Repo.Fingerprint(ctx, r.Program.File)
	if err != nil {
		return err
	}
	found, err := measure(ctx, *at)
	if err != nil {
		return err
	}
	_, reason, err := r.disturbed(ctx, before, "while the unchanged files were measured")
	if err == nil && reason != nil {
		err = unmeasured(*reason)
	}
	if err == nil {
		err = r.recordBaseline(ctx, at, found, why)
	}
	if err != nil {
		return err
	}
	r.step("measured", "%s", found[len(found)-1].Metric)
	return nil
}

// needsBaseline says why the recorded numbers do not hold for this position, nil when
// they do.
func (r *journal) needsBaseline(at position) *decision.Reason {
	sum, tasks, why := &r.records.Summary, r.Program.Evaluation == program.Tasks, decision.Reason{}
	switch changed := sum.Executor.Changed(at.Executor); {
	case sum.Unmeasured():
		why.Kind, why.Count = decision.WasUndone, sum.Undone
	case sum.Best == nil:
		why.Kind = decision.First
	case sum.Direction.String() != r.Program.Direction.String():
		why.Kind, why.Path, why.Term = decision.DirectionChanged, sum.Direction.String(), r.Program.Direction.String()
	case sum.Definition != at.Definition:
		why.Kind = decision.ProgramChanged
	case sum.Base != at.Base:
		why.Kind, why.Words = decision.BaseMoved, at.Note
	case sum.Incumbent != at.PushOnto:
		why.Kind = decision.BranchMoved
	case sum.Evaluator != at.Evaluator, sum.EvaluatorWrites == nil && !tasks: // which would be the candidate's fault
		why.Kind = decision.FilesChanged
	case changed != "":
		why.Kind, why.Words = decision.ExecutorChanged, changed
	case sum.Disagreements >= maxDisagreements:
		why.Kind = decision.OffRecord
	case !tasks && r.rule().Regime == decision.Noisy && sum.InitialRuns < r.rule().Pairs:
		why.Kind = decision.TurnedNoisy
	default:
		return nil
	}
	return &why
}

// recordBaseline writes a baseline as soon as it is measured: it holds whatever
// becomes of the iteration.
func (r *run) recordBaseline(ctx context.Context, at *position, measured []*history.Measured,
	why *decision.Reason,
) error {
	first, last := measured[0], measured[len(measured)-1]
	last.Role, first.Role = history.Incumbent, history.Baseline
	first.Reason, first.Evaluation, first.EvaluatorWrites = why, r.takeExpense(), r.own
	r.baselineEvents = measured
	message := fmt.Sprintf("baseline %s", last.Metric)
	enter := func(b *records) error {
		b.enterBaseline(*at, measured)
		return nil
	}
	var branch *git.RefUpdate
	if at.moves() {
		branch = at.moveTo(r.ref(), at.PushOnto)
	}
	err := r.write(ctx, message, branch, enter)
	if branch != nil && refusedForWorkflows(err) {
		*at = at.onOwnBase()
		err = r.write(ctx, message, nil, enter)
	}
	if r.drafted == nil && at.moves() {
		at.Branch = at.PushOnto
	}
	return err
}

// enterBaseline records the measurements of the unchanged files: the default
// branch's first, then the incumbent's when it is another commit.
func (b *records) enterBaseline(at position, measured []*history.Measured) {
	first := measured[0]
	if at.PushOnto != at.Head {
		b.set(history.WorkflowsRefused, at.Base)
		if len(measured) == 1 { // the branch has nothing that the default branch lacks: it measures the same
			same := *first
			same.Role, same.BaseBranch, same.Reason, same.Evaluation, same.EvaluatorWrites = history.Incumbent, "",
				nil, nil, nil
			measured = append(measured, &same)
		}
	}
	for i := range measured {
		measured[i].Iteration, measured[i].Commit = b.Iteration, at.PushOnto
	}
	first.Commit, first.BaseBranch, first.Direction = at.Base, at.BaseBranch, b.Program.Direction
	first.Evaluator, first.Definition = at.Evaluator, at.Definition
	first.Executor = at.Executor
	for _, e := range measured {
		b.add(e)
	}
	b.completeAtTarget()
}

// identity is what makes two measurements comparable.
type identity struct {
	// Evaluator is the hash of all that an evaluation runs and reads: the
	// program's settings and every tracked file that the target does not match.
	Evaluator string
	// Definition is the hash of the settings alone.
	Definition string
	// Executor is who works on the cases or tasks of a suite, and who grades them;
	// nil of any other evaluation, and where nobody measures.
	Executor *history.Executor
}

func (r *journal) identify(entries []git.TreeEntry) (identity, error) {
	p, sum := r.Program, sha256.New()
	settings, err := json.Marshal(p.Meaning())
	if err != nil {
		return identity{}, fmt.Errorf("hash the evaluation: %w", err)
	}
	sum.Write(settings)
	defined := short(sum)
	for _, entry := range entries {
		if !p.Targeted(entry.Path) || p.OfSuite(entry.Path) {
			fmt.Fprintf(sum, "%s %s\t%s\x00", entry.Mode, entry.ID, entry.Path)
		}
	}
	return identity{Evaluator: short(sum), Definition: defined, Executor: r.Executor}, nil
}

func short(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil))[:16] }

// identified is a position with the incumbent's files, and with what its measurement means.
func (r *run) identified(ctx context.Context, at position) (position, error) {
	var err error
	if at.entries, err = r.Repo.LsTree(ctx, at.Head); err == nil {
		at.identity, err = r.identify(at.entries)
	}
	return at, err
}

// series is the runs of one commit in two environments of its own.
type series struct {
	*bench
	subject
	// teaches says that what the evaluator writes itself is learned from it.
	teaches bool
}

func (r *measurer) newSeries(role decision.Side, commit string) *series {
	return &series{bench: r.newBench(), subject: subjectOf(role, commit), teaches: role == history.Baseline}
}

// own are the samples of the series.
func (s *series) own() *samples { return s.samples(s.role) }

// measureBaseline probes the unchanged files twice, in two environments. Equal
// numbers make the program deterministic so far. Different ones, or a program that
// asks for repeats, get as many runs as a comparison has, incumbent and default
// branch in turn. When the default branch cannot be measured the incumbent stands
// for it; when neither can, that is the error. The default branch's measurement comes first,
// that of an incumbent which is another commit second.
func (r *measurer) measureBaseline(ctx context.Context, at position) ([]*history.Measured, error) {
	all := []*series{r.newSeries(history.Baseline, at.Base)}
	if at.Head != at.Base {
		all = append(all, r.newSeries(history.Incumbent, at.Head))
	}
	for _, s := range all {
		defer s.Close()
	}
	probes := 2
	if r.Program.Runs == 1 {
		probes = 1 // the plain comparison
	}
	noisy := r.records.Noisy && r.records.Evaluator == at.Evaluator
	for i, s := range slices.Clone(all) {
		problem, err := r.probe(ctx, s, probes)
		switch {
		case err != nil:
			return nil, err
		case problem == nil:
			noisy = noisy || !s.own().same()
		case i == len(all)-1:
			return nil, unmeasured(decision.BaselineFails.Because(*problem))
		default:
			r.note("the default branch cannot be measured, so the incumbent stands for it: " + problem.String())
			s.Close()
			all[0] = all[1]
			all[0].teaches, r.own = true, nil
		}
	}
	if r.Program.Runs != 0 {
		noisy = r.Program.Runs > 1
	}
	if noisy {
		if err := r.repeat(ctx, slices.Compact(slices.Clone(all))); err != nil {
			return nil, err
		}
	}
	var measured []*history.Measured
	for _, s := range all {
		own := s.own().Measured // it may stand for both
		measured = append(measured, &own)
	}
	measured[0].Noisy = noisy
	return measured, nil
}

// probe runs the evaluation once in each of so many environments of the series, in
// any order. It returns why a run cannot be a baseline, nil when each can.
func (r *measurer) probe(ctx context.Context, s *series, count int) (problem *decision.Reason, err error) {
	for _, place := range mathrand.Perm(count) {
		if problem, err = r.sample(ctx, s, place); problem != nil || err != nil {
			break
		}
	}
	return problem, err
}

// repeat measures every series as often as a comparison does. The probes were
// its warm-up and are dropped; the order is random in every round.
func (r *measurer) repeat(ctx context.Context, all []*series) error {
	var seconds, prepare float64
	for _, s := range all {
		seconds, prepare = max(seconds, s.own().Seconds), max(prepare, s.own().Prepare)
		clear(s.taken)
	}
	if problem := r.exceedsTimeLimit(seconds, prepare); problem != nil {
		return unmeasured(*problem)
	}
	rounds := r.rule().Pairs
	r.step("baseline", "noisy, %d runs", rounds)
	for i := range rounds {
		r.minor("baseline", "noisy, run %d of %d", i+1, rounds)
		for _, s := range all {
			problem, err := r.sample(ctx, s, i%len(s.environments))
			if err != nil {
				return err
			}
			if problem != nil {
				return unmeasured(decision.BaselineFailsAtTimes.Because(*problem))
			}
		}
		mathrand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return nil
}

// sample runs the evaluation once more at a place of the series, and says why it is no baseline
// with the runs before it, nil when it is one.
func (r *measurer) sample(ctx context.Context, s *series, place int) (problem *decision.Reason, err error) {
	env, outcome, err := s.once(ctx, place, s.subject)
	if err != nil {
		return nil, err
	}
	if s.teaches {
		r.learn(env)
	}
	if len(r.own) > maxOwnChanges {
		return new(decision.Say(fmt.Sprintf("it changes %d files of the repository itself, more than %d; let it "+
			"write to ignored paths", len(r.own), maxOwnChanges))), nil
	}
	taken := s.own()
	taken.add(outcome, r.Program.Guardrails)
	taken.Prepare = max(taken.Prepare, env.prepare.Seconds())
	return r.unusable(outcome, taken), nil
}

// unusable says why a run is no baseline with those before it, nil when it is one.
func (r *measurer) unusable(outcome evaluation.Result, taken *samples) *decision.Reason {
	switch m := outcome.Measurement; {
	case outcome.Problem != "":
		return new(decision.Say(outcome.Problem))
	case m.Metric == nil:
		return r.rule().Unfit(m)
	}
	return r.unfit(&taken.Measured)
}

// unfit says why measured numbers are no baseline of the program, nil when they are.
func (r *measurer) unfit(e *history.Measured) *decision.Reason {
	for _, rail := range r.Program.Guardrails {
		if len(e.GuardrailSamples[rail.Metric]) != len(e.Samples) {
			return &decision.Reason{Kind: decision.NeedsNumber, Path: rail.Metric}
		}
	}
	for _, sample := range e.Samples {
		if reason := r.rule().Implausible(sample); reason != nil {
			return reason
		}
	}
	return nil
}
