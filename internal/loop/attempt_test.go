package loop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
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
		"another definition": {[]history.Attempt{
			attempt(1, "c", rejected), attempt(2, "d", rejected),
			attempt(3, "c", accepted),
		}, nil, "2"},
		"several proposals": {
			[]history.Attempt{attempt(1, "d", rejected), attempt(2, "d", accepted)},
			[]*history.Proposed{proposal(2, 1, "d", rejected), proposal(2, 2, "d", accepted)},
			"1 2.1 2.2+",
		},
		"several by another": {
			[]history.Attempt{attempt(1, "c", rejected), attempt(2, "d", rejected)},
			[]*history.Proposed{proposal(1, 1, "c", rejected), proposal(1, 2, "c", rejected)},
			"2",
		},
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
		{"", []string{"a"}, "change a"},
		{" \n", []string{"a", "b", "c"}, "change a, b, c"},
		{"", []string{"a", "b", "c", "d"}, "change a, b, c"},
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
		"two":                  {[]*attempt{known(&five), known(&seven)}, new(int64(12))},
		"one beside a tuner":   {[]*attempt{tuned(), known(&seven), tuned()}, &seven},
		"one does not say":     {[]*attempt{known(&five), known(nil)}, nil},
		"one that never began": {[]*attempt{{}}, nil},
	} {
		first := c.all[0]
		first.others = c.all[1:]
		assert.Equal(t, c.want, first.totalUsage().InputTokens, name)
	}
	assert.Equal(t, int64(5), five, "what each used stays")
}
