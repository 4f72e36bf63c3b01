package sync_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/tests/long"
)

// TestStory is the same under the old name of a repository that was renamed.
func TestStory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"org/repo", "org/renamed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newProject(t, func(s *githubtest.State) {
				if name != s.Repository {
					s.OldName, s.Repository = s.Repository, name
				}
			})
			w.story()
			shown := w.shown()
			assert.Equal(t, 1, strings.Count(shown, "AUTOLOOP:STATUS"))
			for i := range 6 {
				assert.Equal(t, 1, strings.Count(shown, render.IterationMark(i+1)), shown)
			}
			w.server.Change(func(s *githubtest.State) {
				require.Len(t, s.Issues, 3, "one issue, and one pull request for each merge and the one that is open")
				assert.Equal(t, []string{"automation", "autoloop", "autoloop-completed"}, s.Issues[0].Labels)
				assert.True(t, s.Pulls[1].Draft, "the one that is open")
				assert.Contains(t, s.Issues[2].Body, "→ 3**")
				assert.Contains(t, s.On(1)[len(s.On(1))-1].Body, "**speed is completed**")
			})
		})
	}
}

// TestRequestsOfAnIteration counts the requests of iterations one after the
// other, with all that can come together: what is said on the pull request and
// on its lines, and a program that stops.
func TestRequestsOfAnIteration(t *testing.T) {
	t.Parallel()
	w := newProject(t, func(s *githubtest.State) {
		s.Authors = map[string][]string{".autoloop/programs/speed.md": {"alice"}}
	})
	for i, row := range []string{ // OUTCOME REQUESTS where something is said on the pull request, and ! for a stop
		"rejected 6", // its issue is opened
		"rejected 5 !",
		"accepted 12", // its pull request is opened
		"rejected 6",
		"rejected 6 on_it",
		"rejected 7 a.go!", // comments on lines are asked for when there are new ones
		"accepted 12 a.go",
		"rejected 7", // those from shortly before the last run are read again
		"accepted 12",
		"rejected 6", // no new review, so that comments on lines are not read
	} {
		part := strings.Split(row+" ", " ")
		outcome, most := state.Status(part[0]), must(strconv.Atoi(part[1]))
		said, stops := strings.CutSuffix(part[2], "!")
		w.begin()
		w.add(&history.Resumed{})
		if said != "" {
			w.server.Change(func(s *githubtest.State) {
				c := s.Say("alice", s.Pulls[0].Number, "smaller", w.clock.Now())
				c.Path = strings.TrimPrefix(said, "on_it")
				s.Issue(s.Pulls[0].Number).Updated = w.clock.Now()
			})
		}
		s := w.service()
		require.NoError(t, w.hear(s))
		w.decide(outcome, fmt.Sprint(20-w.runs))
		if stops {
			w.add(&history.Paused{Reason: decision.Say("plateau")})
		}
		require.NoError(t, w.show(s))
		people := 0
		calls := slices.DeleteFunc(w.server.Calls(), func(c githubtest.Call) bool {
			asks := strings.Contains(c.Pattern, "/permission")
			if asks {
				people++
			}
			return asks
		})
		assert.LessOrEqual(t, people, 1, "alice is asked for once")
		assert.LessOrEqual(t, len(calls), most, "%d %s: %v", i, row, calls)
	}
}

// TestHasCI: also where nothing but a rule, or a check of the pull request, says so.
func TestHasCI(t *testing.T) {
	t.Parallel()
	check := func(commit string) func(*githubtest.State) {
		return func(s *githubtest.State) {
			s.Checks = append(s.Checks, &githubtest.Check{
				ID: 1, Commit: commit, Name: "build",
				Conclusion: "failure", App: 5,
			})
		}
	}
	rule := func(s *githubtest.State) { s.Rules = map[string][]githubtest.RequiredCheck{"main": {{Name: "build"}}} }
	for name, c := range map[string]struct {
		there func(*githubtest.State)
		pull  bool
		want  bool
	}{
		"nothing":                     {func(*githubtest.State) {}, true, false},
		"nothing before":              {func(*githubtest.State) {}, false, false},
		"a check of the base":         {check("base"), true, true},
		"a check of the pull request": {check("c8"), true, true},
		"a check of something else":   {check("other"), true, false},
		"a rule":                      {rule, true, true},
		"a rule before":               {rule, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newProject(t, nil)
			if c.pull {
				w.run(history.Accepted, "8")
			}
			w.server.Change(c.there)
			w.begin()
			s := w.service()
			require.NoError(t, w.hear(s))
			has := must(s.HasCI(t.Context(), ci.Candidate{Base: "base", BaseBranch: "main"}))
			assert.Equal(t, c.want, has)
		})
	}
}

func TestAuthorOfProgramFileIsTold(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]string{ // AUTHORS;ASSIGNEES;when it cannot be read: found, stopped => told
		"who wrote it first":         "alice,bob;; => @alice",
		"a program wrote it":         "robot[bot],bob;; => @bob",
		"an address without a login": ";; => ",
		"with the assignees":         "alice;bob,alice; => @bob @alice",
		"it cannot be read":          "alice;bob;found stopped => @bob",
		"it was read before":         "alice;bob;stopped => @bob @alice",
		"it is read later":           "alice;bob;found => @bob @alice",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, want, _ := strings.Cut(row, " => ")
			part := strings.Split(in, ";")
			w := newProject(t, func(s *githubtest.State) {
				own(s).Assignees = strings.FieldsFunc(part[1], func(r rune) bool { return r == ',' })
				s.Authors = map[string][]string{".autoloop/programs/speed.md": strings.Split(part[0], ",")}
			})
			down := func(is bool) {
				w.server.Mend()
				if is {
					w.server.Fail(githubtest.Fault{Kind: githubtest.BadGateway, Path: "/commits", Times: 100})
				}
			}
			w.begin()
			s := w.service()
			down(strings.Contains(part[2], "found"))
			require.NoError(t, w.hear(s))
			w.decide(history.Rejected, "10")
			w.add(&history.Paused{Reason: decision.Say("it needs you")})
			down(strings.Contains(part[2], "stopped"))
			require.NoError(t, w.show(s))
			s = w.service()
			require.NoError(t, w.hear(s))
			require.NoError(t, w.show(s))
			w.server.Change(func(s *githubtest.State) {
				require.Len(t, s.On(1), 2, "it is told once, with the iteration")
				_, told, found := strings.Cut(s.On(1)[0].Body,
					"speed is paused**: it needs you. Say `/autoloop resume` here to go on.\n")
				require.True(t, found)
				assert.Equal(t, want, strings.TrimSpace(told))
			})
		})
	}
}

func TestCIStopIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newProject(t, func(s *githubtest.State) { own(s).Assignees = []string{"bob"} })
	w.begin()
	s := w.service()
	require.NoError(t, w.hear(s))
	w.decide(history.PendingCI, "8")
	w.add(&history.Paused{Reason: decision.Say("ci-timeout")})
	require.NoError(t, s.Show(t.Context(), w.account()))
	decided := w.account().Attempts[0].Decided
	decided.Outcome = history.Accepted
	w.add(decided)
	s = w.service()
	require.NoError(t, w.hear(s))
	require.NoError(t, s.Show(t.Context(), w.account()))
	w.server.Change(func(s *githubtest.State) {
		require.Len(t, s.On(1), 2)
		assert.Contains(t, s.On(1)[0].Body, "✅ kept")
		assert.Contains(t, s.On(1)[0].Body, "ci-timeout. Say `/autoloop resume` here to go on.\n\n@bob\n",
			"what was told stays there when the comment is written again")
	})
}

func TestReopenedPullRequestStaysOpen(t *testing.T) {
	t.Parallel()
	w := newProject(t, nil)
	w.run(history.Accepted, "8")
	w.server.Close(w.pull())
	w.run(history.Rejected, "9")
	w.server.Change(func(s *githubtest.State) { s.Issue(s.Pulls[0].Number).Open = true })
	w.run(history.Rejected, "9")
	w.server.Change(func(s *githubtest.State) { assert.True(t, s.Issue(s.Pulls[0].Number).Open) })
}

// TestFaultsAtEveryWrite lets every single write of the story fail, before and
// after it was done; in the end everything is as without faults.
func TestFaultsAtEveryWrite(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	plain := newProject(t, nil)
	plain.story()
	want, writes := plain.shown(), 0
	for _, call := range plain.server.Calls() {
		if call.Write() {
			writes++
		}
	}
	require.Greater(t, writes, 15)
	for _, kind := range []githubtest.FaultKind{
		githubtest.ServerError, githubtest.BadGateway, githubtest.Dropped, githubtest.PrimaryLimit,
		githubtest.SecondaryLimit, githubtest.Slow,
	} {
		for _, after := range []bool{false, true} {
			if after && (kind == githubtest.PrimaryLimit || kind == githubtest.SecondaryLimit) {
				continue // a limit refuses what was not done
			}
			for _, times := range []int{1, 5} { // once, and beyond all patience
				if times > 1 && (kind == githubtest.BadGateway || kind == githubtest.PrimaryLimit ||
					kind == githubtest.Slow) {
					continue // as their like
				}
				for at := range writes {
					name := fmt.Sprintf("%s after=%v times=%d write=%d", kind, after, times, at)
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						var limit time.Duration
						if kind == githubtest.Slow {
							limit = 200 * time.Millisecond
						}
						shown := func() string {
							w := newProject(t, nil)
							w.timeout = limit
							w.server.Fail(githubtest.Fault{
								Kind: kind, Writes: true, After: after, Skip: at,
								Times: times, Wait: time.Hour,
							})
							w.story()
							return w.shown()
						}
						got := shown()
						// A machine that is too busy to do a write in that time fails more than one.
						for got != want && limit > 0 && limit < 30*time.Second {
							limit *= 5
							got = shown()
						}
						assert.Equal(t, want, got)
					})
				}
			}
		}
	}
}

// TestStatusIsOneComment also when it may not be edited for a while; one that was deleted is
// written anew.
func TestStatusIsOneComment(t *testing.T) {
	t.Parallel()
	w := newProject(t, nil)
	w.run(history.Rejected, "12")
	statuses := func() (count int) {
		w.server.Change(func(s *githubtest.State) {
			for _, c := range s.Comments {
				if strings.HasPrefix(c.Body, render.StatusMark) {
					count++
				}
			}
		})
		return count
	}
	w.begin()
	w.decide(history.Rejected, "13")
	s := w.service()
	require.NoError(t, w.hear(s))
	w.server.Fail(githubtest.Fault{Kind: githubtest.Forbidden, Method: "PATCH"})
	require.Error(t, w.show(s))
	assert.Equal(t, 1, statuses())
	w.server.Change(func(s *githubtest.State) { s.Comments = nil })
	require.NoError(t, w.show(s))
	assert.Equal(t, 1, statuses())
}

// TestAcceptedIterationsAloneAreCommentedOn is the default: what was rejected is in
// the status, and a pause tells people.
func TestAcceptedIterationsAloneAreCommentedOn(t *testing.T) {
	t.Parallel()
	w := newProject(t, nil)
	w.program.Comments = "accepted"
	for i, outcome := range []state.Status{
		history.Rejected, history.Accepted, history.Error, history.PendingCI,
		history.Rejected, history.Rejected,
	} {
		w.begin()
		s := w.service()
		require.NoError(t, w.hear(s))
		w.decide(outcome, fmt.Sprint(20-i))
		if i == 5 {
			w.add(&history.Paused{Reason: decision.Say("5 rejections in a row")})
		}
		require.NoError(t, w.show(s))
	}
	w.server.Change(func(s *githubtest.State) {
		var marks []string
		for _, c := range s.On(1) {
			mark, _, _ := strings.Cut(c.Body, "\n")
			marks = append(marks, strings.TrimRight(mark, "0123456789 ->"))
		}
		assert.Equal(t, []string{"<!-- AUTOLOOP:STATUS", "<!-- AUTOLOOP:ITERATION", "<!-- AUTOLOOP:NOTICE"}, marks)
		assert.Contains(t, s.On(1)[0].Body, "6 iterations: 1 kept")
	})
}

// TestPersonsPullRequestTextStays has a title and a body that people wrote into,
// and a pull request that is opened as the program says.
func TestPersonsPullRequestTextStays(t *testing.T) {
	t.Parallel()
	w := newProject(t, nil)
	w.program.PullRequest = program.PullRequest{
		Title: "{type}({scope}): {summary}", Type: "perf", Labels: []string{"fast"}, Assignees: []string{"alice"},
		Reviewers: []string{"bob", "org/team"}, WhenReady: "stop",
	}
	step := func(metric string) int {
		t.Helper()
		w.begin()
		s := w.service()
		require.NoError(t, w.hear(s))
		w.decide(history.Accepted, metric)
		number := must(s.Promote(t.Context(), w.account(), "main"))
		w.set(history.PullNumber, fmt.Sprint(number))
		return number
	}
	number := step("8")
	w.server.Change(func(s *githubtest.State) {
		issue := s.Issue(number)
		assert.Equal(t, "perf(speed): try 8", issue.Title)
		assert.Equal(t, []string{"fast"}, issue.Labels)
		assert.Equal(t, []string{"alice"}, issue.Assignees)
		assert.Equal(t, []string{"bob", "/team"}, s.Pull(number).Reviewers)
		issue.Title, issue.Body = "Mine", "See #7.\n\n"+issue.Body+"\n- [x] tried\n"
	})
	assert.Equal(t, number, step("7"))
	w.server.Change(func(s *githubtest.State) {
		issue := s.Issue(number)
		assert.Equal(t, "Mine", issue.Title)
		assert.True(t, strings.HasPrefix(issue.Body, "See #7.\n\n<!-- AUTOLOOP:PULL 2 "), issue.Body)
		assert.True(t, strings.HasSuffix(issue.Body, "\n- [x] tried\n"))
		assert.Contains(t, issue.Body, "seconds: 9 → 7")
		assert.Equal(t, 1, strings.Count(issue.Body, "AUTOLOOP:PULL END"))
	})
}
