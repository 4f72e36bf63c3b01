package render_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/org/autoloop/tests/testrepo"

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

// ledger are the events of hand-written lines.
func ledger(t *testing.T, lines ...string) []history.Event {
	t.Helper()
	log, err := testrepo.Ledger([]byte(strings.Join(lines, "\n")))
	require.NoError(t, err)
	return log.Events
}

// account is a program with a baseline, a gain, a rejection and an error.
func account(t *testing.T) render.Account {
	t.Helper()
	said := fmt.Sprintf("%q", hostile)
	events := ledger(t, `{"event":"started","run_id":"r1","iteration":1,"time":"2026-03-04T12:00:00Z"}`,
		`{"event":"measured","role":"baseline","metric":8,"commit":"b45e"}`,
		`{"event":"decided","run_id":"5-1-ab","iteration":1,"outcome":"accepted","metric":6,"previous_best":8,`+
			`"best":6,"delta":"-2","reasons":[{"kind":"better","value":6,"beside":8},`+
			`{"kind":"said","words":`+said+`}],`+
			`"commit":"`+strings.Repeat("c", 40)+`","evaluation":{"tokens":1200,"cost_usd":0.12,"unknown_usd":2},`+
			`"summary":`+said+`,"agent":"claude","model":"m-1","durations":{"propose":12,"measure":3.25},`+
			`"usage":{"cost_usd":0.12,"input_tokens":1200,"output_tokens":300}}`,
		`{"event":"finished","run_id":"r1"}`,
		`{"event":"decided","run_id":"6-1-cd","iteration":2,"outcome":"rejected","metric":7,"previous_best":6,`+
			`"best":6,"delta":"+1","reasons":[{"kind":"worse","value":7,"beside":6,"term":"lower"}],`+
			`"summary":"slower","agent":"tuner"}`,
		`{"event":"decided","run_id":"20260304T120000Z-1","iteration":3,"outcome":"error","best":6,"agent":"tuner",`+
			`"reasons":[{"kind":"said","words":"the evaluation fails"}]}`)
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
	a := render.Account{Program: p, State: doc.Render(), RunURL: "https://github.test/org/repo/actions/runs/7"}
	add(&a, events...)
	return a
}

// add records what happened.
func add(a *render.Account, events ...history.Event) {
	a.Events = append(a.Events, events...)
	past := history.Replay(a.Events)
	a.Summary = &past
}

func TestGolden(t *testing.T) {
	t.Parallel()
	a := account(t)
	golden.Equal(t, "status.md", render.Status(a))
	golden.Equal(t, "pull.md", render.Pull(a, 4))
	golden.Equal(t, "accepted.md", render.Iteration(a, a.Attempts[0].Decided))
	golden.Equal(t, "error.md", render.Iteration(a, a.Attempts[2].Decided))
	golden.Equal(t, "rejected.md", render.Iteration(a, a.Attempts[1].Decided))
	golden.Equal(t, "issue.md", render.Issue(a))
	golden.Equal(t, "notice.md", render.Notice(a, 7, "paused", "5 rejections in a row", []string{"alice"}))
	const fourth = `"iteration":4,"metric":5.123456789,"previous_best":6,"delta":"-0.876543211","summary":"one pass",` +
		`"agent":"claude","event":"decided",`
	add(&a, ledger(t, `{"run_id":"7-1-ef",`+fourth+`"outcome":"pending-ci","best":5.123456789,`+
		`"reasons":[{"kind":"better","value":5.123456789,"beside":6,"term":"lower"}]}`)...)
	golden.Equal(t, "pending.md", render.Iteration(a, a.Attempts[3].Decided))
	golden.Equal(t, "pull-pending.md", render.Pull(a, 4))
	add(&a, ledger(t, `{"run_id":"8-1-01",`+fourth+`"outcome":"ci-fix-exhausted","best":6,`+
		`"reasons":[{"kind":"ci-stuck","words":"build: expected 3"},`+
		`{"kind":"ci-found","term":"failed","path":"build [x](y)",`+
		`"words":"build [x](y) fails"}],"failing_checks":[{"name":"build [x](y)","url":"https://github.test/org/repo/`+
		`actions/runs/3/job/4"},{"name":"lint","url":"javascript:alert(1)"}]}`,
		`{"event":"paused","reason":{"kind":"said","words":"stuck in CI fix loop: build: expected 3"}}`)...)
	withPage := a
	withPage.Page = "https://org.github.io/repo/program-speed.html"
	golden.Equal(t, "status-page.md", render.Status(withPage))
	golden.Equal(t, "pull-page.md", render.Pull(withPage, 4))
	golden.Equal(t, "ci-failed.md", render.Iteration(a, a.Attempts[3].Decided))
	golden.Equal(t, "status-paused.md", render.Status(a))
	add(&a, &history.Completed{Reason: decision.Say(
		"target reached: 1 with target 1 (lower is better)")})
	golden.Equal(t, "status-completed.md", render.Status(a))
	golden.Equal(t, "notice-completed.md",
		render.Notice(a, 9, "completed", "target reached: 1 with target 1 (lower is better)", []string{"alice", "bob"}))
	golden.Equal(t, "reply.md", render.Reply(12, "It goes on."))
}

// TestPersonsTextIsKept has a body that a person wrote into.
func TestPersonsTextIsKept(t *testing.T) {
	t.Parallel()
	a := account(t)
	ours := render.Pull(a, 4)
	body := "Please look at a.go first.\n\n" + ours + "\n- [x] I tried it\n"
	add(&a, &history.Decided{
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
	first := a.Attempts[0].Decided
	first.Summary = "halve the step, fixes #1"
	golden.Row(t, "perf(speed): halve the step,", render.PullTitle(a))
	first.Summary = ""
	assert.Equal(t, "perf(speed): improve seconds", render.PullTitle(a))
}

func TestChartIsThinnedAndPlain(t *testing.T) {
	t.Parallel()
	a := account(t)
	a.Events = a.Events[:2]
	add(&a)
	assert.Empty(t, render.Chart(a), "one point is no line")
	for i := range 500 {
		add(&a, &history.Decided{
			Head: history.Head{Iteration: i + 1}, Outcome: history.Rejected,
			Best: value("1e-9"),
		})
	}
	chart := string(render.Chart(a))
	assert.LessOrEqual(t, strings.Count(chart, ","), 4*40)
	assert.Contains(t, chart, `"500"`, "its end is kept")
	assert.NotContains(t, chart, "e-09")
	a.Program.Metric = "a\"]b\n```"
	assert.Contains(t, string(render.Chart(a)), "best a  b", "nothing of a name ends the quotation")
}

func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	a := account(t)
	a.State = append(a.State, strings.Repeat("- mine\n", 20_000)...)
	for i := range 100 {
		add(&a, &history.Decided{
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
	add(&a, &history.Set{Key: history.UndoneIteration, Value: strconv.Itoa(kept), Commit: "later"})
	assert.Nil(t, a.Kept())
	assert.Equal(t, history.Undone, a.Attempts[kept-1].Outcome)
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
