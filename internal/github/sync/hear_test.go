package sync_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

func TestOnlyTrustedPeopleSteer(t *testing.T) {
	t.Parallel()
	w := newProject(t, func(s *githubtest.State) {
		own(s)
		s.Permissions["private"] = "write"
		s.Say("alice", 1, "try a cache", noon)
		s.Say("mallory", 1, "/autoloop pause", noon)
		s.Say("mallory", 1, render.StatusMark+"\nlook at me", noon)
		s.Say("dependabot[bot]", 1, "/autoloop undo 1", noon)
		s.Say("private", 1, "please\n/autoloop set target-metric 4", noon)
		s.Say("bob", 1, "/autoloop other: pause", noon)
		s.Roles["claude[bot]"] = "COLLABORATOR"
		s.Say("claude[bot]", 1, "/autoloop undo 1", noon)
		s.Say("alice", 1, render.IterationMark(3)+"\nmine, by my token", noon)
	})
	w.begin()
	s := w.service()
	heard := must(hear(t.Context(), s, w.account()))
	var said []string
	for _, c := range heard.Comments {
		said = append(said, fmt.Sprintf("%s %d %q", c.Author, len(c.Commands), c.Text))
	}
	assert.Contains(t, heard.Comments[2].Commands[0].Problem, "say it on the issue of `other`")
	assert.Equal(t, []string{`alice 0 "try a cache"`, `private 1 "please"`, `bob 1 ""`}, said)
	w.set(history.HeardUntil, heard.Until)
	w.decide(history.Rejected, "9")
	require.NoError(t, w.show(s))
	w.server.Change(func(s *githubtest.State) {
		assert.Empty(t, s.Reactions)
		status := 0
		for _, c := range s.On(1) {
			if strings.HasPrefix(c.Body, render.StatusMark) && c.Author == "autoloop[bot]" {
				status++
			}
		}
		assert.Equal(t, 1, status, "a stranger's look-alike is not taken for ours")
	})
	w.begin()
	heard = must(hear(t.Context(), w.service(), w.account()))
	assert.Empty(t, heard.Comments, "what was heard is not heard again")
}

func TestPeopleWhoMaySteer(t *testing.T) {
	t.Parallel()
	for _, row := range []string{ // ROLE PERMISSION => whether, and who is trusted by the frontmatter
		"OWNER admin => true", "MEMBER write => true", "MEMBER read => false", "COLLABORATOR read => false",
		"CONTRIBUTOR write => true", "NONE read => false", "MEMBER write => false [OWNER]",
		"OWNER admin => true [OWNER]", "CONTRIBUTOR write => false [OWNER]",
		"NONE read => false [NONE, CONTRIBUTOR]", "CONTRIBUTOR write => true [CONTRIBUTOR]",
		"COLLABORATOR write => false [MEMBER]", "OWNER admin => false [COLLABORATOR]",
	} {
		t.Run(row, func(t *testing.T) {
			t.Parallel()
			part := strings.SplitN(row+" ", " ", 5)
			w := newProject(t, func(s *githubtest.State) {
				own(s)
				s.Roles["carol"], s.Permissions["carol"] = part[0], part[1]
				s.Say("carol", 1, "/autoloop pause", noon)
				s.Say("carol", 1, "/autoloop resume", noon)
			})
			if trusted := part[4]; trusted != "" {
				w.program = program.Parse(".autoloop/programs/speed.md",
					[]byte(strings.Replace(text, "metric: seconds",
						"metric: seconds\ntrusted-associations: "+trusted, 1)))
			}
			service := w.service()
			heard := must(hear(t.Context(), service, w.account()))
			assert.Equal(t, part[3] == "true", len(heard.Comments) == 2, "%v", heard.Comments)
			_, err := hear(t.Context(), service, w.account())
			require.NoError(t, err)
			asked := 0
			for _, call := range w.server.Calls() {
				if strings.Contains(call.Pattern, "/collaborators") {
					asked++
				}
			}
			assert.LessOrEqual(t, asked, 1, "a person is asked for once in a run")
		})
	}
}

func TestUnreadablePermissionTrustsNobody(t *testing.T) {
	t.Parallel()
	w := newProject(t, func(s *githubtest.State) {
		own(s)
		s.Say("alice", 1, "/autoloop pause", noon)
		s.NoPermissions = true
	})
	heard := must(hear(t.Context(), w.service(), w.account()))
	assert.Empty(t, heard.Comments)
	assert.Empty(t, heard.Until, "they are read again the next time")
	require.Len(t, heard.Warnings, 1)
	assert.Contains(t, heard.Warnings[0], "were not read, since who may push could")
}

func TestIssueNamesNoTrustedPeople(t *testing.T) {
	t.Parallel()
	front := strings.Replace(text, "metric: seconds", "metric: seconds\ntrusted-associations: [NONE]", 1)
	w := newProject(t, func(s *githubtest.State) {
		s.OpenIssue("alice", "Speed", front, noon, "autoloop-program")
		s.Say("mallory", 1, "/autoloop pause", noon)
	})
	w.program = program.ParseIssue(1, "Speed", []byte(front))
	heard := must(hear(t.Context(), w.service(), w.account()))
	assert.Empty(t, heard.Comments)
	w.program.Issue = 0 // as a file it does
	heard = must(hear(t.Context(), w.service(), w.account()))
	assert.Empty(t, heard.Comments, "on the issue that is opened for it")
}

func TestCommentsOnThePullRequestSteerToo(t *testing.T) {
	t.Parallel()
	w := newProject(t, nil)
	w.run(history.Accepted, "8")
	w.clock.Add(time.Hour)
	w.server.Change(func(s *githubtest.State) {
		pull := s.Pulls[0].Number
		s.Say("alice", pull, "smaller steps please", w.clock.Now())
		s.Say("mallory", pull, "/autoloop pause", w.clock.Now())
		for _, who := range []string{"bob", "mallory"} {
			s.Say(who, pull, "this is unsafe", w.clock.Now()).Path = "a.go"
			s.Say(who, pull, "too large\n\n/autoloop pause", w.clock.Now()).Review = true
		}
		s.Issue(pull).Updated = w.clock.Now()
	})
	w.begin()
	s := w.service()
	heard := must(hear(t.Context(), s, w.account()))
	require.Len(t, heard.Comments, 3)
	talk, review, line := heard.Comments[0], heard.Comments[1], heard.Comments[2]
	assert.Equal(t, "smaller steps please", talk.Text)
	assert.Equal(t, "too large", review.Text)
	assert.Equal(t, []commands.Command{{Kind: commands.Pause}}, review.Commands)
	assert.Equal(t, "on a.go: this is unsafe", line.Text)
	assert.Equal(t, commands.Lines, line.Place)
	for _, c := range []commands.Comment{review, line, talk, talk} {
		to := commands.Answer{Address: c.Address, Good: true}
		again, ok := commands.ParseAnswer(to.String())
		require.True(t, ok)
		require.NoError(t, s.Answer(t.Context(), again, "done"))
	}
	w.server.Change(func(state *githubtest.State) {
		assert.Len(t, state.Reactions, 2, "a review takes none")
		on := state.On(state.Pulls[0].Number)
		assert.Equal(t, render.Reply(talk.ID, "done"), on[len(on)-1].Body)
		assert.Len(t, on, 9, "one reply to each")
	})
	w.set(history.HeardUntil, heard.Until)
	heard = must(hear(t.Context(), w.service(), w.account()))
	assert.Empty(t, heard.Comments, "each is heard once")
}

// TestAnswerOfUnknownFateIsLookedForFirst: its posting broke off, and so did the look whether
// it is there.
func TestAnswerOfUnknownFateIsLookedForFirst(t *testing.T) {
	t.Parallel()
	w := newProject(t, nil)
	s := w.service()
	heard := must(hear(t.Context(), s, w.account()))
	var asked int64
	w.server.Change(func(state *githubtest.State) { asked = state.Say("alice", heard.Issue, "/autoloop run", noon).ID })
	w.server.Fail(githubtest.Fault{Kind: githubtest.Dropped, Method: "POST", Path: "/comments", Skip: 1, After: true})
	w.server.Fail(githubtest.Fault{Kind: githubtest.Dropped, Method: "GET", Path: "/comments", Times: 9})
	to := commands.Answer{Address: commands.Address{ID: asked, On: heard.Issue}, Good: true}
	require.Error(t, s.Answer(t.Context(), to, "done"))
	w.server.Mend()
	require.NoError(t, s.Answer(t.Context(), to, "done"))
	w.server.Change(func(state *githubtest.State) { assert.Len(t, state.On(heard.Issue), 2) })
}

// TestClosedPullRequestIsHeard, once: it says why it was closed, and our own
// message there asks for a command.
func TestClosedPullRequestIsHeard(t *testing.T) {
	t.Parallel()
	w := newProject(t, nil)
	w.run(history.Accepted, "8")
	w.clock.Add(72 * time.Hour) // then each place is read by itself
	w.server.Close(w.pull())
	w.server.Change(func(s *githubtest.State) {
		s.Say("alice", s.Pulls[0].Number, "it is too large", w.clock.Now())
		s.Say("bob", s.Pulls[0].Number, "/autoloop resume", w.clock.Now())
	})
	w.begin()
	heard := must(hear(t.Context(), w.service(), w.account()))
	require.Len(t, heard.Comments, 2)
	assert.Equal(t, "it is too large", heard.Comments[0].Text)
	assert.Equal(t, []commands.Command{{Kind: commands.Resume}}, heard.Comments[1].Commands)
	w.set(history.HeardUntil, heard.Until)
	heard = must(hear(t.Context(), w.service(), w.account()))
	assert.Empty(t, heard.Comments)
}

func TestOwnIssueIsAdoptedOrReopened(t *testing.T) {
	t.Parallel()
	open := func(author, title string) func(*githubtest.State) {
		return func(s *githubtest.State) { s.OpenIssue(author, title, "", noon, "autoloop-program") }
	}
	for name, c := range map[string]struct {
		fill func(s *githubtest.State)
		want int
	}{
		"new":              {nil, 1},
		"open":             {open("alice", "[Autoloop: speed]"), 1},
		"of another":       {open("alice", "[Autoloop: speedy]"), 2},
		"of a stranger":    {open("mallory", "[Autoloop: speed]"), 2},
		"closed":           {func(s *githubtest.State) { own(s).Open = false }, 1},
		"open before shut": {func(s *githubtest.State) { own(s).Open = false; own(s) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newProject(t, c.fill)
			heard := must(hear(t.Context(), w.service(), w.account()))
			assert.Equal(t, c.want, heard.Issue)
			w.server.Change(func(s *githubtest.State) { assert.True(t, s.Issue(c.want).Open) })
		})
	}
}

func own(s *githubtest.State) *githubtest.Issue {
	return s.OpenIssue("autoloop[bot]", "[Autoloop: speed]", "", noon, "autoloop-program")
}

// TestTransferredIssueIsGone: the issue here that has its number in the other repository is a
// stranger's, and stays untouched; the program gets an issue of its own again.
func TestTransferredIssueIsGone(t *testing.T) {
	t.Parallel()
	w := newProject(t, nil)
	w.run(history.Accepted, "8")
	var own, stranger int
	w.server.Change(func(s *githubtest.State) {
		own = s.Issues[0].Number
		issue := s.OpenIssue("mallory", "mine", "", w.clock.Now())
		issue.Open, stranger = false, issue.Number
		s.Say("alice", stranger, "/autoloop pause", w.clock.Now().Add(time.Hour))
		s.Transferred = map[int]int{own: stranger}
		s.Issues[0].Labels = nil // it is not listed any more
		s.Issues[0].Title = "gone"
	})
	w.begin()
	service := w.service()
	heard := must(hear(t.Context(), service, w.account()))
	assert.Empty(t, heard.Comments)
	assert.NotContains(t, []int{own, stranger}, heard.Issue)
	w.decide(history.Accepted, "7")
	require.NoError(t, w.show(service))
	w.server.Change(func(s *githubtest.State) {
		assert.False(t, s.Issue(stranger).Open)
		assert.Empty(t, s.Issue(stranger).Labels)
		assert.Len(t, s.On(stranger), 1, "nothing was said there")
	})
}

func TestIssueBodyIsNeverEdited(t *testing.T) {
	t.Parallel()
	w := newProject(t, func(s *githubtest.State) { s.OpenIssue("alice", "Speed", text, noon, "autoloop-program") })
	w.program = program.ParseIssue(1, "Speed", []byte(text))
	w.begin()
	s := w.service()
	require.NoError(t, w.hear(s))
	w.decide(history.Accepted, "8")
	w.add(&history.Paused{Reason: decision.Say("it needs @you")})
	require.NoError(t, w.show(s))
	w.server.Change(func(s *githubtest.State) {
		assert.Equal(t, text, s.Issue(1).Body)
		said := s.On(1)[0].Body
		assert.Contains(t, said, "is paused**: it needs @\u200byou")
		assert.True(t, strings.HasSuffix(said, "\n@alice\n"), "its author is told")
	})
}

func TestActionsMayNotOpenPulls(t *testing.T) {
	t.Parallel()
	w := newProject(t, func(s *githubtest.State) { s.NoPulls = true })
	w.begin()
	s := w.service()
	require.NoError(t, w.hear(s))
	w.decide(history.Accepted, "8")
	_, err := s.Promote(t.Context(), w.account(), "main")
	require.ErrorContains(t, err, "Settings, Actions, General")
	require.NoError(t, s.Show(t.Context(), w.account()), "the rest goes on")
}

func TestWithoutIssuesThePullRequestIsOpened(t *testing.T) {
	t.Parallel()
	w := newProject(t, func(s *githubtest.State) { s.NoIssues = true })
	w.begin()
	s := w.service()
	assert.Zero(t, must(hear(t.Context(), s, w.account())).Issue)
	w.decide(history.Accepted, "8")
	require.NoError(t, w.show(s))
	w.run(history.Accepted, "7")
	w.server.Change(func(s *githubtest.State) {
		require.Len(t, s.Pulls, 1)
		assert.Contains(t, s.Issue(s.Pulls[0].Number).Body, "→ 7**")
	})
}

func TestWithoutAGainThereIsNoPullRequest(t *testing.T) {
	t.Parallel()
	w := newProject(t, nil)
	w.begin()
	s := w.service()
	require.NoError(t, w.hear(s))
	w.decide(history.Rejected, "9")
	number := must(s.Promote(t.Context(), w.account(), "main"))
	assert.Zero(t, number)
	w.begin()
	w.decide(history.Accepted, "8")
	require.NoError(t, w.show(s))
	w.server.Close(w.pull())
	w.begin()
	s = w.service()
	require.NoError(t, w.hear(s))
	number = must(s.Promote(t.Context(), w.account(), "main"))
	assert.Zero(t, number, "one that a person closed is not opened again")
}

func TestMissedCommentIsShownLater(t *testing.T) {
	t.Parallel()
	w := newProject(t, nil)
	w.run(history.Rejected, "10")
	for range 3 { // GitHub is down
		w.begin()
		w.decide(history.Rejected, "11")
	}
	w.run(history.Rejected, "12")
	shown := w.shown()
	at := -1
	for i := range 5 {
		next := strings.Index(shown, render.IterationMark(i+1))
		assert.Greater(t, next, at, "iteration %d, in order: %s", i+1, shown)
		at = next
	}
	assert.Equal(t, 1, strings.Count(shown, render.StatusMark))
}

// TestMarksOfOthersAreNotOurs has another bot and a member quote our marks: their comments
// stay as they are, and stand for none of ours. A token that is a person's may say whose it is.
func TestMarksOfOthersAreNotOurs(t *testing.T) {
	t.Parallel()
	for name, me := range map[string]string{"an app": "loop[bot]", "a person": "alice"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newProject(t, func(s *githubtest.State) { s.Me = me })
			w.run(history.Accepted, "8")
			issue := 0
			w.server.Change(func(s *githubtest.State) {
				issue = s.Issues[0].Number
				ours := s.On(issue)
				for _, who := range []string{"other[bot]", "bob"} {
					for _, c := range ours {
						s.Say(who, issue, c.Body, w.clock.Now())
					}
					s.Say(who, issue, render.IterationMark(2)+"\nmine", w.clock.Now())
				}
			})
			w.clock.Add(time.Minute)
			w.run(history.Accepted, "7")
			w.server.Change(func(s *githubtest.State) {
				second := 0
				for _, c := range s.On(issue) {
					if c.Author != me {
						assert.Equal(t, c.Created, c.Updated, "%s: %s", c.Author, c.Body)
					} else if strings.HasPrefix(c.Body, render.IterationMark(2)) {
						second++
					}
				}
				assert.Equal(t, 1, second, "the second iteration is told")
			})
		})
	}
}
