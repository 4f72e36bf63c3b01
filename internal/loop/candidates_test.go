package loop

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/loop/strategy"
)

// TestSeveralProposals: what becomes of each proposal of an iteration, and of the
// iteration with them.
func TestSeveralProposals(t *testing.T) {
	t.Parallel()
	write := func(values ...string) func(b *fixture, request agent.Request) agent.Reply {
		return func(b *fixture, request agent.Request) agent.Reply {
			b.write(request.Dir, map[string]string{"value.txt": values[request.Proposal-1] + "\n"})
			return agent.Reply{Summary: "try"}
		}
	}
	for name, c := range map[string]struct {
		agent   func(b *fixture, request agent.Request) agent.Reply
		outcome history.Outcome
		kept    string
		each    []string // the first reason of each proposal, by number
	}{
		"the same change twice": {write("0", "0", "2"), history.Accepted, "2", []string{
			"0 is worse than the best 1", "the same change as proposal 1's; it was not measured again",
			"2 is better than 1",
		}},
		"no change": {
			func(b *fixture, request agent.Request) agent.Reply {
				if request.Proposal == 2 {
					return agent.Reply{}
				}
				return write("2", "", "3")(b, request)
			}, history.Accepted, "3",
			[]string{
				"better than before, but proposal 3 is better still (3)", "no change proposed",
				"3 is better than 1",
			},
		},
		"one may not work": {
			func(b *fixture, request agent.Request) agent.Reply {
				switch request.Proposal {
				case 1:
					return agent.Reply{Idle: &agent.Failure{Kind: agent.Denied, Message: "no rights"}}
				case 2:
					return agent.Reply{Failure: &agent.Failure{Kind: agent.Crashed, Message: "oh"}}
				}
				return write("", "", "0")(b, request)
			}, history.Rejected, "",
			[]string{
				"agent scripted failed (" + string(agent.Denied) + "): no rights",
				"agent scripted failed (" + string(agent.Crashed) + "): oh", "0 is worse than the best 1",
			},
		},
		"one leaves no tree": {
			func(b *fixture, request agent.Request) agent.Reply {
				if request.Proposal == 1 {
					require.NoError(b.t, os.RemoveAll(request.Dir))
					return agent.Reply{}
				}
				return write("", "2", "0")(b, request)
			}, history.Accepted, "2",
			[]string{"the agent left nothing to look at: ", "2 is better than 1", "0 is worse than the best 1"},
		},
		"the repository itself": {func(b *fixture, request agent.Request) agent.Reply {
			if request.Proposal == 3 {
				b.git("config", "core.pager", "true")
			}
			return write("7", "8", "9")(b, request)
		}, history.Error, "", slices.Repeat([]string{"the repository itself was changed while the agent ran: "}, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, "evaluation-runs: 1\ncandidates: 3", "1")
			b.agent = func(request agent.Request) agent.Reply { return c.agent(b, request) }
			result := b.one()
			assert.Equal(t, c.outcome, result.Outcome, "%v", result.Reasons)
			if c.kept != "" {
				assert.Equal(t, c.kept, b.kept())
			}
			said := map[int]string{}
			for _, e := range history.Of[*history.Proposed](b.records().log.Events) {
				require.NotContains(t, said, e.Proposal, "each once")
				said[e.Proposal] = e.Reasons[0].String()
			}
			require.Len(t, said, 3)
			for i, want := range c.each {
				assert.Contains(t, said[i+1], want)
			}
			closed := filepath.Join(b.service.RunDir, "w")
			require.NoError(t, os.Chmod(closed, 0o700)) //nolint:gosec // a directory of the test
			assert.Empty(t, namesIn(t, closed), "no tree and no home is left")
		})
	}
}

// TestMeasuringStopsInTime: no trial begins that the iteration has no time for, or after
// one that ended in an error, and who was not measured is told why.
func TestMeasuringStopsInTime(t *testing.T) {
	t.Parallel()
	l := newTrialRepo(t)
	candidate := l.git("rev-parse", "candidate^{tree}")
	const late, failed = "not measured: the iteration's time (timeout-minutes) is too short for one more trial",
		"not measured: the trial before it ended in an error"
	for name, c := range map[string]struct {
		left    time.Duration // of the iteration, when measuring begins; 0 is no limit
		problem bool          // the incumbent's evaluation fails too
		ended   string        // what the attempts were before, by their first letters; . is to be measured
		want    []string
		runs    string
	}{
		"no limit":         {0, false, "...", []string{"3 is better", "3 is better", "3 is better"}, "ccc"},
		"too little":       {time.Second, false, "...", []string{"3 is better", late, late}, "c"},
		"some are over":    {time.Second, false, "r.e.", []string{"because", "3 is better", "because", late}, "c"},
		"an error ends it": {0, true, "...", []string{"the evaluation fails: it breaks", failed, failed}, "ci"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, r, at := l.on(t, "evaluation-runs: 1", func(call call) evaluation.Result {
				if c.problem {
					return evaluation.Result{Problem: "it breaks"}
				}
				return steady(call)
			})
			own.clock = time.Now().AddDate(50, 0, 0)
			ctx := t.Context()
			if c.left > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithDeadline(ctx, own.clock.Add(c.left))
				defer cancel()
			}
			var all []*attempt
			for i, letter := range c.ended {
				a := newAttempt(Proposer{Agent: agentNamed("a")}, i+1, len(c.ended))
				a.tree = candidate
				switch letter {
				case 'r':
					a.end(history.Rejected, decision.Say("because"))
				case 'e':
					a.end(history.Error, decision.Say("because"))
				}
				all = append(all, a)
			}
			var err error
			r.team.leftAs, err = r.team.Repo.Fingerprint(t.Context(), r.Program.File)
			require.NoError(t, err)
			require.NoError(t, r.team.measureAll(ctx, at, all))
			for i, want := range c.want {
				assert.Contains(t, all[i].Reasons[0].String(), want, "proposal %d", i+1)
				if want == late || want == failed {
					assert.Equal(t, history.Error, all[i].Outcome)
				}
			}
			assert.Equal(t, c.runs, own.sides())
		})
	}
}

// TestMemberIsIncumbent: a proposal that undoes its parent's change is nothing to
// measure.
func TestMemberIsIncumbent(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nstrategy: openevolve", "1", "0", "1", "0")
	require.Equal(t, history.Rejected, b.one().Outcome)
	b.service.Strategies = strategy.Table{{Name: "openevolve", Evolves: true, Strategy: planned{1: {Parent: 0}}}}
	began := ""
	propose := b.agent
	b.agent = func(request agent.Request) agent.Reply {
		text, err := os.ReadFile(filepath.Join(request.Dir, "value.txt"))
		require.NoError(t, err)
		began = strings.TrimSpace(string(text))
		return propose(request)
	}
	result := b.one()
	assert.Equal(t, "0", began, "it begins with its parent's files")
	assert.Equal(t, []string{"it is the incumbent again, so there is nothing to measure"},
		decision.Texts(result.Reasons))
	result = b.one()
	assert.Equal(t, history.Rejected, result.Outcome)
	assert.Equal(t, []string{"no change proposed"}, decision.Texts(result.Reasons),
		"its parent once more is no change of it")
}

// TestUnreachableAgent: when it could not be asked at all, the iteration is our
// failure.
func TestUnreachableAgent(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\ncandidates: 2", "1", "2")
	b.service.Agents = []Proposer{{Agent: b}, {Agent: unasked{}}}
	_, err := b.service.Run(t.Context(), 1)
	require.ErrorIs(t, err, errUnasked)
	assert.NotContains(t, b.refs(), "refs/heads/autoloop/")
}

// unasked is an agent that cannot be asked.
type unasked struct{}

var errUnasked = errors.New("nobody was asked")

func (unasked) Name() string { return "unasked" }

func (unasked) Propose(context.Context, agent.Request) (agent.Reply, error) {
	return agent.Reply{}, errUnasked
}
