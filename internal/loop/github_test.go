package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/tests/golden"
)

var errBroken = errors.New("GitHub is broken")

// TestReadComments: what is read is applied, and GitHub may be away.
func TestReadComments(t *testing.T) {
	t.Parallel()
	t.Run("an outage", func(t *testing.T) {
		t.Parallel()
		d := newMemoryRun(t, "", wasMeasured("1"))
		d.hub.down = true
		d.mayWrite = free
		require.NoError(t, d.readComments(t.Context()))
		first, err := d.lookAtComments(t.Context())
		require.NoError(t, err)
		assert.Empty(t, first)
		assert.Nil(t, d.comments)
		golden.Line(t, d.warnings)
		d.updateGitHub(t.Context())
		assert.Zero(t, d.hub.Changes(), "what was not read is not written")
	})
	t.Run("no issues", func(t *testing.T) {
		t.Parallel()
		d := newMemoryRun(t, "", wasMeasured("1"))
		d.hub.noIssues, d.mayWrite = true, free
		require.NoError(t, d.readComments(t.Context()))
		golden.Line(t, d.warnings)
	})
	t.Run("it looks", func(t *testing.T) {
		t.Parallel()
		d := newMemoryRun(t, "", wasMeasured("1"))
		d.hub.say(commands.Pause, "a holiday")
		d.hub.warnings = []string{"somebody is not trusted"}
		first, err := d.lookAtComments(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "a comment asks for `/autoloop pause`", first)
		assert.Equal(t, d.hub.warnings, d.warnings)
		assert.Empty(t, d.stored.messages)
		assert.Zero(t, d.hub.Changes())
	})
}

// TestReadyForReview: a person who marks the pull request ready stops the program, unless
// it is told to continue.
func TestReadyForReview(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		front string
		heard *commands.Heard
		stops bool
	}{
		{"", nil, false},
		{"", &commands.Heard{Pull: &commands.Pull{Number: 8, Open: true}}, false},
		{"", &commands.Heard{Pull: &commands.Pull{Number: 8, Open: true, Ready: true}}, true},
		{
			"pull-request:\n  when-ready: continue",
			&commands.Heard{Pull: &commands.Pull{Number: 8, Open: true, Ready: true}},
			false,
		},
	} {
		d := newMemoryRun(t, c.front)
		d.comments = c.heard
		why := d.readyForReview()
		assert.Equal(t, c.stops, why != "", "%+v", c)
		if c.stops {
			assert.Contains(t, why, "pull request #8 is ready for review")
			assert.Contains(t, why, "`when-ready: continue`")
		}
	}
}

// TestUpdateGitHub: answers, pull request and issue are brought up to date, and what fails
// keeps nothing else from it.
func TestUpdateGitHub(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][]string{
		"all":                    {},
		"a part of it":           {"promote"},
		"an answer is not taken": {"answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := commands.Answer{Address: commands.Address{ID: 3, On: 7}, Good: true}.String()
			asked := &history.Answered{Key: key, Reason: "It goes on."}
			d := newMemoryRun(t, "", wasMeasured("1"), wasDecided(1, history.Accepted, "4", firstOnRecord), asked)
			d.heard()
			d.unanswered = 1 // it was not taken before
			d.hub.broken = map[string]error{}
			for _, part := range c {
				d.hub.broken[part] = errBroken
			}
			d.updateGitHub(t.Context())
			golden.Line(t, []any{d.told(), d.warnings})
			assert.Equal(t, []int{1, 1}, []int{d.hub.promoted, d.hub.shown})
			assert.Equal(t, !slices.Contains(c, "answer"), len(d.hub.answers) == 1)
		})
	}
}

// TestCommentsAreReadOnce: a comment that the agent was told of is not told again, and one
// that it was not told of is not lost.
func TestCommentsAreReadOnce(t *testing.T) {
	t.Parallel()
	since := noon.Add(-time.Hour).Format(time.RFC3339)
	instruct := comment(4, commands.Command{Kind: commands.Instruct, Text: "try a cache"})
	for _, c := range []struct {
		name        string
		before      []history.Event
		told        bool
		away        bool // GitHub was out of reach
		comments    []commands.Comment
		until       string
		unanswered  int
		first       time.Time
		note        string
		heard, from string // how far comments were read, and from when they are read again
	}{
		{name: "no agent was asked", comments: []commands.Comment{instruct}, until: "4 0 0", from: since},
		{
			name: "out of reach for long", before: []history.Event{wasSet(history.HeardSince, "2025-12-01T00:00:00Z")},
			told: true, away: true, from: "2025-12-01T00:00:00Z",
		},
		{
			name: "an answer did not get through", told: true, comments: []commands.Comment{instruct},
			until:      "4 0 0",
			unanswered: 1, heard: "4 0 0", from: since,
		},
		{
			name: "a later comment was left", told: true, until: "4 0 0",
			first: noon.Add(time.Minute + time.Millisecond), heard: "4 0 0", from: "2026-01-02T12:01:00Z",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRun(t, "", c.before...)
			d.before, d.commentsTold, d.unanswered, d.firstUnreadComment = noon.Add(
				-time.Hour,
			), c.told, c.unanswered, c.first
			if !c.away {
				d.heard(c.comments...).Until = c.until
			}
			for range 2 { // it is recorded once
				require.NoError(t, d.update(t.Context(), "read", nil, adding(d.consumed)))
				settings := d.written().Settings
				assert.Equal(t, c.note, settings.Note)
				assert.Equal(t, c.heard, settings.HeardUntil)
				assert.Equal(t, c.from, settings.HeardSince)
			}
			d.GitHub = nil
			before := d.told()
			require.NoError(t, d.update(t.Context(), "read", nil, adding(d.consumed)))
			assert.Equal(t, before, d.told(), "without GitHub nothing is read")
		})
	}
}

// wasAnswered is a recorded answer to the comment of that number, as old as it is before
// noon.
func wasAnswered(id int64, ago time.Duration) *history.Answered {
	return &history.Answered{
		Head: history.Head{Time: noon.Add(-ago)}, Reason: fmt.Sprintf("answer %d", id),
		Key: commands.Answer{Address: commands.Address{ID: id, On: 7}, Good: true}.String(),
	}
}

// TestWhichAnswersArePosted: those that were recorded since the last run, or since
// comments are to be read again; none twice, none whose address cannot be read, and none that
// another run may be posting now.
func TestWhichAnswersArePosted(t *testing.T) {
	t.Parallel()
	own, another := wasAnswered(4, 0), wasAnswered(5, answering-time.Second)
	own.Run, another.Run = "now", "another"
	list := []history.Event{
		wasMeasured("1"), wasAnswered(1, 3*time.Hour), wasAnswered(2, 2*time.Hour), wasAnswered(3, time.Hour),
		wasAnswered(3, time.Hour),
		&history.Answered{Head: history.Head{Time: noon}, Key: "to nobody", Reason: "answer 9"}, another, own,
	}
	for name, c := range map[string]struct {
		before time.Time
		since  string
		want   []string
	}{
		"a first run":        {want: []string{"answer 1", "answer 2", "answer 3", "answer 4"}},
		"since the last run": {before: noon.Add(-2 * time.Hour), want: []string{"answer 2", "answer 3", "answer 4"}},
		"since one failed":   {before: noon, since: "2026-01-02T11:00:00Z", want: []string{"answer 3", "answer 4"}},
		"no time but a word": {
			before: noon, since: "yesterday",
			want: []string{"answer 1", "answer 2", "answer 3", "answer 4"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRun(t, "", append(slices.Clone(list), wasSet(history.HeardSince, c.since))...)
			d.before = c.before
			for range 2 {
				d.answer(t.Context())
				assert.Equal(t, c.want, d.hub.answers)
				assert.Equal(t, len(c.want), d.hub.posts, "a run does not look for what it posted itself")
			}
			assert.Empty(t, d.warnings)
			assert.Equal(t, len(c.want) > 0, d.unanswered == 1, "the other run's is left to a later run")
		})
	}
}

func TestMarkOfCommentsIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mark                commands.Mark
		there, before, want string
	}{
		{commands.Mark{5, 6, 7}, "5 6 7", "1 1 1", "5 6 7"},
		{commands.Mark{5, 6, 7}, "9 9 9", "1 1 1", "5 6 7"},
		{commands.Mark{999, 999, 999}, "9 8 7", "1 1 1", "9 8 7"},
		{commands.Mark{}, "9 8 7", "4 3 2", "4 3 2"},
		{commands.Mark{5}, "", "4 3 2", ""},
	} {
		assert.Equal(t, c.want, until(c.mark, c.there, c.before))
	}
}

// TestWhoRestsSaysNothing to GitHub, unless a comment was answered.
func TestWhoRestsSaysNothing(t *testing.T) {
	t.Parallel()
	for _, answered := range []bool{false, true} {
		d := newMemoryRun(t, "", wasMeasured("1"))
		d.heard()
		if answered {
			d.answered = map[string]bool{"4": true}
		}
		_, err := d.through(t.Context(), func(context.Context) error { return &endedError{resting: true} })
		require.NoError(t, err)
		assert.Equal(t, answered, d.hub.promoted > 0 || d.hub.Changes() > 0)
	}
}
