package sync_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const text = "---\nmetric: seconds\nmetric_direction: lower\ncomments: all\n---\n## Goal\nFast.\n## Target\n`a.go`\n" +
	"## Evaluation\n```sh\ngo run ./bench\n```\n"

func value(text string) *metric.Value {
	v := metric.MustValue(text)
	return &v
}

// project is a repository on GitHub, the records of one program, and a clock.
type project struct {
	t       *testing.T
	server  *githubtest.Server
	clock   *githubtest.Clock
	program *program.Program
	events  []history.Event
	runs    int
	timeout time.Duration // of one request, 0 for the default
}

func newProject(t *testing.T, fill func(*githubtest.State)) *project {
	t.Helper()
	hub := githubtest.NewState("org/repo")
	hub.Roles["alice"], hub.Roles["bob"] = "OWNER", "MEMBER"
	hub.Branches["main"] = "base"
	if fill != nil {
		fill(hub)
	}
	w := &project{
		t: t, server: githubtest.New(t, hub), clock: githubtest.NewClock(noon),
		program: program.Parse(".autoloop/programs/speed.md", []byte(text)),
	}
	require.NoError(t, w.program.Err())
	w.server.Change(func(*githubtest.State) { w.server.Now = w.clock.Now })
	return w
}

func (w *project) service() *sync.Service {
	w.t.Helper()
	client := must(api.New(api.Options{
		API: w.server.URL, Repository: "org/repo", Token: "secret", Now: w.clock.Now, Timeout: w.timeout,
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.clock.Add(d)
			return ctx.Err()
		},
	}))
	return &sync.Service{Client: client, Program: w.program, Now: w.clock.Now}
}

func (w *project) account() render.Account {
	doc := state.New("speed")
	m := doc.Machine()
	summary := history.Replay(w.events)
	m.IterationCount, m.BestMetric, m.InitialMetric, m.RecentStatuses = summary.Iteration, summary.Best,
		summary.Initial, summary.Statuses()
	doc.SetMachine(m)
	var list []state.HistoryEntry
	for _, attempt := range summary.Attempts {
		list = append(list, state.HistoryEntry{
			Iteration: attempt.Iteration, Time: attempt.Time,
			Status: attempt.Outcome, Metric: attempt.Metric,
		})
	}
	doc.SetEntries(list, "")
	return render.Account{Program: w.program, Summary: &summary, Events: w.events, State: doc.Render()}
}

func (w *project) add(e history.Event) {
	e.Header().Time = w.clock.Now()
	w.events = append(w.events, e)
}

// begin is the start of a run, hours after the last one.
func (w *project) begin() {
	w.clock.Add(6 * time.Hour)
	w.runs++
	w.add(&history.Started{Head: history.Head{
		Run:       fmt.Sprint("r", w.runs),
		Iteration: history.Replay(w.events).Iteration + 1,
	}})
	if w.runs == 1 {
		w.add(&history.Measured{Role: history.Baseline, Metric: value("9"), Commit: "base"})
	}
}

// decide ends the iteration of the run.
func (w *project) decide(outcome state.Status, metric string) {
	w.clock.Add(20 * time.Minute)
	summary := history.Replay(w.events)
	e := &history.Decided{
		Head: history.Head{Iteration: summary.Iteration + 1}, Outcome: outcome, Metric: value(metric),
		PreviousBest: summary.Best, Best: summary.Best,
		Delta: "-1", Reasons: decision.Says("because"),
		Work: history.Work{Summary: "try " + metric, Agent: "tuner"},
	}
	if outcome == history.Accepted {
		e.Best, e.Commit = e.Metric, "c"+metric
		w.server.Change(func(s *githubtest.State) { s.Branches["autoloop/speed"] = e.Commit })
	}
	w.add(e)
	w.add(&history.Finished{Head: history.Head{Run: fmt.Sprint("r", w.runs)}})
}

// hear reads what was said, and opens the issue.
func hear(ctx context.Context, s *sync.Service, a render.Account) (commands.Heard, error) {
	heard, err := s.Look(ctx, a)
	if err == nil {
		heard.Issue, heard.Author, err = s.Open(ctx, a)
	}
	return heard, err
}

// hear hears, and notes in the records what was found.
func (w *project) hear(s *sync.Service) error {
	heard, err := hear(w.t.Context(), s, w.account())
	if err != nil {
		return err
	}
	w.set(history.IssueNumber, fmt.Sprint(heard.Issue))
	w.set(history.Author, heard.Author)
	if p := heard.Pull; p != nil && !p.Open {
		w.set(history.PullEnded, fmt.Sprint(p.Number))
	}
	w.set(history.HeardUntil, heard.Until)
	return nil
}

func (w *project) set(key, value string) {
	before := history.Replay(w.events).Settings
	after := before
	if after.Set(key, value); value != "" && after != before {
		w.add(&history.Set{Key: key, Value: value})
	}
}

func (w *project) show(s *sync.Service) error {
	number, err := s.Promote(w.t.Context(), w.account(), "main")
	if err != nil {
		return err
	}
	if number > 0 {
		w.set(history.PullNumber, fmt.Sprint(number))
	}
	return s.Show(w.t.Context(), w.account())
}

// run is a run that nothing disturbs.
func (w *project) run(outcome state.Status, metric string) {
	w.t.Helper()
	w.begin()
	s := w.service()
	require.NoError(w.t, w.hear(s))
	w.decide(outcome, metric)
	require.NoError(w.t, w.show(s))
}

// story is a program's life, in steps that are each tried until they succeed.
func (w *project) story() {
	for i, step := range []struct {
		outcome state.Status
		metric  string
		then    func()
	}{
		{history.Accepted, "8", nil},
		{history.Rejected, "8.5", nil},
		{history.Accepted, "7", nil},
		{history.Error, "7", func() {
			w.server.Merge(w.pull(), "m1")
			w.server.Change(func(s *githubtest.State) { s.Branches["main"] = "m1" })
		}},
		{history.Rejected, "7", nil},
		{history.Accepted, "3", func() { w.add(&history.Completed{Reason: decision.Say("target reached")}) }},
	} {
		w.begin()
		w.until(func() error { return w.hear(w.service()) })
		w.decide(step.outcome, step.metric)
		if step.then != nil && i > 3 {
			step.then()
		}
		w.until(func() error {
			s := w.service()
			if err := w.hear(s); err != nil {
				return err
			}
			return w.show(s)
		})
		if step.then != nil && i <= 3 {
			step.then()
		}
	}
}

func (w *project) pull() int {
	number := 0
	w.server.Change(func(s *githubtest.State) { number = s.Pulls[len(s.Pulls)-1].Number })
	return number
}

// until tries a step a few times: the run after a failed one does it again.
func (w *project) until(step func() error) {
	w.t.Helper()
	var err error
	for range 8 {
		if err = step(); err == nil {
			return
		}
		assert.NotContains(w.t, err.Error(), "secret")
		w.clock.Add(2 * time.Hour)
	}
	require.NoError(w.t, err)
}

// notice is the mark of a notice, whose number is a place in the ledger.
var notice = regexp.MustCompile(`NOTICE [0-9]+`)

// shown is what a person sees, without times.
func (w *project) shown() string {
	var out strings.Builder
	w.server.Change(func(s *githubtest.State) {
		for _, i := range s.Issues {
			fmt.Fprintf(&out, "#%d %s open=%v %v %q\n", i.Number, i.Title, i.Open, i.Labels, i.Body)
			for _, c := range s.On(i.Number) {
				first, _, _ := strings.Cut(c.Body, "\n")
				fmt.Fprintf(&out, "  %s: %s %d\n", c.Author, notice.ReplaceAllString(first, "NOTICE"), len(c.Body))
			}
		}
		for _, p := range s.Pulls {
			text := must(json.Marshal([]any{p.Number, p.Draft, p.Merged, p.Head, p.Base}))
			fmt.Fprintf(&out, "%s\n", text)
		}
	})
	return out.String()
}

// must is the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
