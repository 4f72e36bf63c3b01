package render_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/tests/golden"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const text = "---\nmetric: seconds\nmetric_direction: lower\ntarget-metric: 1\nguardrails:\n" +
	"  - {metric: size, max-regression: 5%}\n---\n" +
	"## Goal\nFast.\n## Target\n`a.go`\n## Evaluation\n```sh\ngo run ./bench # prints ``` too\n```\n"

// hostile is what an agent might say.
const hostile = "faster | @octocat <img src=x onerror=alert(1)> ![x](http://evil) <!-- AUTOLOOP:STATUS -->\nsecond line"

func value(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

// account is a program with a baseline, a gain, a rejection and an error.
func account(t *testing.T) render.Account {
	t.Helper()
	cost, in, out := value("0.12"), int64(1200), int64(300)
	events := []history.Event{
		&history.Started{Head: history.Head{Run: "r1", Iteration: 1, Time: noon}},
		&history.Measured{Role: history.Baseline, Metric: value("8"), Commit: "b45e"},
		&history.Decided{
			Head: history.Head{Run: "5-1-ab", Iteration: 1}, Outcome: history.Accepted, Metric: value("6"),
			PreviousBest: value("8"), Best: value("6"), Delta: "-2",
			Reasons: []decision.Reason{
				{Kind: decision.Better, Value: value("6"), Beside: value("8")},
				decision.Say(hostile),
			}, Commit: strings.Repeat("c", 40),
			Evaluation: &history.Expense{Tokens: &in, CostUSD: cost, UnknownUSD: 2},
			Work: history.Work{
				Summary: hostile, Agent: "claude", Model: "m-1",
				Usage:     &metric.Usage{CostUSD: cost, InputTokens: &in, OutputTokens: &out},
				Durations: map[string]float64{"propose": 12, "measure": 3.25},
			},
		},
		&history.Finished{Head: history.Head{Run: "r1"}},
		&history.Decided{
			Head: history.Head{Run: "6-1-cd", Iteration: 2}, Outcome: history.Rejected, Metric: value("7"),
			PreviousBest: value("6"), Best: value("6"), Delta: "+1",
			Reasons: []decision.Reason{{Kind: decision.Worse, Value: value("7"), Beside: value("6"), Term: "lower"}},
			Work:    history.Work{Summary: "slower", Agent: "tuner"},
		},
		&history.Decided{
			Head: history.Head{Run: "20260304T120000Z-1", Iteration: 3}, Outcome: history.Error,
			Best: value("6"), Reasons: decision.Says("the evaluation fails"), Work: history.Work{Agent: "tuner"},
		},
	}
	doc := state.New("speed")
	m := doc.Machine()
	m.LastRun, m.IterationCount, m.BestMetric, m.InitialMetric, m.Issue = &noon, 3, value("6"), value("8"), 4
	m.RecentStatuses = []string{"accepted", "rejected", "error"}
	doc.SetMachine(m)
	var list []state.HistoryEntry
	for i := range 14 {
		list = append(list, state.HistoryEntry{
			Iteration: i + 1, Time: noon, Status: state.Rejected,
			Change: fmt.Sprintf("try %d", i+1), Metric: value("7"),
		})
	}
	doc.SetEntries(list, "")
	p := program.Parse(".autoloop/programs/speed.md", []byte(text))
	require.NoError(t, p.Err())
	return render.Account{
		Program: p, Events: events, State: doc.Render(),
		RunURL: "https://github.test/org/repo/actions/runs/7",
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	a := account(t)
	golden.Equal(t, "status.md", render.Status(a))
	golden.Equal(t, "pull.md", render.Pull(a, 4))
	golden.Equal(t, "accepted.md", render.Iteration(a, a.Decided()[0]))
	golden.Equal(t, "error.md", render.Iteration(a, a.Decided()[2]))
	golden.Equal(t, "rejected.md", render.Iteration(a, a.Decided()[1]))
	golden.Equal(t, "issue.md", render.Issue(a))
	golden.Equal(t, "notice.md", render.Notice(a, 7, "paused", "5 rejections in a row", []string{"alice"}))
	a.Events = append(a.Events, &history.Decided{
		Head: history.Head{Run: "7-1-ef", Iteration: 4}, Outcome: history.PendingCI, Metric: value("5.123456789"),
		PreviousBest: value("6"), Best: value("5.123456789"),
		Delta: "-0.876543211", Reasons: []decision.Reason{{
			Kind: decision.Better, Value: value("5.123456789"),
			Beside: value("6"), Term: "lower",
		}},
		Work: history.Work{Summary: "one pass", Agent: "claude"},
	})
	golden.Equal(t, "pending.md", render.Iteration(a, a.Decided()[3]))
	golden.Equal(t, "pull-pending.md", render.Pull(a, 4))
	a.Events = append(a.Events, &history.Decided{
		Head: history.Head{Run: "8-1-01", Iteration: 4}, Outcome: history.CIFixExhausted, Metric: value("5.123456789"),
		PreviousBest: value("6"), Best: value("6"),
		Delta: "-0.876543211", Reasons: []decision.Reason{
			{Kind: decision.CIStuck, Words: "build: expected 3"},
			{Kind: decision.CIFound, Term: "failed", Path: "build [x](y)", Words: "build [x](y) fails"},
		},
		Failing: []history.Check{
			{Name: "build [x](y)", URL: "https://github.test/org/repo/actions/runs/3/job/4"},
			{Name: "lint", URL: "javascript:alert(1)"},
		},
		Work: history.Work{Summary: "one pass", Agent: "claude"},
	}, &history.Paused{Reason: decision.Say("stuck in CI fix loop: build: expected 3")})
	withPage := a
	withPage.Page = "https://org.github.io/repo/program-speed.html"
	golden.Equal(t, "status-page.md", render.Status(withPage))
	golden.Equal(t, "pull-page.md", render.Pull(withPage, 4))
	golden.Equal(t, "ci-failed.md", render.Iteration(a, a.Decided()[3]))
	golden.Equal(t, "status-paused.md", render.Status(a))
	a.Events = append(a.Events, &history.Completed{Reason: decision.Say(
		"target reached: 1 with target 1 (lower is better)")})
	golden.Equal(t, "status-completed.md", render.Status(a))
	golden.Equal(t, "notice-completed.md",
		render.Notice(a, 9, "completed", "target reached: 1 with target 1 (lower is better)", []string{"alice", "bob"}))
	golden.Equal(t, "reply.md", render.Reply(12, "It goes on."))
}

// TestAPersonsTextSurvives has a body that a person wrote into.
func TestAPersonsTextSurvives(t *testing.T) {
	t.Parallel()
	a := account(t)
	ours := render.Pull(a, 4)
	body := "Please look at a.go first.\n\n" + ours + "\n- [x] I tried it\n"
	a.Events = append(a.Events, &history.Decided{
		Head: history.Head{Iteration: 4}, Outcome: history.Accepted,
		Metric: value("5"), PreviousBest: value("6"), Best: value("5"),
	})
	fresh := render.Within(body, render.Pull(a, 4))
	assert.True(t, strings.HasPrefix(fresh, "Please look at a.go first.\n\n<!-- AUTOLOOP:PULL 4 none -->"))
	assert.True(t, strings.HasSuffix(fresh, "<!-- AUTOLOOP:PULL END -->\n\n- [x] I tried it\n"))
	assert.Equal(t, fresh, render.Within(fresh, render.Pull(a, 4)), "once")
	endless := strings.Replace(body, "<!-- AUTOLOOP:PULL END -->\n", "", 1)
	assert.Equal(t, fresh, render.Within(endless, render.Pull(a, 4)), "where the mark of its end was deleted")
	assert.Equal(t, "mine\n\n"+ours, render.Within("mine", ours), "where our part was taken out")
	assert.Equal(t, strings.TrimSuffix(ours, "\n"), render.Within(a.PullMark()+"\nall of an earlier version", ours))
	assert.Empty(t, render.OursIn("mine"))
	without := render.Within(body, render.WithoutDraft(ours))
	assert.True(t, render.NeverDraft(render.Within(without, render.Pull(a, 4))), "that there are no drafts is kept")
}

func TestPullTitle(t *testing.T) {
	t.Parallel()
	a := account(t)
	assert.Equal(t, "[Autoloop: speed]", render.PullTitle(a))
	a.Program.PullRequest.Title, a.Program.PullRequest.Type = "{type}({scope}): {summary}", "perf"
	first := a.Decided()[0]
	first.Summary = "halve the step, fixes #1"
	assert.Equal(t, "perf(speed): halve the step, fixes #\u200b1", render.PullTitle(a))
	first.Summary = ""
	assert.Equal(t, "perf(speed): improve seconds", render.PullTitle(a))
}

func TestChartIsThinnedAndPlain(t *testing.T) {
	t.Parallel()
	a := account(t)
	a.Events = a.Events[:2]
	assert.Empty(t, render.Chart(a), "one point is no line")
	for i := range 500 {
		a.Events = append(a.Events, &history.Decided{
			Head: history.Head{Iteration: i + 1}, Outcome: history.Rejected,
			Best: value("1e-9"),
		})
	}
	chart := render.Chart(a)
	assert.LessOrEqual(t, strings.Count(chart, ","), 4*40)
	assert.Contains(t, chart, `"500"`, "its end is kept")
	assert.NotContains(t, chart, "e-09")
	a.Program.Metric = "a\"]b\n```"
	assert.Contains(t, render.Chart(a), "best a  b", "nothing of a name ends the quotation")
}

func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	a := account(t)
	a.State = append(a.State, strings.Repeat("- mine\n", 20_000)...)
	for i := range 100 {
		a.Events = append(a.Events, &history.Decided{
			Head: history.Head{Iteration: i + 4}, Outcome: history.Accepted,
			Best: value("1"), Work: history.Work{Summary: strings.Repeat("ä", 5000)},
		})
	}
	for _, body := range []string{render.Status(a), render.Pull(a, 4)} {
		assert.LessOrEqual(t, len(body), 65_536)
	}
}

// TestUndoneGainIsNoneAnyMore: after an undo nothing shows the number that was taken back as
// what the branch has, and nothing is left to propose.
func TestUndoneGainIsNoneAnyMore(t *testing.T) {
	t.Parallel()
	a := account(t)
	require.NotNil(t, a.Kept())
	kept := a.Kept().Iteration
	a.Events = append(a.Events, &history.Set{Key: history.UndoneIteration, Value: strconv.Itoa(kept), Commit: "later"})
	assert.Nil(t, a.Kept())
	assert.Equal(t, history.Undone, a.Decided()[kept-1].Outcome)
	for name, text := range map[string]string{
		"status": render.Status(a), "pull": render.Pull(a, 4),
		"summary": render.Summary(a),
	} {
		assert.NotContains(t, text, "**6**", name)
		assert.NotContains(t, text, "8 → 6", name)
	}
	assert.Contains(t, render.Summary(a), "measured at the next run")
	assert.Contains(t, render.Status(a), "undone")
}
