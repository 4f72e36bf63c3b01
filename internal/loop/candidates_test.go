package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/tests/golden"
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
		agent func(b *fixture, request agent.Request) agent.Reply
		kept  string
	}{
		"the same change twice": {write("0", "0", "2"), "2"},
		"no change": {
			func(b *fixture, request agent.Request) agent.Reply {
				if request.Proposal == 2 {
					return agent.Reply{}
				}
				return write("2", "", "3")(b, request)
			}, "3",
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
			}, "",
		},
		"one leaves no tree": {
			func(b *fixture, request agent.Request) agent.Reply {
				if request.Proposal == 1 {
					require.NoError(b.t, os.RemoveAll(request.Dir))
					return agent.Reply{}
				}
				return write("", "2", "0")(b, request)
			}, "2",
		},
		"the repository itself": {func(b *fixture, request agent.Request) agent.Reply {
			if request.Proposal == 3 {
				b.git("config", "core.pager", "true")
			}
			return write("7", "8", "9")(b, request)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, "evaluation-runs: 1\ncandidates: 3", "1")
			b.agent = func(request agent.Request) agent.Reply { return c.agent(b, request) }
			result := b.one()
			if c.kept != "" {
				assert.Equal(t, c.kept, b.kept())
			}
			said := map[int]string{}
			for _, e := range history.Of[*history.Proposed](b.records().log.Events) {
				require.NotContains(t, said, e.Proposal, "each once")
				said[e.Proposal] = e.Reasons[0].String()
			}
			golden.Line(t, strings.ReplaceAll(fmt.Sprint(result.Outcome, said), b.dir, "DIR"))
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
	for name, c := range map[string]struct {
		left    time.Duration // of the iteration, when measuring begins; 0 is no limit
		problem bool          // the incumbent's evaluation fails too
		ended   string        // what the attempts were before, by their first letters; . is to be measured
	}{
		"no limit":         {0, false, "..."},
		"too little":       {time.Second, false, "..."},
		"some are over":    {time.Second, false, "r.e."},
		"an error ends it": {0, true, "..."},
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
				a := r.newAttempt(i+1, len(c.ended))
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
			r.leftAs, err = r.Repo.Fingerprint(t.Context(), r.Program.File)
			require.NoError(t, err)
			require.NoError(t, r.measureAll(ctx, at, all))
			told := []any{own.sides()}
			for _, a := range all {
				told = append(told, a.Outcome, a.Reasons)
			}
			golden.Line(t, told)
		})
	}
}

// TestMemberIsIncumbent: a proposal that undoes its parent's change is nothing to
// measure.
func TestMemberIsIncumbent(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nstrategy: openevolve", "1", "0", "1", "0")
	require.Equal(t, history.Rejected, b.one().Outcome)
	b.service.Strategy = planned(map[int][]int{1: {0}})
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
	require.Len(t, result.Reasons, 1)
	assert.Contains(t, result.Reasons[0].String(), "it is the incumbent again")
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

// TestRefsMovedByAgent: of the differences of a repository all count but what was fetched, and
// a memory branch that went on without this program.
func TestRefsMovedByAgent(t *testing.T) {
	t.Parallel()
	g := newCommitRepo(t)
	d := newMemoryRun(t, "", wasMeasured("1"))
	own := iterationText(t, d.stored.files.Ledger)
	ids := g.commit(t,
		commitSpec{name: "m0", files: map[string]string{iterationPath("p"): own, "p.md": "# p\n"}},
		commitSpec{name: "root", files: map[string]string{"value.txt": "1\n"}},
		commitSpec{name: "kept", parents: "root"},
		commitSpec{name: "m1", parents: "m0", files: map[string]string{iterationPath("other"): own}},
		commitSpec{name: "forged", parents: "m0", files: map[string]string{iterationPath("p"): own + "\n"}},
		commitSpec{name: "rewritten", files: map[string]string{iterationPath("p"): own, "p.md": "# p\n"}},
	)
	const memoryRef = "ref refs/heads/memory/autoloop"
	for name, c := range map[string]struct {
		key, was, now string // what differs, by the names of commits
	}{
		"the default branch": {
			key: "ref refs/heads/main", was: "root", now: "kept",
		},
		"another program's branch": {
			key: "ref refs/heads/autoloop/other", was: "root", now: "kept",
		},
		"what was obtained":    {key: "ref " + git.ObtainedRefs + "x", was: "root", now: "kept"},
		"records that are new": {key: memoryRef, now: "m0"},
		"other records":        {key: memoryRef, was: "m0", now: "m1"},
		"its own ledger": {
			key: memoryRef, was: "m0", now: "forged",
		},
		"records that do not go on from there": {
			key: memoryRef, was: "m0", now: "rewritten",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := git.Fingerprint{"file x": "same"}, git.Fingerprint{"file x": "same"}
			for side, value := range map[*git.Fingerprint]string{&before: c.was, &after: c.now} {
				if delete(*side, c.key); value != "" {
					(*side)[c.key] = value
					if id := ids[value]; id != "" {
						(*side)[c.key] = id
					}
				}
			}
			wasBefore, wasAfter := maps.Clone(before), maps.Clone(after)
			d := newMemoryRunIn(t, g.Repo, "p", "")
			lines, err := d.changesOf(t.Context(), before, after)
			require.NoError(t, err)
			told := fmt.Sprint(lines)
			for name, id := range ids {
				told = strings.ReplaceAll(told, id[:12], name)
			}
			golden.Line(t, told)
			assert.Equal(t, []git.Fingerprint{wasBefore, wasAfter}, []git.Fingerprint{before, after},
				"the fingerprints stay as they are")
		})
	}
}

// TestForeignChangesAreFound: configuration, hooks, the program's file and its branch end
// the iteration; other branches, and where nothing else reaches it the program's file,
// may be a person at work.
func TestForeignChangesAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line     string
		isolated bool
		ends     bool
	}{
		"a hook":                      {"hook pre-commit was changed", true, true},
		"its own branch":              {"ref refs/heads/autoloop/p moved from 1 to 2", true, true},
		"a branch with a longer name": {"ref refs/heads/autoloop/p2 was added", false, false},
		"the program":                 {"file .autoloop/programs/p.md was changed", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journalOf(t, "")
			j.Isolated = c.isolated
			r := &run{thread: threadOf(j)}
			touched := r.tampered([]string{c.line, "hook x was added", c.line}, "then").Words
			if c.ends {
				assert.Equal(t, c.line+"; hook x was added; "+c.line, touched)
				assert.Empty(t, r.warnings)
			} else {
				assert.Equal(t, "hook x was added", touched)
				assert.Equal(t, []string{"changed then: " + c.line}, r.warnings, "it is said once")
			}
		})
	}
	j := journalOf(t, "")
	assert.Nil(t, (&run{thread: threadOf(j)}).tampered(nil, "then"))
}

// TestEvaluationChangesRepository: what measures writes to no repository, neither
// for the unchanged files nor for a candidate.
func TestEvaluationChangesRepository(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"1", "3"} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, "evaluation-runs: 1", "1", "3")
			b.evaluating = func(dir string) {
				text, err := os.ReadFile(filepath.Join(dir, "value.txt"))
				require.NoError(t, err)
				if strings.TrimSpace(string(text)) == of {
					b.write(b.dir, map[string]string{".git/hooks/pre-commit": "x\n"})
				}
			}
			asked := 0
			propose := b.agent
			b.agent = func(request agent.Request) agent.Reply { asked++; return propose(request) }
			got := b.one()
			require.Equal(t, history.Error, got.Outcome)
			golden.Line(t, strings.ReplaceAll(fmt.Sprint(got.Reasons), b.dir, "DIR"))
			assert.Equal(t, of == "1", asked == 0, "nobody works beside unchanged files that change the repository")
			assert.Equal(t, of == "1", b.records().Best == nil)
			assert.Nil(t, got.Verdict)
		})
	}
}
