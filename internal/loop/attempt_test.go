package loop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// parsed is a program with these lines of frontmatter, this target and this script.
func parsed(t *testing.T, front, target, script string) *program.Program {
	t.Helper()
	p := program.Parse(".autoloop/programs/p.md",
		fmt.Appendf(nil, "---\n%s\n---\n## Goal\nx\n## Target\n%s\n## Evaluation\n```sh\n%s\n```\n", front,
			target, script))
	require.Empty(t, p.Problems)
	return p
}

// TestTrialsOfTheTuner: an iteration is one trial, one with several proposals is as many,
// and what was measured by another definition is left out.
func TestTrialsOfTheTuner(t *testing.T) {
	t.Parallel()
	attempt := func(iteration int, definition string, outcome history.Outcome) history.Attempt {
		return history.Attempt{
			Iteration: iteration, Definition: definition, Outcome: outcome, Metric: metricOf(fmt.Sprint(iteration)),
			PreviousBest: metricOf("9"),
			Params:       map[string]metric.Value{"a": *metricOf(fmt.Sprint(iteration))},
		}
	}
	proposal := func(iteration, number int, definition string, outcome history.Outcome) *history.Proposed {
		return &history.Proposed{
			Head: history.Head{Iteration: iteration}, Proposal: number, Definition: definition, Outcome: outcome,
			Metric: metricOf(fmt.Sprintf("%d.%d", iteration, number)), PreviousBest: metricOf("9"),
			Work: history.Work{Params: map[string]metric.Value{"a": *metricOf(fmt.Sprintf("%d.%d",
				iteration, number))}},
		}
	}
	const accepted, rejected = history.Accepted, history.Rejected
	for name, c := range map[string]struct {
		attempts  []history.Attempt
		proposals []*history.Proposed
		want      string // metrics, with + for one that was accepted
	}{
		"nothing":    {nil, nil, ""},
		"one by one": {[]history.Attempt{attempt(1, "d", rejected), attempt(2, "d", accepted)}, nil, "1 2+"},
		"another definition": {[]history.Attempt{
			attempt(1, "c", rejected), attempt(2, "d", rejected),
			attempt(3, "c", accepted),
		}, nil, "2"},
		"several proposals": {
			[]history.Attempt{attempt(1, "d", rejected), attempt(2, "d", accepted)},
			[]*history.Proposed{proposal(2, 1, "d", rejected), proposal(2, 2, "d", accepted)},
			"1 2.1 2.2+",
		},
		"several, then one": {
			[]history.Attempt{attempt(1, "d", rejected), attempt(2, "d", rejected)},
			[]*history.Proposed{proposal(1, 1, "d", rejected), proposal(1, 2, "d", rejected)},
			"1.1 1.2 2",
		},
		"several by another": {
			[]history.Attempt{attempt(1, "c", rejected), attempt(2, "d", rejected)},
			[]*history.Proposed{proposal(1, 1, "c", rejected), proposal(1, 2, "c", rejected)},
			"2",
		},
		"proposals long before": {
			[]history.Attempt{attempt(7, "d", rejected)},
			[]*history.Proposed{proposal(3, 1, "d", rejected), proposal(7, 1, "d", rejected)},
			"7.1",
		},
		"proposals of no iteration": {
			[]history.Attempt{attempt(2, "d", rejected)},
			[]*history.Proposed{proposal(1, 1, "d", rejected), proposal(3, 1, "d", rejected)},
			"2",
		},
		"neither was measured": {[]history.Attempt{{Iteration: 1, Definition: "d", Outcome: history.Error}}, nil, "—"},
		"kept, and CI said no": {[]history.Attempt{
			attempt(1, "d", history.CIFixExhausted),
			attempt(2, "d", history.PendingCI),
		}, nil, "1 2"},
	} {
		var got []string
		for _, trial := range (&team{}).trials(position{identity: identity{Definition: "d"}},
			&history.Summary{Attempts: c.attempts, Proposals: c.proposals}) {
			text := metric.Text(trial.Metric, "—")
			if trial.Metric != nil {
				assert.Equal(t, []any{"9", text}, []any{trial.Previous.String(), trial.Params["a"].String()}, name)
			}
			if trial.Accepted {
				text += "+"
			}
			got = append(got, text)
		}
		assert.Equal(t, c.want, strings.Join(got, " "), name)
	}
}

// TestSummaryOfAnAttempt is what the agent says, in a line without links, else what it
// changed.
func TestSummaryOfAnAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said    string
		changed []string
		want    string
	}{
		{"made it faster", []string{"a"}, "made it faster"},
		{"  made\nit\tfaster ", nil, "made it faster"},
		{"", []string{"a"}, "change a"},
		{" \n", []string{"a", "b", "c"}, "change a, b, c"},
		{"", []string{"a", "b", "c", "d"}, "change a, b, c"},
		{"✅ ", []string{"a"}, "change a"},
	} {
		assert.Equal(t, c.want, summary(c.said, c.changed))
	}
	long := summary(strings.Repeat("long ", 100), nil)
	assert.LessOrEqual(t, len([]rune(long)), 170)
	for _, said := range []string{"fixes #12", "@somebody look", "[x](https://example.com)", "<!-- x -->"} {
		assert.NotContains(t, summary(said, nil), said, "nobody is told by it")
	}
	assert.NotContains(t, summary("", []string{"a\nb"}), "\n")
}

// TestWhatNoCandidateMayChange names the files that the target opens all the same.
func TestWhatNoCandidateMayChange(t *testing.T) {
	t.Parallel()
	entries := func(paths ...string) (list []git.TreeEntry) {
		for _, path := range paths {
			list = append(list, git.TreeEntry{Mode: git.ModeFile, Path: path})
		}
		return list
	}
	for name, c := range map[string]struct {
		front, target, script string
		files                 []git.TreeEntry
		want                  []string
	}{
		"the target opens no more than it should": {
			"", "- `src/*`", "sh run.sh", entries("run.sh", "src/a"),
			[]string{},
		},
		"everything": {
			"", "- `**`", "sh run.sh",
			entries("run.sh", "src/a", ".autoloop/programs/p.md"),
			[]string{"run.sh", ".autoloop/programs/p.md"},
		},
		"what it protects itself": {
			"", "- `src/**`\n\nDo NOT modify `src/x` and `src/y/*`.", "true",
			entries("src/a"),
			[]string{"src/x", "src/y/*"},
		},
		"a script that is not there": {
			"", "- `**`", "sh run.sh", entries("src/a"),
			[]string{".autoloop/programs/p.md"},
		},
		"a script that is a link": {
			"", "- `**`", "sh run.sh",
			[]git.TreeEntry{{Mode: git.ModeSymlink, Path: "run.sh"}},
			[]string{".autoloop/programs/p.md"},
		},
		"a script that the frontmatter opens": {
			"target: [run.sh, src/a]", "x", "sh run.sh", entries("run.sh", "src/a"),
			[]string{},
		},
	} {
		r := &team{thread: threadOf(&journal{session: sessionOf(parsed(t, c.front, c.target, c.script))})}
		assert.Equal(t, c.want, r.never(position{entries: c.files}), name)
	}
}

// TestUsageOfAll: what is unknown of one is unknown of all, and the order does not matter.
func TestUsageOfAll(t *testing.T) {
	t.Parallel()
	five, seven := int64(5), int64(7)
	known := func(tokens *int64) *attempt {
		return &attempt{agent: agentNamed("a"), reply: agent.Reply{Usage: metric.Usage{InputTokens: tokens}}}
	}
	tuned := func() *attempt { return &attempt{agent: agent.Tuner{}} }
	for name, c := range map[string]struct {
		all  []*attempt
		want *int64
	}{
		"one":                  {[]*attempt{known(&five)}, &five},
		"the tuner alone":      {[]*attempt{tuned()}, nil},
		"two":                  {[]*attempt{known(&five), known(&seven)}, new(int64(12))},
		"one beside a tuner":   {[]*attempt{tuned(), known(&seven), tuned()}, &seven},
		"one does not say":     {[]*attempt{known(&five), known(nil)}, nil},
		"the first does not":   {[]*attempt{known(nil), known(&five), known(&seven)}, nil},
		"one that never began": {[]*attempt{{}}, nil},
	} {
		first := c.all[0]
		first.others = c.all[1:]
		assert.Equal(t, c.want, first.totalUsage().InputTokens, name)
	}
	assert.Equal(t, int64(5), five, "what each used stays")
}

// TestTheEventOfAProposal has what was measured when something was, its patch where it may
// have offspring, and who made it.
func TestTheEventOfAProposal(t *testing.T) {
	t.Parallel()
	r := &team{
		thread: threadOf(&journal{session: &session{Service: &Service{
			Program: &program.Program{Direction: metric.Lower}, Agents: []Proposer{{agentNamed("lead"), "m0"}},
		}, course: course{iteration: 4}}}),
	}
	at := position{Head: "head", identity: identity{Evaluator: "e", Definition: "d"}}
	var many []string
	for n := range maxChanged + 5 {
		many = append(many, fmt.Sprint("f", n))
	}
	a := &attempt{
		number: 2, agent: agentNamed("codex"), model: "asked", outcome: history.Rejected,
		reasons: decision.Says("worse"),
		digest:  "x", patch: []byte("+1\n"), focus: "TestA", noisy: true, changed: many,
		reply:     agent.Reply{Summary: "did it", Model: "answered"},
		lineage:   lineage{parent: &history.Proposed{Head: history.Head{Iteration: 3}, Proposal: 1}},
		durations: map[string]float64{"propose": 2},
	}
	e := r.proposedEvent(at, a)
	assert.Equal(t, []any{4, 2, "head", "e", "d", "x", metric.Lower, history.Rejected, "TestA", true},
		[]any{
			e.Iteration, e.Proposal, e.Parent, e.Evaluator, e.Definition, e.Digest, e.Direction, e.Outcome, e.Focus,
			e.Noisy,
		})
	assert.Equal(t, []any{"codex", "answered", "did it", maxChanged},
		[]any{e.Agent, e.Model, e.Summary, len(e.Changed)})
	assert.Equal(t, &history.Ancestor{Iteration: 3, Proposal: 1}, e.GrownFrom)
	assert.Empty(t, e.Patch+string(e.Verdict)+e.Delta, "nothing was measured")
	assert.Nil(t, e.Metric)

	verdict := decision.Regressed
	a.verdict, a.decision = &verdict,
		decision.Decision{Verdict: verdict, Metric: metricOf("5"), Previous: metricOf("4"), Delta: "+1"}
	a.lineage, a.reply.Model = lineage{}, ""
	e = r.proposedEvent(at, a)
	assert.Equal(t, []any{"+1\n", decision.Regressed, "5", "4", "+1", "asked"},
		[]any{e.Patch, e.Verdict, e.Metric.String(), e.PreviousBest.String(), e.Delta, e.Model})
	assert.Nil(t, e.GrownFrom)
	a.decision.Metric = nil
	assert.Empty(t, r.proposedEvent(at, a).Patch, "one without a number has no offspring")

	assert.Equal(t, []string{"lead", "m0"}, []string{r.nameOf(&attempt{}), r.modelOf(&attempt{})},
		"one that never began has the run's agent")
}

// TestSeedsOfPrograms: each program has its own, which is never below zero.
func TestSeedsOfPrograms(t *testing.T) {
	t.Parallel()
	seeds := map[int64]bool{}
	for n := range 200 {
		s := &session{Service: &Service{Program: &program.Program{Name: fmt.Sprint("p", n)}}}
		assert.Equal(t, s.seed(),
			(&session{
				Service: &Service{Program: &program.Program{Name: fmt.Sprint("p", n), Goal: "x"}},
				course:  course{iteration: n},
			}).seed(),
			"it is the name's")
		assert.GreaterOrEqual(t, s.seed(), int64(0))
		seeds[s.seed()] = true
	}
	assert.Len(t, seeds, 200)
}

// TestThrowAwayDirectories: nobody finds one beside another, all names are as long, and
// one that is removed takes nothing else along.
func TestThrowAwayDirectories(t *testing.T) {
	t.Parallel()
	d := &session{Service: &Service{RunDir: runDir(t)}}
	seen := map[string]bool{}
	length := 0
	for _, kind := range []string{"t", "h", "t", "h"} {
		dir := d.newDir(kind)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		assert.Equal(t, kind, filepath.Base(dir))
		assert.NotContains(t, seen, filepath.Dir(dir), "each has a directory of its own around it")
		seen[filepath.Dir(dir)] = true
		if length == 0 {
			length = len(dir)
		}
		assert.Len(t, dir, length)
		assert.Equal(t, strings.ToLower(filepath.Base(filepath.Dir(dir))), filepath.Base(filepath.Dir(dir)),
			"also where letters have no case")
	}
	info, err := os.Stat(filepath.Join(d.RunDir, "w"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o300), info.Mode().Perm(), "nobody lists it")
	for around := range seen {
		d.remove(filepath.Join(around, "t"))
		assert.NoDirExists(t, around)
		delete(seen, around)
		for other := range seen {
			assert.DirExists(t, other)
		}
	}
	assert.DirExists(t, filepath.Join(d.RunDir, "w"))
}
