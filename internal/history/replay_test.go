package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

// TestReplayAddsUpIterations: each counts once, with its last outcome; resuming begins the counts of what came in a
// row anew, and so does another outcome.
func TestReplayAddsUpIterations(t *testing.T) {
	t.Parallel()
	const (
		accepted = "decided iteration=1 outcome=accepted best=1 | "
		rejected = "decided iteration=2 outcome=rejected | decided iteration=3 outcome=inconclusive | "
		errors   = "decided iteration=4 outcome=error | decided iteration=5 outcome=error | "
		waiting  = "decided iteration=6 outcome=pending-ci | "
	)
	golden.Table(t, map[string]string{
		"none":                  " =>  0 0 0",
		"dropped":               accepted + rejected + " => accepted,rejected,rejected 3 0 2",
		"errors":                rejected + errors + " => rejected,rejected,error,error 5 2 0",
		"resumed":               errors + "resumed => error,error 5 0 0",
		"an error after it":     errors + "resumed | decided iteration=6 outcome=error => error,error,error 6 1 0",
		"waiting, and accepted": waiting + "decided iteration=6 outcome=accepted => accepted 6 0 0",
		"waiting, and rejected": waiting + "decided iteration=6 outcome=rejected => rejected 6 0 1",
		"resumed while waiting": errors + waiting +
			"resumed | decided iteration=6 outcome=error => error,error,error 6 1 0",
		"CI turned it down": "decided iteration=1 outcome=ci-fix-exhausted => ci-fix-exhausted 1 0 0",
		"what was undone was accepted": accepted + rejected +
			`set key=undone value="1" => accepted,rejected,rejected 3 0 2`,
		"an adopted state": `set key=adopted-iteration value="7" | set key=adopted-statuses ` +
			"value=error,accepted | decided iteration=8 outcome=rejected => error,accepted,rejected 8 0 1",
		"a lower count that is adopted": rejected + `set key=adopted-iteration value="2" => rejected,rejected 3 0 2`,
		"a count in words":              "set key=adopted-iteration value=many =>  0 0 0",
		"a count below zero":            `set key=adopted-iteration value="-4" =>  0 0 0`,
		"ten statuses are known": "set key=adopted-statuses value=a,b,c,d,e,f,g,h,i | " + rejected +
			" => b,c,d,e,f,g,h,i,rejected,rejected 3 0 2",
	}, func(t *testing.T, line string) any {
		s := replay(t, line)
		return fmt.Sprintln(strings.Join(s.Statuses(), ","), s.Iteration, s.ConsecutiveErrors(), s.Dropped())
	})
	s := replay(t, accepted+rejected)
	assert.Equal(t, []int{3, 1, 1}, []int{len(s.Attempts), s.Count(history.Inconclusive), s.Promoted()})
}

// TestInterruptedRunsAreCounted: a run is over when it says so, and one after it counts those before it that never did.
func TestInterruptedRunsAreCounted(t *testing.T) {
	t.Parallel()
	const two = "started run_id=a | started run_id=b minute=1 | "
	golden.Table(t, map[string]string{
		"no run":                     " =>  0 0 -1",
		"one that works":             "started run_id=a => a 0 0 -1",
		"one that is over":           "started run_id=a minute=2 | finished run_id=a minute=9 =>  0 0 2",
		"the end of another":         "started run_id=a | finished run_id=b => a 0 0 -1",
		"an end without a start":     "finished run_id=a =>  0 0 -1",
		"interrupted":                two + " => b 1 1 -1",
		"interrupted twice":          two + "started run_id=c => c 2 2 -1",
		"the next comes to its end":  two + "finished run_id=b =>  0 1 1",
		"the next had nothing to do": two + "finished run_id=b unused=true | started run_id=c => c 1 1 -1",
		"the next is put off": two +
			`finished run_id=b not_before="2026-01-02T13:00:00Z" | started run_id=c => c 0 2 -1`,
		"the next was stopped": two + "finished run_id=b stopped=true =>  1 2 -1",
		"a person resumes":     two + "resumed => b 0 1 -1",
		"another job goes on":  "started run_id=a | started run_id=a minute=5 => a 0 0 -1",
		"another job ends it": "started run_id=a minute=1 | started run_id=a minute=5 | finished run_id=a" +
			" =>  0 0 1",
		"it comes back too late":   two + "finished run_id=a => b 1 1 -1",
		"it decided, and was lost": "started run_id=a | decided run_id=a | started run_id=b => b 1 0 -1",
		"another decided for it":   "started run_id=a | decided run_id=z | started run_id=b => b 1 1 -1",
		"its fix failed":           "started run_id=a | checked run_id=a | started run_id=b => b 1 0 -1",
		"it measured, and was lost": "started run_id=a | measured run_id=a role=candidate | started run_id=b" +
			" => b 1 1 -1",
	}, func(t *testing.T, line string) any {
		s := replay(t, line)
		open, last := "", -1
		if s.Open != nil {
			open = s.Open.Run
		}
		if !s.LastRun.IsZero() {
			last = int(s.LastRun.Sub(noon).Minutes())
		}
		return fmt.Sprintln(open, s.Interrupted, len(s.Used), last)
	})
}

// TestAnotherJobOfARunHasItsOwnLease: it goes on from the first start, with what that reserved.
func TestAnotherJobOfARunHasItsOwnLease(t *testing.T) {
	t.Parallel()
	list := events(t, `started run_id=a lease={"host":"one"} reserved={"tokens":5} minute=0 |
		started run_id=a lease={"host":"two"} minute=30 | decided run_id=a minute=45`)
	s := history.Replay(list)
	assert.Equal(t, []any{"two", noon, int64(5)}, []any{s.Open.Lease.Host, s.Open.Time, s.Open.Reserved.Tokens})
	assert.Equal(t, "one", history.Replay(list[:1]).Open.Lease.Host, "events stay as they were")
	assert.InDelta(t, 45, s.Attempts[0].Spent.Minutes, 0)
}

// TestSpentIsAddedUpOnce by agents and by measuring: iterations, tokens, dollars, minutes, the tokens and dollars of
// measuring, and the iterations in which somebody did not say their tokens or dollars.
func TestSpentIsAddedUpOnce(t *testing.T) {
	t.Parallel()
	const (
		worked  = ` agent=codex durations={"propose":60} `
		tuned   = ` agent=tuner durations={"propose":60} `
		said    = ` agent=claude durations={"propose":60} usage={"input_tokens":7,"output_tokens":3,"cost_usd":0.25} `
		judged  = ` evaluation={"tokens":40,"cost_usd":1} `
		partly  = ` evaluation={"tokens":40,"cost_usd":null,"unknown_usd":2} `
		pending = "decided iteration=1 outcome=pending-ci commit=a" + said + judged + "| "
		checked = "checked iteration=1"
		decided = "decided iteration=1"
		putOff  = `finished iteration=1 run_id=r minute=2 not_before="2026-01-02T13:00:00Z"` + worked
	)
	golden.Table(t, map[string]string{
		"an agent":                 decided + said + " => {1 10 0.25 1 0 0 0 0}",
		"a baseline alone":         "measured role=baseline" + judged + " => {0 40 1 0 40 1 0 0}",
		"a trial":                  decided + said + judged + " => {1 50 1.25 1 40 1 0 0}",
		"measuring, known in part": decided + said + partly + " => {1 50 0.25 1 40 0 0 1}",
		"two iterations":           decided + said + "| decided iteration=2" + said + " => {2 20 0.5 2 0 0 0 0}",
		"CI accepts the same commit": pending + "decided iteration=1 commit=a" + said + judged +
			" => {1 50 1.25 1 40 1 0 0}",
		"CI drops it": pending + "decided iteration=1" + said + judged + " => {1 50 1.25 1 40 1 0 0}",
		"a fix is another commit": pending + "decided iteration=1 commit=b" + said + judged +
			" => {1 100 2.5 2 80 2 0 0}",
		"no commit, then one": decided + said + "| decided iteration=1 commit=a" + said +
			" => {1 20 0.5 2 0 0 0 0}",
		"a fix, and back": pending + "decided iteration=1 commit=b | " + pending +
			" => {1 100 2.5 2 80 2 0 0}",
		"a fix that was not kept":    pending + checked + said + " => {1 60 1.5 2 40 1 0 0}",
		"its measuring":              pending + checked + judged + " => {1 90 2.25 1 80 2 0 0}",
		"a check without a fix":      pending + checked + ` durations={"propose":60} => {1 50 1.25 1 40 1 0 0}`,
		"a fix of another iteration": pending + "checked iteration=2" + said + " => {1 50 1.25 1 40 1 0 0}",
		"nothing is said":            decided + worked + " => {1 0 0 1 0 0 1 1}",
		"no cost":                    decided + worked + `usage={"output_tokens":3} => {1 3 0 1 0 0 0 1}`,
		"no tokens of the answer":    decided + worked + `usage={"input_tokens":7,"cost_usd":1} => {1 7 1 1 0 0 1 0}`,
		"no tokens of the prompt": decided + worked + `usage={"output_tokens":3,"cost_usd":1}` +
			` => {1 3 1 1 0 0 0 0}`,
		"nobody worked":       decided + ` agent=codex durations={"measure":60} => {1 0 0 1 0 0 0 0}`,
		"the built-in search": decided + tuned + " => {1 0 0 1 0 0 0 0}",
		"the parts that are known": "proposed iteration=1" + said + "| " + decided + worked +
			" => {1 10 0.25 1 0 0 1 1}",
		"the whole is more": "proposed iteration=1" + said + "| " + decided + said +
			" => {1 10 0.25 1 0 0 0 0}",
		"a proposal does not say": "proposed iteration=1" + worked + "| " + decided + tuned + " => {1 0 0 1 0 0 1 1}",
		"a proposal of a run before": "proposed iteration=1" + worked + "| started run_id=b | " + decided + tuned +
			" => {1 0 0 1 0 0 0 0}",
		"a baseline of the iteration": "measured iteration=1" + partly + "| " + decided + worked +
			" => {1 40 0 1 40 0 1 1}",
		"a baseline of another":    "measured" + partly + "| " + decided + worked + " => {1 40 0 1 40 0 1 2}",
		"put off":                  "started run_id=r minute=0 | " + putOff + " => {0 0 0 2 0 0 0 0}",
		"put off, after measuring": putOff + partly + " => {0 40 0 1 40 0 0 0}",
		"since the start of its run": "started run_id=r minute=0 | decided run_id=r minute=5" + tuned +
			" => {1 0 0 5 0 0 0 0}",
		"a start of another run": "started run_id=q minute=0 | decided run_id=r minute=5" + tuned +
			" => {1 0 0 1 0 0 0 0}",
		"a clock that went back": "started run_id=r minute=9 | decided run_id=r minute=5" + tuned +
			" => {1 0 0 0 0 0 0 0}",
	}, func(t *testing.T, line string) any {
		s := replay(t, line)
		return s.Spent(time.Time{})
	})
	s := replay(t, "measured minute=1"+judged+"| decided iteration=1 minute=5"+tuned)
	assert.Equal(t, "{1 0 0 1 0 0 0 0}", fmt.Sprint(s.Spent(noon.Add(5*time.Minute))), "from a time on")
	assert.Equal(t, "{0 0 0 0 0 0 0 0}", fmt.Sprint(s.Spent(noon.Add(6*time.Minute))))
}

// TestLostRunUsedItsReservation, in a copy of what the ledger adds up to.
func TestLostRunUsedItsReservation(t *testing.T) {
	t.Parallel()
	const (
		start   = `started run_id=a iteration=4 reserved={"tokens":10,"cost_usd":1.5,"minutes":3}`
		pending = "decided run_id=p iteration=4 outcome=pending-ci commit=c"
	)
	golden.Table(t, map[string]string{
		"no run":               " => {0 0 0 0 0 0 0 0} 0",
		"with all of it":       start + " => {1 10 1.5 3 0 0 0 0} 1",
		"without a bound":      "started run_id=a => {1 0 0 0 0 0 0 0} 1",
		"after another":        start + `| started run_id=b reserved={"tokens":2} => {2 12 1.5 3 0 0 0 0} 2`,
		"while CI is asked":    pending + "|" + start + " => {1 10 1.5 3 0 0 0 0} 1",
		"one that decided":     start + "| decided run_id=a => {1 0 0 0 0 0 0 0} 0",
		"one that is finished": start + "| finished run_id=a unused=true => {0 0 0 0 0 0 0 0} 0",
	}, func(t *testing.T, line string) any {
		s, before := replay(t, line), replay(t, line)
		without := s.WithoutOpen()
		assert.Nil(t, without.Open)
		assert.Equal(t, before, s, "it stays as it is")
		return fmt.Sprintln(without.Spent(time.Time{}), len(without.Used))
	})
	var s history.Summary
	for _, e := range events(t, "started run_id=a | started run_id=b | started run_id=c | "+
		"started run_id=d iteration=1") {
		s.Add(e)
	}
	without := s.WithoutOpen()
	for _, e := range events(t, "decided run_id=d | started run_id=e iteration=9 | started run_id=f") {
		s.Add(e)
	}
	assert.Equal(t, []int{1, 9}, []int{without.Used[3].Iteration, s.Used[3].Iteration}, "a copy")
}

// TestOnlyAMeasurementOutsideATrialMakesTheIncumbent: a baseline, or the incumbent measured anew.
func TestOnlyAMeasurementOutsideATrialMakesTheIncumbent(t *testing.T) {
	t.Parallel()
	const (
		base = `measured role=baseline metric=10 samples=[9,11] commit=b base_branch=main evaluator=e definition=d ` +
			`direction=lower output=ten guardrail_samples={"g":[3]} noisy=true seconds=4 prepare_seconds=5 ` +
			`evaluator_writes={"f":true} executor={"agent":"x"} |`
		anew = ` commit=c output=seven evaluator=f definition=f direction=higher`
		same = " => 10 10 b b ten lower true x"
	)
	golden.Table(t, map[string]string{
		"a baseline":               "measured role=baseline metric=7" + anew + " => 7 7 c c seven higher false x",
		"the incumbent":            "measured role=incumbent metric=7" + anew + " => 7 10 c b seven lower true x",
		"the incumbent in a trial": "measured role=incumbent metric=7 stage=pairs" + anew + same,
		"a candidate":              "measured role=candidate metric=7" + anew + same,
		"a baseline that failed":   "measured role=baseline" + anew + same,
		"an incumbent that failed": "measured role=incumbent" + anew + same,
		"a candidate is kept": "measured role=candidate metric=8 output=eight | measured role=candidate " +
			"metric=7 output=seven | decided outcome=accepted best=7 commit=c => 7 10 c b seven lower true x",
		"a candidate is kept after CI": "measured role=candidate metric=7 output=seven | decided iteration=1 " +
			"outcome=pending-ci best=7 commit=c |decided iteration=1 outcome=accepted best=7 commit=c" +
			" => 7 10 c b seven lower true x",
		"CI is waited for": "measured role=candidate output=seven | decided outcome=pending-ci best=7 commit=c" +
			same,
		"a candidate is dropped": "measured role=candidate output=seven | decided outcome=rejected best=7 commit=c" +
			same,
		"an outcome of a later day": "measured role=candidate output=seven | decided outcome=later best=7 commit=c" +
			same,
		"a kept candidate is undone": `decided iteration=1 outcome=accepted best=7 commit=c | set key=undone value="1" ` +
			"commit=back => — 10 back b lower true x",
	}, func(t *testing.T, line string) any {
		s := replay(t, base+line)
		assert.Equal(t, s.Noisy, s.InitialRuns == 2 && s.Seconds == 4 && s.Prepare == 5 && s.BaseBranch == "main" &&
			s.Evaluator == "e" && s.Definition == "d" && s.EvaluatorWrites["f"] && len(s.Guardrails["g"]) == 1)
		assert.Equal(t, s.Incumbent == "back", s.Unmeasured())
		return fmt.Sprintln(history.ValueText(s.Best), history.ValueText(s.Initial), s.Incumbent, s.Base, s.Output,
			s.Direction, s.Noisy, s.Executor.Agent)
	})
	s := replay(t, base+"measured role=candidate samples=[7] numbers={\"m\":3} | "+
		"decided iteration=1 outcome=accepted best=7")
	assert.Equal(t, "3 [7]", s.Numbers["m"].String()+" "+fmt.Sprint(s.Samples))
	s = replay(t, `decided iteration=1 outcome=accepted | decided iteration=2 outcome=accepted |`+
		`set key=undone value="2"`)
	assert.Equal(t, []state.Status{history.Accepted, history.Undone},
		[]state.Status{s.Attempts[0].Outcome, s.Attempts[1].Outcome}, "as the next agent is told")
}

// TestGainsAreThoseOfOneDefinition, exact, in whichever direction.
func TestGainsAreThoseOfOneDefinition(t *testing.T) {
	t.Parallel()
	const (
		base = "measured role=baseline metric=10 definition=d direction=lower | "
		gain = "decided outcome=accepted previous_best=10 best=9 | "
	)
	golden.Table(t, map[string]string{
		"lower":  base + gain + " => [1]",
		"higher": base + "decided outcome=accepted previous_best=9 best=10 => [1]",
		"exact": base + "decided outcome=accepted previous_best=9007199254740993 best=1" +
			" => [9007199254740992]",
		"none, for its cost":       base + "decided outcome=accepted previous_best=9 best=9 => [0]",
		"dropped":                  base + "decided outcome=rejected previous_best=10 best=9 => []",
		"the first of all":         base + "decided outcome=accepted best=9 => []",
		"without a number":         base + "decided outcome=accepted previous_best=9 => []",
		"measured anew":            base + gain + base + " => [1]",
		"under another definition": base + gain + "measured role=baseline metric=10 definition=e => []",
	}, func(t *testing.T, line string) any {
		return replay(t, line).Gains
	})
}

// TestLeadIsOverDefaultBranch: after a worse commit of a person a gain counts once it makes up for that.
func TestLeadIsOverDefaultBranch(t *testing.T) {
	t.Parallel()
	const (
		base  = "measured role=baseline metric=10 direction=lower |"
		worse = "measured role=incumbent metric=20 | decided outcome=accepted previous_best=20 best=15 |"
	)
	golden.Table(t, map[string]string{
		"nothing of its own": base + " => false",
		"a gain":             base + "decided outcome=accepted previous_best=10 best=9 => true",
		"a gain where higher is better": "measured role=baseline metric=1 direction=higher | measured role=incumbent metric=2" +
			" => true",
		"a person's commit is better":    base + "measured role=incumbent metric=8 => true",
		"a gain over a worse commit":     base + worse + " => false",
		"gains up to the default branch": base + worse + "decided outcome=accepted previous_best=15 best=10 => false",
		"gains beyond the default branch": base + worse +
			"decided outcome=accepted previous_best=15 best=9.9 => true",
		"the default branch caught up": base + "decided outcome=accepted previous_best=10 best=9 |" + base +
			"measured role=incumbent metric=10 => false",
		"noise between two times": base + "decided outcome=accepted previous_best=10.4 best=10.1 => true",
		"rejected":                base + "decided outcome=rejected previous_best=10 best=9 => false",
		"better by its cost":      base + "decided outcome=accepted previous_best=10 best=10 => true",
	}, func(t *testing.T, line string) any {
		return replay(t, line).Lead.Better()
	})
}

// TestDisagreementsAreCountedInARow: iterations in which the incumbent, measured anew, was another than on record.
func TestDisagreementsAreCountedInARow(t *testing.T) {
	t.Parallel()
	const (
		base   = "measured role=baseline metric=5 samples=[5,5.1] | "
		apart  = `decided disagreement={"kind":"said"} | `
		agrees = "measured role=incumbent stage=pairs metric=5.05 samples=[5.05] | "
		silent = "decided | "
	)
	golden.Table(t, map[string]string{
		"never":                  base + silent + " => 0",
		"twice":                  base + apart + apart + " => 2",
		"it was not measured":    base + apart + silent + " => 1",
		"it agrees":              base + apart + agrees + silent + " => 0",
		"it agreed, then not":    base + apart + agrees + apart + " => 2",
		"it agreed before":       base + agrees + silent + apart + silent + " => 1",
		"a failure says nothing": base + apart + "measured role=incumbent stage=pairs | " + silent + " => 1",
		"a candidate says nothing": base + apart + "measured role=candidate stage=pairs metric=5 samples=[5] | " +
			silent + " => 1",
		"another is kept":                base + apart + "decided outcome=accepted best=4 => 0",
		"it is measured anew on its own": base + apart + "measured role=incumbent metric=9 samples=[9] => 0",
		"a new baseline":                 base + apart + base + " => 0",
		"nothing was on record": "measured role=baseline metric=5 | " + apart +
			"measured role=incumbent stage=pairs metric=7 samples=[7] | " + silent + " => 0",
		"too few runs to tell": "measured role=baseline metric=106.5 samples=[106.5,106.1,106.9,106.6,106.2] | " +
			apart + "measured role=incumbent stage=pairs metric=100.1 samples=[100.1,100.7,100.9] | " + silent +
			" => 1",
	}, func(t *testing.T, line string) any {
		return replay(t, line).Disagreements
	})
}

// TestLastPauseOrResumeCounts of what the ledger remembers beside its iterations.
func TestLastPauseOrResumeCounts(t *testing.T) {
	t.Parallel()
	const (
		base   = `measured role=baseline metric=5 executor={"agent":"one"} | `
		rest   = `paused reason={"kind":"said","words":"rest"} | `
		done   = `completed reason={"kind":"said","words":"done"} | `
		putOff = `finished run_id=a agent=codex not_before="2026-01-02T13:00:00Z" | `
	)
	golden.Table(t, map[string]string{
		"neither paused nor completed": "=>",
		"paused":                       rest + "answered | pushed => paused: rest",
		"paused twice":                 rest + `paused reason={"kind":"said","words":"errors"} => paused: errors`,
		"completed and paused":         done + rest + "=> paused: rest completed: done",
		"both are resumed":             done + rest + "resumed =>",
		"resumed before":               "resumed | " + rest + "=> paused: rest",
		"executor of the baseline":     base + "=> agent one",
		"executor of a decision":       base + `decided metric=4 executor={"agent":"two"} => agent two`,
		"executor of nothing measured": base + `decided executor={"agent":"two"} => agent one`,
		"a decision without one":       base + "decided metric=4 => agent one",
		"a baseline without one":       base + "measured role=baseline metric=5 => agent one",
		"executor of the incumbent": base + `measured role=incumbent metric=5 executor={"agent":"two"}` +
			` => agent one`,
		"CI kept":                         "decided outcome=accepted =>",
		"CI waits":                        "decided outcome=pending-ci =>",
		"CI is green":                     `decided outcome=accepted reasons=[{"kind":"ci-green"}] | decided => CI`,
		"CI is as the base":               `decided outcome=accepted reasons=[{"kind":"ci-as-base"}] => CI`,
		"CI is green, of what is dropped": `decided outcome=rejected reasons=[{"kind":"ci-green"}] =>`,
		"CI is green, as another says": "decided outcome=accepted " +
			`reasons=[{"kind":"claimed","because":[{"kind":"ci-green"}]}] =>`,
		"CI is red":                      "decided outcome=ci-fix-exhausted => CI",
		"CI is red, and it may be fixed": "checked => CI",
		"steady":                         base + "decided => agent one",
		"noisy in a trial":               base + "decided noisy=true | decided => agent one noisy",
		"noisy before a new baseline":    base + "decided noisy=true | " + base + "=> agent one",
		"a pull request is open":         `set key=pull value="1" | decided outcome=accepted commit=c => pull 1 at c`,
		"a pull request has ended":       `set key=pull value="1" | set key=pull-ended value="1" =>`,
		"the head waits for CI":          "decided outcome=pending-ci commit=w => at w",
		"put off":                        putOff + "=> until 13:00",
		"put off, and resumed":           putOff + "resumed =>",
		"put off, and decided":           putOff + "decided =>",
	}, func(t *testing.T, line string) any {
		s := replay(t, line)
		var facts []string
		add := func(is bool, fact string) {
			if is {
				facts = append(facts, fact)
			}
		}
		add(s.Paused != nil, "paused: "+decision.Text(s.Paused))
		add(s.Completed != nil, "completed: "+decision.Text(s.Completed))
		if s.Executor != nil {
			add(true, "agent "+s.Executor.Agent)
		}
		add(s.CISeen, "CI")
		add(s.Noisy, "noisy")
		add(s.OpenPull() > 0, fmt.Sprint("pull ", s.OpenPull()))
		add(s.Head() != "", "at "+s.Head())
		add(!s.NotBefore.IsZero(), "until "+s.NotBefore.Format("15:04"))
		return strings.Join(facts, " ")
	})
	s := replay(t, `set key=issue value="7" | set key=pull value="1" | set key=pull value="" | set key=later value=x |`+
		`set key=pull-ended value="none" | set key=undone value=x | set key=note value=n`)
	assert.Equal(t, history.Settings{Issue: 7, Note: "n"}, s.Settings)
	s = replay(t, "started run_id=a | "+putOff)
	assert.Equal(t, []any{"codex", 0, true}, []any{s.PutOff, len(s.Attempts), s.LastRun.IsZero()}, "not run")
}

// TestTriedChangesAreThoseOfOneEvaluator: the first time counts, and no error.
func TestTriedChangesAreThoseOfOneEvaluator(t *testing.T) {
	t.Parallel()
	const all = "measured role=baseline metric=5 evaluator=e | " +
		"proposed iteration=1 outcome=rejected digest=d1 evaluator=e | proposed outcome=error digest=d2 evaluator=e |" +
		"decided iteration=2 outcome=accepted digest=d3 evaluator=e |" +
		"decided outcome=rejected digest=d1 evaluator=e |" +
		"decided iteration=3 outcome=rejected evaluator=e |" +
		"decided iteration=4 outcome=rejected digest=d4 evaluator=f |" +
		"decided iteration=5 outcome=ci-fix-exhausted digest=d5 evaluator=e | "
	s := replay(t, all)
	assert.Len(t, s.Proposals, 2)
	assert.Equal(t, map[string]history.Tried{
		"d1": {1, history.Rejected}, "d3": {2, history.Accepted}, "d5": {5, history.CIFixExhausted},
	}, s.Tried)
	assert.Empty(t, replay(t, all+"measured role=baseline metric=5 evaluator=f").Tried)
}

// TestSetTargetHoldsUntilFileChanges.
func TestSetTargetHoldsUntilFileChanges(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{ // the file before, what was set, and the file now
		"the file is as it was":      "2 7 2 => 7",
		"the file names another":     "2 7 3 => 3",
		"the file names none now":    "2 7 => —",
		"the file named none":        "— 7 => 7",
		"the file named none before": "— 7 2 => 2",
		"nobody set one":             `2 "" 2 => 2`,
		"it is no number":            "2 seven 2 => 2",
	}, func(t *testing.T, row string) any {
		words := strings.Fields(row)
		s := replay(t, fmt.Sprintf(`set key=target-metric-was value=%q | set key=target-metric value=%q`,
			words[0], strings.Trim(words[1], `"`)))
		var file *metric.Value
		if len(words) > 2 {
			file = value(words[2])
		}
		return history.ValueText(s.Target(file))
	})
}

// TestFocusesAreThoseOfOneDefinition, from the first attempt that had one.
func TestFocusesAreThoseOfOneDefinition(t *testing.T) {
	t.Parallel()
	s := replay(t, "decided iteration=1 definition=d | decided iteration=2 definition=d focus=a | "+
		"decided iteration=3 definition=d | decided iteration=4 definition=e focus=b | "+
		"decided iteration=5 definition=d focus=a")
	assert.Equal(t, []string{"a", "", "a"}, s.Focuses("d"))
	assert.Equal(t, []string{"b"}, s.Focuses("e"))
	assert.Empty(t, s.Focuses("none"))
}
