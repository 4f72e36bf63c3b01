package publish_test

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

	"github.com/org/autoloop/internal/github"
	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/internal/ledger"
	"github.com/org/autoloop/internal/post"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/publish"
	"github.com/org/autoloop/internal/score"
	"github.com/org/autoloop/internal/state"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const text = "---\nmetric: seconds\nmetric_direction: lower\n---\n## Goal\nFast.\n## Target\n`a.go`\n## Evaluation\n```sh\ngo run ./bench\n```\n"

func value(text string) *score.Value {
	v := score.MustValue(text)
	return &v
}

// world is a repository on GitHub, the books of one program, and a clock.
type world struct {
	t       *testing.T
	server  *githubtest.Server
	clock   *githubtest.Clock
	program *program.Program
	events  []ledger.Event
	runs    int
	timeout time.Duration // of one request, 0 for the default
}

func newWorld(t *testing.T, fill func(*githubtest.State)) *world {
	t.Helper()
	hub := githubtest.NewState("org/repo")
	hub.Roles["alice"], hub.Roles["bob"] = "OWNER", "MEMBER"
	hub.Branches["main"] = "base"
	if fill != nil {
		fill(hub)
	}
	w := &world{t: t, server: githubtest.New(t, hub), clock: githubtest.NewClock(noon), program: program.Parse(".autoloop/programs/speed.md", []byte(text))}
	require.NoError(t, w.program.Err())
	w.server.Change(func(*githubtest.State) { w.server.Now = w.clock.Now })
	return w
}

func (w *world) service() *publish.Service {
	w.t.Helper()
	client, err := github.New(github.Options{
		API: w.server.URL, Repository: "org/repo", Token: "secret", Now: w.clock.Now, Timeout: w.timeout,
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.clock.Add(d)
			return ctx.Err()
		},
	})
	require.NoError(w.t, err)
	return &publish.Service{Hub: client, Program: w.program, Now: w.clock.Now}
}

func (w *world) account() post.Account {
	doc := state.New("speed")
	m := doc.Machine()
	books := ledger.Replay(w.events)
	m.IterationCount, m.BestMetric, m.InitialMetric, m.RecentStatuses = books.Iteration, books.Best, books.Initial, books.Statuses()
	doc.SetMachine(m)
	for _, attempt := range books.Attempts {
		doc.AddEntry(state.Entry{Iteration: attempt.Iteration, Time: attempt.Time, Status: state.Status(attempt.Outcome), Metric: attempt.Metric})
	}
	return post.Account{Program: w.program, Events: w.events, State: doc.Bytes()}
}

func (w *world) add(e ledger.Event) {
	e.Time = w.clock.Now()
	w.events = append(w.events, e)
}

// begin is the start of a run, hours after the last one.
func (w *world) begin() {
	w.clock.Add(6 * time.Hour)
	w.runs++
	w.add(ledger.Event{Kind: ledger.Started, Run: fmt.Sprint("r", w.runs), Iteration: ledger.Replay(w.events).Iteration + 1})
	if w.runs == 1 {
		w.add(ledger.Event{Kind: ledger.Measured, Role: ledger.Baseline, Metric: value("9"), Commit: "base"})
	}
}

// decide ends the iteration of the run.
func (w *world) decide(outcome ledger.Outcome, metric string) {
	w.clock.Add(20 * time.Minute)
	books := ledger.Replay(w.events)
	e := ledger.Event{
		Kind: ledger.Decided, Iteration: books.Iteration + 1, Outcome: outcome, Metric: value(metric), PreviousBest: books.Best, Best: books.Best,
		Delta: "-1", Summary: "try " + metric, Reasons: []string{"because"}, Agent: "tuner",
	}
	if outcome == ledger.Accepted {
		e.Best, e.Commit = e.Metric, "c"+metric
		w.server.Change(func(s *githubtest.State) { s.Branches["autoloop/speed"] = e.Commit })
	}
	w.add(e)
	w.add(ledger.Event{Kind: ledger.Finished, Run: fmt.Sprint("r", w.runs)})
}

// hear hears, and notes in the books what was found.
func (w *world) hear(s *publish.Service) error {
	heard, err := s.Hear(w.t.Context(), w.account())
	if err != nil {
		return err
	}
	w.set(ledger.IssueNumber, fmt.Sprint(heard.Issue))
	if p := heard.Pull; p != nil && !p.Open {
		w.set(ledger.PullEnded, fmt.Sprint(p.Number))
	}
	w.set(ledger.HeardUntil, heard.Until)
	return nil
}

func (w *world) set(key, value string) {
	if value != "" && ledger.Replay(w.events).Settings[key] != value {
		w.add(ledger.Event{Kind: ledger.Set, Key: key, Value: value})
	}
}

func (w *world) show(s *publish.Service) error {
	number, err := s.Promote(w.t.Context(), w.account(), "main")
	if err != nil {
		return err
	}
	if number > 0 {
		w.set(ledger.PullNumber, fmt.Sprint(number))
	}
	return s.Show(w.t.Context(), w.account())
}

// story is a program's life, in steps that are each tried until they succeed.
func (w *world) story() {
	for i, step := range []struct {
		outcome ledger.Outcome
		metric  string
		then    func()
	}{
		{ledger.Accepted, "8", nil},
		{ledger.Rejected, "8.5", nil},
		{ledger.Accepted, "7", nil},
		{ledger.Error, "7", func() {
			w.server.Merge(w.pull(), "m1")
			w.server.Change(func(s *githubtest.State) { s.Branches["main"] = "m1" })
		}},
		{ledger.Rejected, "7", nil},
		{ledger.Accepted, "3", func() { w.add(ledger.Event{Kind: ledger.Completed, Reason: "target reached"}) }},
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

// TestAnIterationThatWaitedForCIHasOneComment decides a change that waited for
// hours, and is interrupted before it shows that: the run after finds the comment.
func TestAnIterationThatWaitedForCIHasOneComment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	show := func() {
		s := w.service()
		require.NoError(t, w.hear(s))
		require.NoError(t, w.show(s))
	}
	w.begin()
	w.decide(ledger.PendingCI, "8")
	w.server.Change(func(s *githubtest.State) { s.Branches["autoloop/speed"] = "c8" })
	show()
	w.begin()
	books := ledger.Replay(w.events)
	w.add(ledger.Event{
		Kind: ledger.Decided, Iteration: books.Iteration, Outcome: ledger.Accepted, Metric: value("8"), PreviousBest: value("9"), Best: value("8"), Commit: "c8", Delta: "-1",
	})
	w.add(ledger.Event{Kind: ledger.Finished, Run: fmt.Sprint("r", w.runs)})
	w.clock.Add(time.Hour)
	show()
	w.server.Change(func(s *githubtest.State) {
		var on []string
		for _, c := range s.On(1) {
			if post.Has(c.Body, post.IterationMark(1)) {
				on = append(on, c.Body)
			}
		}
		require.Len(t, on, 1)
		assert.Contains(t, on[0], "accepted")
	})
}

func (w *world) pull() int {
	number := 0
	w.server.Change(func(s *githubtest.State) { number = s.Pulls[len(s.Pulls)-1].Number })
	return number
}

// until tries a step a few times: the run after a failed one does it again.
func (w *world) until(step func() error) {
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
func (w *world) shown() string {
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
			text, err := json.Marshal([]any{p.Number, p.Draft, p.Merged, p.Head, p.Base})
			require.NoError(w.t, err)
			fmt.Fprintf(&out, "%s\n", text)
		}
	})
	return out.String()
}

func TestStory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.story()
	shown := w.shown()
	assert.Equal(t, 1, strings.Count(shown, "AUTOLOOP:STATUS"))
	for i := range 6 {
		assert.Equal(t, 1, strings.Count(shown, post.IterationMark(i+1)), shown)
	}
	w.server.Change(func(s *githubtest.State) {
		require.Len(t, s.Issues, 3, "one issue, and one pull request for each merge and the one that is open")
		assert.Equal(t, []string{"automation", "autoloop", "autoloop-completed"}, s.Issues[0].Labels)
		assert.True(t, s.Pulls[1].Draft, "the one that is open")
		assert.Contains(t, s.Issues[2].Body, "**3**")
		assert.Contains(t, s.On(1)[len(s.On(1))-1].Body, "**speed is completed**")
	})
}

// TestRequestsOfAnIteration counts the requests of iterations one after the
// other, with all that can come together: what is said on the pull request and
// on its lines, and a program that stops and tells who wrote it.
func TestRequestsOfAnIteration(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *githubtest.State) {
		s.Authors = map[string][]string{".autoloop/programs/speed.md": {"alice"}}
	})
	talk := func(path string) func() {
		return func() {
			w.clock.Add(time.Minute)
			w.server.Change(func(s *githubtest.State) {
				c := s.Say("alice", s.Pulls[0].Number, "smaller", w.clock.Now())
				c.Path = path
				s.Issue(s.Pulls[0].Number).Updated = w.clock.Now()
			})
		}
	}
	pause := func() { w.add(ledger.Event{Kind: ledger.Paused, Reason: "plateau"}) }
	for i, step := range []struct {
		outcome ledger.Outcome
		most    int
		before  func()
		after   func()
	}{
		{ledger.Rejected, 5, nil, nil}, // its issue is opened
		{ledger.Rejected, 5, nil, pause},
		{ledger.Accepted, 12, nil, nil}, // its pull request is opened
		{ledger.Rejected, 5, nil, nil},
		{ledger.Rejected, 5, talk(""), nil},
		{ledger.Rejected, 6, nil, pause},
		{ledger.Rejected, 6, talk("a.go"), nil},
		{ledger.Accepted, 12, talk("a.go"), nil},
		{ledger.Rejected, 6, nil, nil},
		{ledger.Accepted, 12, talk("a.go"), func() { w.add(ledger.Event{Kind: ledger.Completed, Reason: "target reached"}) }},
	} {
		w.begin()
		w.add(ledger.Event{Kind: ledger.Resumed})
		if step.before != nil {
			step.before()
		}
		s := w.service()
		require.NoError(t, w.hear(s))
		w.decide(step.outcome, fmt.Sprint(20-w.runs))
		if step.after != nil {
			step.after()
		}
		require.NoError(t, w.show(s))
		calls := w.server.Calls()
		assert.LessOrEqual(t, len(calls), step.most, "%d %s: %v", i, step.outcome, calls)
		t.Logf("%d %s: %d requests", i, step.outcome, len(calls))
	}
	told := 0
	w.server.Change(func(s *githubtest.State) {
		for _, c := range s.On(1) {
			if strings.HasSuffix(c.Body, "\n@alice\n") {
				told++
			}
		}
	})
	assert.Equal(t, 3, told)
}

func TestWhoWroteAProgramFileIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		authors   []string
		assignees []string
		down      bool
		want      string
	}{
		"who wrote it first":         {authors: []string{"alice", "bob"}, want: "@alice"},
		"a program wrote it":         {authors: []string{"robot[bot]", "bob"}, want: "@bob"},
		"an address without a login": {authors: []string{""}, want: ""},
		"nobody at all":              {want: ""},
		"with the assignees":         {authors: []string{"alice"}, assignees: []string{"bob", "alice"}, want: "@bob @alice"},
		"it cannot be read":          {authors: []string{"alice"}, assignees: []string{"bob"}, down: true, want: "@bob"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(s *githubtest.State) {
				own(s).Assignees = c.assignees
				s.Authors = map[string][]string{".autoloop/programs/speed.md": c.authors}
			})
			w.begin()
			s := w.service()
			require.NoError(t, w.hear(s))
			w.decide(ledger.Rejected, "10")
			w.add(ledger.Event{Kind: ledger.Paused, Reason: "it needs you"})
			if c.down {
				w.server.Fail(githubtest.Fault{Kind: githubtest.BadGateway, Path: "/commits", Times: 100})
			}
			require.NoError(t, w.show(s))
			s = w.service()
			require.NoError(t, w.hear(s))
			require.NoError(t, w.show(s))
			w.server.Change(func(s *githubtest.State) {
				require.Len(t, s.On(1), 2, "it is told once, with the iteration")
				_, told, found := strings.Cut(s.On(1)[0].Body, "speed is paused**: it needs you\n")
				require.True(t, found)
				assert.Equal(t, c.want, strings.TrimSpace(told))
			})
		})
	}
}

func TestWhatCIStoppedIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(s *githubtest.State) { own(s).Assignees = []string{"bob"} })
	w.begin()
	s := w.service()
	require.NoError(t, w.hear(s))
	w.decide(ledger.PendingCI, "8")
	w.add(ledger.Event{Kind: ledger.Paused, Reason: "ci-timeout"})
	require.NoError(t, s.Show(t.Context(), w.account()))
	decided := w.account().Decided()[0]
	decided.Outcome = ledger.Accepted
	w.add(decided)
	s = w.service()
	require.NoError(t, w.hear(s))
	require.NoError(t, s.Show(t.Context(), w.account()))
	w.server.Change(func(s *githubtest.State) {
		require.Len(t, s.On(1), 2)
		assert.Contains(t, s.On(1)[0].Body, "✅ accepted")
		assert.Contains(t, s.On(1)[0].Body, "ci-timeout\n\n@bob\n", "what was told stays there when the comment is mended")
	})
}

func TestAPullRequestThatIsOpenedAgainIsNotClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.begin()
	s := w.service()
	require.NoError(t, w.hear(s))
	w.decide(ledger.Accepted, "8")
	require.NoError(t, w.show(s))
	w.server.Close(w.pull())
	w.begin()
	s = w.service()
	require.NoError(t, w.hear(s))
	w.decide(ledger.Rejected, "9")
	require.NoError(t, w.show(s))
	w.server.Change(func(s *githubtest.State) { s.Issue(s.Pulls[0].Number).Open = true })
	w.begin()
	s = w.service()
	require.NoError(t, w.hear(s))
	w.decide(ledger.Rejected, "9")
	require.NoError(t, w.show(s))
	w.server.Change(func(s *githubtest.State) { assert.True(t, s.Issue(s.Pulls[0].Number).Open) })
}

// TestFaultsAtEveryWrite lets every single write of the story fail, before and
// after it was done; in the end everything is as without faults.
func TestFaultsAtEveryWrite(t *testing.T) {
	t.Parallel()
	plain := newWorld(t, nil)
	plain.story()
	want, writes := plain.shown(), 0
	for _, call := range plain.server.Calls() {
		if call.Write() {
			writes++
		}
	}
	require.Greater(t, writes, 15)
	for _, kind := range []githubtest.FaultKind{
		githubtest.ServerError, githubtest.BadGateway, githubtest.Dropped, githubtest.PrimaryLimit, githubtest.SecondaryLimit, githubtest.Slow,
	} {
		for _, after := range []bool{false, true} {
			if after && (kind == githubtest.PrimaryLimit || kind == githubtest.SecondaryLimit) {
				continue // a limit refuses what was not done
			}
			for _, times := range []int{1, 5} { // once, and beyond all patience
				if times > 1 && (kind == githubtest.BadGateway || kind == githubtest.PrimaryLimit || kind == githubtest.Slow) {
					continue // as their like
				}
				for at := range writes {
					name := fmt.Sprintf("%s after=%v times=%d write=%d", kind, after, times, at)
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						w := newWorld(t, nil)
						if kind == githubtest.Slow {
							w.timeout = 200 * time.Millisecond
						}
						w.server.Fail(githubtest.Fault{Kind: kind, Writes: true, After: after, Skip: at, Times: times, Wait: time.Hour})
						w.story()
						assert.Equal(t, want, w.shown())
					})
				}
			}
		}
	}
}
