package loop

import (
	"context"
	"fmt"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
)

// Inspection is how the evaluation behaves on the incumbent.
type Inspection struct {
	Program string `json:"program"`
	Commit  string `json:"commit"`
	// Noisy says that runs of the same files gave different numbers.
	Noisy   bool           `json:"noisy"`
	Samples []metric.Value `json:"samples"`
	Median  metric.Value   `json:"median"`
	// Guardrails are the samples of the other numbers that decide.
	Guardrails map[string][]metric.Value `json:"guardrails,omitempty"`
	// Rule is how candidates will be decided.
	Rule decision.Rule `json:"rule"`
	// Seconds is how long one run took, Prepare how long its tree took to build
	// and set up.
	Seconds float64 `json:"seconds"`
	Prepare float64 `json:"prepare_seconds"`
	// Broken is what the evaluation says of a target file that was broken.
	Broken []Breakage `json:"broken,omitempty"`
	// Problem says why the evaluation cannot be used; "" when it can.
	Problem string `json:"problem,omitempty"`
}

// EnoughRuns is how many runs say how far an evaluation scatters; a program that
// asks for a thousand pairs need not wait for as many to be told what they cost.
const EnoughRuns = 30

// Inspect runs the evaluation on the incumbent, twice in two trees: enough to say that
// it works, and whether it gave the same number. When the numbers differ it measures on,
// until there are as many as a comparison has, at most `most`. Then it breaks a target
// file in throw-away trees in these ways and looks whether the evaluation notices. It
// takes no lease and writes nothing.
func (s *Service) Inspect(ctx context.Context, most int, ways ...string) (Inspection, error) {
	r := s.begin()
	found := Inspection{Program: s.Program.Name}
	files, _, err := s.Memory.Read(ctx, s.Program.Name)
	if err != nil {
		return found, err
	}
	if r.records, err = openRecords(r.session, files); err != nil {
		return found, err
	}
	if found.Commit, err = r.branches.incumbent(ctx); err != nil {
		return found, err
	}
	runs := r.measurer.newSeries(found.Commit, false)
	defer runs.Close()
	r.step("inspect", "twice, in two trees")
	problem, err := r.measurer.probe(ctx, runs, len(runs.environments))
	if err != nil || problem != nil {
		found.Problem = decision.Text(problem)
		return found, err
	}
	found.Noisy, found.Rule = !runs.samples.same(), r.rule()
	if found.Noisy && s.Program.Runs == 0 {
		found.Rule.Regime = decision.Noisy
	}
	taken, count := runs.samples, min(found.Rule.Pairs, most)
	for found.Rule.Regime == decision.Noisy && taken.runs < count && problem == nil && err == nil {
		r.minor("inspect", fmt.Sprintf("noisy, run %d of %d", taken.runs+1, count))
		problem, err = r.measurer.sample(ctx, runs, taken.runs%len(runs.environments))
		found.Problem, found.Noisy = decision.Text(problem), !taken.same()
	}
	found.Guardrails = taken.rails
	found.Samples, found.Seconds, found.Prepare = taken.metric, taken.seconds/float64(taken.runs), taken.prepare
	found.Median = *taken.median()
	if err != nil || len(ways) == 0 || found.Problem != "" {
		return found, err
	}
	entries, err := r.Repo.LsTree(ctx, found.Commit)
	if err != nil {
		return found, err
	}
	err = r.measurer.breakTarget(ctx, entries, runs.environments[0].tree.Dir, ways, &found)
	return found, err
}

// incumbent is the head of the program branch, else of the default branch.
func (r *branches) incumbent(ctx context.Context) (string, error) {
	head, err := r.Memory.HeadOf(ctx, r.ref())
	if err != nil || head != "" {
		return head, err
	}
	branch, err := r.defaultBranch(ctx)
	if err != nil {
		return "", err
	}
	return r.baseCommit(ctx, branch)
}
