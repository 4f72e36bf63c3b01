package page_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/org/autoloop/tests/testrepo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render/page"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func value(f float64) *metric.Value {
	v, err := metric.FromFloat(f)
	if err != nil {
		panic(err)
	}
	return &v
}

// made is a history of n iterations, of which every fifth was kept.
func made(n int, summary string) []history.Event {
	best := 1000.0
	events := []history.Event{&history.Measured{
		Head: history.Head{Time: noon.Add(-time.Duration(n+1) * time.Hour)}, Role: history.Baseline,
		Metric: value(best), Direction: metric.Lower,
	}}
	for i := 1; i <= n; i++ {
		at := noon.Add(-time.Duration(n-i) * time.Hour)
		tried := best + 3 - float64(i%7)
		e := &history.Decided{
			Head: history.Head{Iteration: i, Time: at}, Outcome: history.Rejected, Metric: value(tried),
			PreviousBest: value(best), Best: value(best),
			Delta: metric.Delta(*value(tried), value(best)), Reasons: decision.Says("not better: " + summary),
			Commit: strings.Repeat("0123456789", 4),
			Work: history.Work{
				Summary: summary, Agent: "claude", Model: "sonnet", Changed: []string{"src/parse.go"},
				Durations: map[string]float64{"propose": 60}, Usage: &metric.Usage{CostUSD: value(0.25)},
			},
		}
		if i%5 == 0 && tried < best {
			best, e.Outcome, e.Best = tried, history.Accepted, value(tried)
		}
		if i%11 == 0 {
			e.Outcome, e.Metric, e.Delta, e.Reasons = history.Error, nil, "",
				decision.Says("the agent's service did not answer")
		}
		events = append(events, &history.Started{Head: history.Head{
			Iteration: i, Time: at.Add(-time.Minute),
			Run: "r",
		}}, e, &history.Finished{Head: history.Head{Iteration: i, Time: at, Run: "r"}})
	}
	return events
}

// ledger are the events of hand-written lines.
func ledger(t *testing.T, lines string) []history.Event {
	t.Helper()
	log, err := testrepo.Ledger([]byte(lines))
	require.NoError(t, err)
	return log.Events
}

func program(t testing.TB, source page.Source) *page.Program {
	t.Helper()
	past := history.Replay(source.Events)
	source.Summary = &past
	p, err := page.New(source, noon)
	require.NoError(t, err)
	return p
}

func single(t testing.TB, programs ...*page.Program) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, page.View{
		Site: &page.Site{Generated: noon, Programs: programs}, Overview: true, Shown: programs,
	}.Write(&b))
	return b.String()
}

func TestLastDecisionCounts(t *testing.T) {
	t.Parallel()
	const twice = `{"event":"decided","iteration":1,"outcome":"pending-ci","metric":3}` + "\n" +
		`{"event":"decided","iteration":1,"outcome":"accepted","metric":3,"best":3}` + "\n"
	p := program(t, page.Source{Name: "speed", Events: ledger(t, twice)})
	require.Len(t, p.Iterations, 1)
	assert.True(t, p.Iterations[0].Kept())
	assert.Equal(t, 1, p.Kept)
	p = program(t, page.Source{Name: "speed", Events: ledger(t, twice+`{"event":"set","key":"undone","value":"1"}`)})
	assert.Equal(t, "undone", p.Iterations[0].Label().Word)
	assert.Zero(t, p.Kept)
}

// TestOnlyAnErrorIsDrawnAsOne: a candidate that was refused before it was measured is not an error.
func TestOnlyAnErrorIsDrawnAsOne(t *testing.T) {
	t.Parallel()
	for outcome, isError := range map[state.Status]bool{history.Rejected: false, history.Error: true} {
		decided := &history.Decided{
			Head: history.Head{Iteration: 1, Time: noon}, Outcome: outcome,
			Reasons: decision.Says("no change proposed"),
		}
		drawn := string(program(t, page.Source{Name: "speed", Events: append(made(0, ""), decided)}).Trajectory())
		assert.Equal(t, isError, strings.Contains(drawn, `class="point error"`), outcome)
		assert.Equal(t, !isError, strings.Contains(drawn, `class="point rejected"`), outcome)
	}
}

func TestNewBaselinesBreakTheTrajectory(t *testing.T) {
	t.Parallel()
	events := append(made(5, "x"),
		&history.Measured{Role: history.Baseline, Metric: value(900), Direction: metric.Lower})
	p := program(t, page.Source{Name: "speed", Events: events})
	assert.Equal(t, []int{5}, p.Breaks)
	assert.Contains(t, single(t, p), `class="break"`)
}

// TestHostileText puts text that would be markup into every field that comes
// from outside.
func TestHostileText(t *testing.T) {
	t.Parallel()
	hostile := `</script><script>alert(1)</script><img src=x onerror=alert(2)>" onmouseover="alert(3) ` +
		`javascript:alert(4) ` + "\u202egnp.exe\x1b[2J " + strings.Repeat("long ", 200_000)
	events := made(3, hostile)
	for _, e := range history.Of[*history.Decided](events) {
		e.Agent, e.Model, e.Warning, e.Commit, e.Run = hostile, hostile, decision.Says(hostile), hostile, hostile
		e.Changed, e.Lessons, e.Foreclosed, e.Ideas = []string{hostile}, []string{hostile}, []string{hostile},
			[]string{hostile}
	}
	patch := "diff --git a/x b/" + hostile + "\n@@ " + hostile + "\n+" + hostile + "\n-" + hostile + "\n" + hostile
	p := program(t, page.Source{
		Name: "speed", Events: events,
		Diff:   func(_, commit string) []byte { return map[string][]byte{hostile: []byte(patch)}[commit] },
		Metric: hostile[:200], State: "waiting", Reason: hostile[:200],
		Budget:     []budget.Used{{Text: hostile[:200], Share: 0.5}},
		Repository: "https://github.test/o/r",
	})
	text := single(t, p)
	assert.Equal(t, 1, strings.Count(text, "<script"), "the page's script")
	for _, unwanted := range []string{"<img", "\u202e", "\x1b"} {
		//nolint:testifylint // the page is too long to print
		assert.False(t, strings.Contains(text, unwanted), "the page has %q", unwanted)
	}
	outside := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(text, `""`)
	assert.Empty(t, regexp.MustCompile(`<[a-z]+ [^>]*\bon[a-z]+=`).FindString(outside), "an event handler")
	assert.Empty(t, regexp.MustCompile(`(?i)href="?\s*javascript:`).FindString(text))
	assert.Less(t, len(text), 200_000, "texts are bounded")
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	require.NotNil(t, policy)
	assert.Contains(t, policy[1], "default-src &#39;none&#39;")
	assert.NotContains(t, policy[1], "unsafe")
}

func TestPageLoadsNothing(t *testing.T) {
	t.Parallel()
	text := single(t, program(t, page.Source{Name: "speed", Events: made(20, "inline the loop")}))
	for _, attribute := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		assert.Regexp(t, `^(#|data:)`, attribute[1])
	}
	assert.NotContains(t, text, "@import")
	assert.NotContains(t, text, "url(")
}

func TestPagesOfADirectoryLinkEachOther(t *testing.T) {
	t.Parallel()
	a, b := program(t, page.Source{Name: "a.b", Events: made(2, "x")}),
		program(t, page.Source{Name: "a_b", Events: made(2, "x")})
	require.NotEqual(t, page.File(a.Name), page.File(b.Name))
	site := &page.Site{Generated: noon, Programs: []*page.Program{a, b}}
	var overview, one bytes.Buffer
	require.NoError(t, page.View{Site: site, Overview: true}.Write(&overview))
	require.NoError(t, page.View{Site: site, Shown: []*page.Program{a}}.Write(&one))
	assert.Contains(t, overview.String(), `href="`+page.File(a.Name)+`"`)
	assert.Contains(t, overview.String(), `href="`+page.File(b.Name)+`"`)
	assert.Contains(t, one.String(), `href="index.html"`)
	assert.NotContains(t, one.String(), "a_b")
}

func TestProgramWithoutIterations(t *testing.T) {
	t.Parallel()
	p := program(t, page.Source{Name: "new"})
	assert.Equal(t, "never ran", p.State)
	assert.Contains(t, single(t, p), "No iteration was decided yet")
	assert.Contains(t, single(t), "No program has records yet")
}

func TestProgramsThatNeedPersonComeFirst(t *testing.T) {
	t.Parallel()
	calm := program(t, page.Source{Name: "calm", Events: made(2, "x")})
	stuck := program(t, page.Source{
		Name: "stuck", Events: made(2, "x"),
		File: []byte("## ⚙️ Machine State\n\n| Field | Value |\n|---|---|\n| Paused | true |\n" +
			"| Pause Reason | three errors in a row |\n"),
	})
	text := single(t, calm, stuck)
	assert.True(t, stuck.Attention)
	assert.Contains(t, text, "three errors in a row")
	assert.Less(t, strings.Index(text, ">stuck<"), strings.Index(text, ">calm<"))
}

func TestDiffsAreColoured(t *testing.T) {
	t.Parallel()
	patch := "diff --git a/main.go b/main.go\nindex 1..2 100644\n--- a/main.go\n+++ b/main.go\n@@ -1,2 +1,2 @@\n" +
		"-\treturn 1 // one\n+\treturn \"two\"\ndiff --git a/x.py b/x.py\n@@ -1 +1 @@\n+def f(): return None\n"
	text := single(t, program(t, page.Source{
		Name: "speed", Events: made(1, "x"),
		Diff: func(_, _ string) []byte { return []byte(patch) },
	}))
	assert.Contains(t, text, "<span class=\"del\">-\treturn 1 // one\n</span>")
	assert.Contains(t, text, "<span class=\"add\">&#43;\treturn &#34;two&#34;\n</span>")
	assert.Contains(t, text, "<span class=\"add\">&#43;def f(): return None\n</span>")
}

// TestPageShowsCI: of a commit that waits, that became green, and that failed.
func TestPageShowsCI(t *testing.T) {
	t.Parallel()
	text := `{"event":"measured","role":"baseline","metric":10,"direction":"lower"}` + "\n"
	for _, e := range strings.Fields("1:accepted 2:pending-ci 2:accepted 3:pending-ci 3: 3: 3:ci-fix-exhausted " +
		"4:pending-ci 4: 4:accepted 5:pending-ci") {
		iteration, outcome, _ := strings.Cut(e, ":")
		if outcome == "" {
			text += `{"event":"checked","iteration":` + iteration + `,"failing_checks":[{"name":"build"}]}` + "\n"
		} else {
			text += `{"event":"decided","iteration":` + iteration + `,"metric":9,"best":9,"outcome":"` +
				outcome + "\"}\n"
		}
	}
	events := ledger(t, text)
	p := program(t, page.Source{Name: "p", Events: events})
	var said []string
	for _, it := range p.Iterations {
		said = append(said, it.CI())
	}
	assert.Equal(t, []string{"", "green", "failed: build, after 2 fixes", "green, after 1 fix", "waits for it"}, said)
	assert.Contains(t, single(t, p), "<dt>CI</dt><dd><bdi>failed: build, after 2 fixes</bdi></dd>")
}

// TestRunsAreLinked: with what an agent printed, which is an artifact of the run.
func TestRunsAreLinked(t *testing.T) {
	t.Parallel()
	events := made(1, "try")
	events[2].Header().Run = "77-1"
	text := single(t, program(t, page.Source{Name: "p", Events: events, Repository: "https://github.test/o/r"}))
	assert.Contains(t, text, `href="https://github.test/o/r/actions/runs/77" rel="noreferrer">log</a>`)
	assert.Contains(t, text, `href="https://github.test/o/r/actions/runs/77#artifacts" rel="noreferrer">transcript</a>`)
	assert.NotContains(t, single(t, program(t, page.Source{Name: "p", Events: events})), "actions/runs")
}

// TestOnlyTheTargetIsTheWholeWay: what is nearly there is not.
func TestOnlyTheTargetIsTheWholeWay(t *testing.T) {
	t.Parallel()
	for best, want := range map[float64]string{
		1000: "0 % of the way", 999: "0 % of the way", 500: "50 % of the way",
		1: "99 % of the way", 0: "100 % of the way", -5: "100 % of the way", 1100: "0 % of the way",
	} {
		p := page.Program{Source: page.Source{
			Summary: &history.Summary{Initial: value(1000), Best: value(best)}, Target: value(0),
		}}
		assert.Equal(t, want, p.Progress(), "%g", best)
		p.Target = nil
		assert.Empty(t, p.Progress(), "no target")
	}
}

func TestNumbersAreThoseOfReplay(t *testing.T) {
	t.Parallel()
	events := made(57, "inline the loop")
	past := history.Replay(events)
	p := program(t, page.Source{Name: "speed", Events: events})
	assert.Equal(t, past.Best, p.Best)
	assert.Equal(t, past.Initial, p.Initial)
	assert.Equal(t, past.Count(history.Accepted), p.Kept)
	assert.Equal(t, len(past.Attempts), p.Tried)
	assert.InDelta(t, past.Spent(time.Time{}).USD, p.Total.USD, 1e-9)
	assert.InDelta(t, past.Spent(noon.AddDate(0, 0, -7)).USD, p.Week.USD, 1e-9)
	require.Len(t, p.Iterations, len(past.Attempts))
	sum := 0.0
	for i, it := range p.Iterations {
		assert.Equal(t, past.Attempts[i].Metric, it.Metric)
		assert.Equal(t, past.Attempts[i].Outcome, it.Outcome)
		sum += it.Spent.USD
	}
	assert.InDelta(t, p.Total.USD, sum, 1e-9, "the cost chart adds up to what the replay says")
}
