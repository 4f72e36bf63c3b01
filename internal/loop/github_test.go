package loop

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/program"
)

var errBroken = errors.New("GitHub is broken")

// TestReadComments: what is read is applied, and GitHub may be away.
func TestReadComments(t *testing.T) {
	t.Parallel()
	t.Run("without GitHub", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, "", wasMeasured("1"))
		d.GitHub = nil
		d.mayWrite = free
		require.NoError(t, d.readComments(t.Context()))
		first, err := d.lookAtComments(t.Context())
		require.NoError(t, err)
		assert.Empty(t, first)
		assert.Nil(t, d.thread.comments)
		assert.Empty(t, d.shelf.messages)
	})
	t.Run("an outage", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, "", wasMeasured("1"))
		d.hub.down = true
		d.mayWrite = free
		require.NoError(t, d.readComments(t.Context()))
		first, err := d.lookAtComments(t.Context())
		require.NoError(t, err)
		assert.Empty(t, first)
		assert.Nil(t, d.thread.comments)
		assert.Equal(t, []string{"the issue and the pull request were not read: no route to GitHub"}, d.warnings,
			"it is said once")
		d.updateGitHub(t.Context())
		assert.Zero(t, d.hub.Changes(), "what was not read is not written")
	})
	t.Run("it reads and applies", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, "", wasMeasured("1"))
		d.hub.say(commands.Pause, "a holiday")
		d.hub.warnings, d.hub.author = []string{"somebody is not trusted"}, "mona"
		d.mayWrite = free
		require.NoError(t, d.readComments(t.Context()))
		assert.Equal(t, []string{"issue=7", "author=mona", "paused", "answered", "commands=1 0 0"}, d.told())
		assert.Equal(t, []string{"Paused. `/autoloop resume` goes on."}, d.hub.answers)
		assert.Equal(t, []string{"somebody is not trusted"}, d.warnings)
		assert.Equal(t, decision.Text(d.records.sum.Paused), decision.Text(d.written().sum.Paused), "the run knows it")
	})
	t.Run("it looks", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, "", wasMeasured("1"))
		d.hub.say(commands.Pause, "a holiday")
		d.hub.warnings = []string{"somebody is not trusted"}
		first, err := d.lookAtComments(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "a comment asks for `/autoloop pause`", first)
		assert.Equal(t, d.hub.warnings, d.warnings)
		assert.Empty(t, d.shelf.messages)
		assert.Zero(t, d.hub.Changes())
	})
	t.Run("a claim that is refused", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t, "", wasMeasured("1"))
		d.hub.say(commands.Pause, "a holiday")
		require.ErrorIs(t, d.readComments(t.Context()), errLeaseLost)
		assert.Empty(t, d.hub.answers, "an answer never speaks of what is not recorded")
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
		{"", &commands.Heard{}, false},
		{"", &commands.Heard{Pull: &commands.Pull{Number: 8, Open: true}}, false},
		{"", &commands.Heard{Pull: &commands.Pull{Number: 8, Open: true, Ready: true}}, true},
		{
			"pull-request:\n  when-ready: stop",
			&commands.Heard{Pull: &commands.Pull{Number: 8, Open: true, Ready: true}},
			true,
		},
		{
			"pull-request:\n  when-ready: continue",
			&commands.Heard{Pull: &commands.Pull{Number: 8, Open: true, Ready: true}},
			false,
		},
	} {
		d := newDesk(t, c.front)
		d.thread.comments = c.heard
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
	for name, c := range map[string]struct {
		broken     []string
		unpromoted bool
		told       []string
		warns      []string
	}{
		"all":                {told: []string{"pull=8"}},
		"nothing to promote": {unpromoted: true, told: []string{}},
		"no pull request": {
			unpromoted: true, broken: []string{"promote"}, told: []string{},
			warns: []string{"the pull request is not up to date"},
		},
		"a part of it": {
			broken: []string{"promote"}, told: []string{"pull=8"},
			warns: []string{"the pull request is not up to date"},
		},
		"no issue": {
			broken: []string{"show"}, told: []string{"pull=8"},
			warns: []string{"the issue is not up to date, the next run retries"},
		},
		"neither": {
			unpromoted: true, broken: []string{"promote", "show"}, told: []string{},
			warns: []string{"the pull request is not up to date", "the issue is not up to date"},
		},
		"an answer is not taken": {
			broken: []string{"answer"}, told: []string{"pull=8"},
			warns: []string{"a comment was not answered"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := &history.Answered{Key: commands.Answer{ID: 3, On: 7, Good: true}.String(), Reason: "It goes on."}
			d := newDesk(t, "", wasMeasured("1"), wasDecided(1, history.Accepted, "4", firstOnRecord), asked)
			d.heard()
			d.unanswered = 1 // it was not taken before
			d.hub.unpromoted, d.hub.broken = c.unpromoted, map[string]error{}
			for _, part := range c.broken {
				d.hub.broken[part] = errBroken
			}
			d.updateGitHub(t.Context())
			assert.Equal(t, c.told, d.told())
			assert.Equal(t, []int{1, 1}, []int{d.hub.promoted, d.hub.shown})
			assert.Len(t, d.warnings, len(c.warns))
			for i, want := range c.warns {
				assert.Contains(t, d.warnings[i], want)
				assert.Contains(t, d.warnings[i], errBroken.Error())
			}
			assert.Equal(t, !slices.Contains(c.broken, "answer"), len(d.hub.answers) == 1)
		})
	}
}

// TestThePullRequestsNumber is noted once, and in the history entry of what went into it
// last, which was written before it was known.
func TestThePullRequestsNumber(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before []history.Event
		entry  int // the iteration whose entry names it, 0 for none
	}{
		"nothing was kept": {[]history.Event{wasMeasured("1"), wasDecided(1, history.Rejected, "1", "")}, 0},
		"the last was kept": {
			[]history.Event{wasMeasured("1"), wasDecided(1, history.Accepted, "4", firstOnRecord)},
			1,
		},
		"one before it was kept": {[]history.Event{
			wasMeasured("1"), wasDecided(1, history.Accepted, "4", firstOnRecord),
			wasDecided(2, history.Rejected, "4", ""),
		}, 1},
		"the last waits for CI": {[]history.Event{
			wasMeasured("1"), wasDecided(1, history.Accepted, "4", firstOnRecord),
			wasDecided(2, history.PendingCI, "5", secondOnRecord),
		}, 2},
		"CI turned the last down": {[]history.Event{
			wasMeasured("1"), wasDecided(1, history.Accepted, "4", firstOnRecord),
			wasDecided(2, history.CIFixExhausted, "5", ""),
		}, 1},
		"every one was in an error": {[]history.Event{wasMeasured("1"), wasDecided(1, history.Error, "1", "")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, "", c.before...)
			d.heard()
			for range 2 {
				require.NoError(t, d.promote(t.Context()))
			}
			assert.Equal(t, []string{"pull=8"}, d.told())
			assert.Equal(t, []string{"p: pull request #8"}, d.shelf.messages)
			_, shown, _ := strings.Cut(string(d.shelf.files.State), "Iteration History")
			assert.Equal(t, 8, d.written().machine.PR)
			entries := strings.Split(shown, "### Iteration ")
			for _, text := range entries[1:] {
				number, _, _ := strings.Cut(text, " ")
				assert.Equal(t, number == "1" && c.entry == 1 || number == "2" && c.entry == 2,
					strings.Contains(text, "#8"), text)
			}
		})
	}
}

// TestWhatIsReadIsReadOnce: a comment that the agent was told of is not told again, and one
// that it was not told of is not lost.
func TestWhatIsReadIsReadOnce(t *testing.T) {
	t.Parallel()
	since := noon.Add(-time.Hour).Format(time.RFC3339)
	instruct := comment(4, commands.Command{Kind: commands.Instruct, Text: "try a cache"})
	for _, c := range []struct {
		name        string
		before      []history.Event
		shown       commentsShown
		away        bool // GitHub was out of reach
		comments    []commands.Comment
		until       string
		unanswered  int
		first       time.Time
		note        string
		heard, from string // how far comments were read, and from when they are read again
	}{
		{name: "nothing was said", shown: commentsTold},
		{
			name: "it was told", shown: commentsTold, comments: []commands.Comment{instruct}, until: "4 0 0",
			heard: "4 0 0",
		},
		{
			name: "a note was told", before: []history.Event{wasSet(history.Note, "x")}, shown: commentsTold,
			until: "4 0 0",
			heard: "4 0 0",
		},
		{
			name: "a note was not told", before: []history.Event{wasSet(history.Note, "x")}, until: "4 0 0", note: "x",
			from: since,
		},
		{name: "no agent was asked", comments: []commands.Comment{instruct}, until: "4 0 0", from: since},
		{
			name:     "no agent was asked, and nobody said anything",
			comments: []commands.Comment{comment(4, commands.Command{Kind: commands.Run})}, until: "4 0 0",
		},
		{name: "left to a later run", shown: commentsLeft, until: "4 0 0", from: since},
		{name: "out of reach", shown: commentsTold, away: true, from: since},
		{
			name: "out of reach for long", before: []history.Event{wasSet(history.HeardSince, "2025-12-01T00:00:00Z")},
			shown: commentsTold, away: true, from: "2025-12-01T00:00:00Z",
		},
		{
			name: "within reach again", before: []history.Event{wasSet(history.HeardSince, "2025-12-01T00:00:00Z")},
			shown: commentsTold, until: "4 0 0", heard: "4 0 0",
		},
		{
			name: "an answer did not get through", shown: commentsTold, comments: []commands.Comment{instruct},
			until:      "4 0 0",
			unanswered: 1, heard: "4 0 0", from: since,
		},
		{
			name: "a later comment was left", shown: commentsTold, until: "4 0 0",
			first: noon.Add(time.Minute + time.Millisecond), heard: "4 0 0", from: "2026-01-02T12:01:00Z",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, "", c.before...)
			d.before, d.shown, d.unanswered, d.firstUnreadComment = noon.Add(-time.Hour), c.shown, c.unanswered, c.first
			if !c.away {
				d.heard(c.comments...).Until = c.until
			}
			for range 2 { // it is recorded once
				require.NoError(t, d.update(t.Context(), "read", nil, adding(d.consumed)))
				settings := d.written().sum.Settings
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

// TestInstructions are the note, then what was said in comments, in their order; commands
// are no instructions.
func TestInstructions(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "", wasMeasured("1"))
	assert.Empty(t, d.instructions())
	d.heard()
	assert.Empty(t, d.instructions())

	d = newDesk(t, "", wasMeasured("1"), wasSet(history.Note, "one\ntwo"))
	assert.Equal(t, []string{"one\ntwo"}, d.instructions())
	first := comment(1, commands.Command{Kind: commands.Instruct, Text: "a cache"},
		commands.Command{Kind: commands.Pause, Text: "not this"},
		commands.Command{Kind: commands.Instruct, Text: "or none"},
		commands.Command{Kind: commands.Wrong, Problem: "nor this"},
		commands.Command{Kind: commands.Note, Text: "nor this twice"})
	first.Text, first.Time = "free text", time.Date(2026, 1, 2, 14, 0, 1, 0, time.FixedZone("", 2*3600))
	second := comment(2)
	second.Author, second.Text = "mona", "more"
	d.heard(first, comment(5), second)
	assert.Equal(t, []string{
		"one\ntwo", "owner, 2026-01-02T12:00:01Z:\nfree text", "owner, 2026-01-02T12:00:01Z:\na cache",
		"owner, 2026-01-02T12:00:01Z:\nor none", "mona, 2026-01-02T12:00:02Z:\nmore",
	}, d.instructions())
}

// TestMerged: only the head of a pull request that was merged.
func TestMerged(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "")
	for _, c := range []struct {
		heard *commands.Heard
		head  string
		want  bool
	}{
		{nil, firstOnRecord, false},
		{&commands.Heard{}, firstOnRecord, false},
		{&commands.Heard{Pull: &commands.Pull{Open: true, Head: firstOnRecord}}, firstOnRecord, false},
		{&commands.Heard{Pull: &commands.Pull{Head: firstOnRecord}}, firstOnRecord, false},
		{&commands.Heard{Pull: &commands.Pull{Merged: true, Head: firstOnRecord}}, secondOnRecord, false},
		{&commands.Heard{Pull: &commands.Pull{Merged: true, Head: firstOnRecord}}, firstOnRecord, true},
	} {
		d.thread.comments = c.heard
		assert.Equal(t, c.want, d.merged(c.head), "%+v", c.heard)
		merged := d.mergedHead()
		assert.Equal(t, c.heard != nil && c.heard.Pull != nil && c.heard.Pull.Merged, merged != "", "%+v", c.heard)
	}
}

// TestNumbersInTheState: issue and pull request of the settings, whatever they say, and the
// number of an issue program; a pull request that has ended is none.
func TestNumbersInTheState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		issue, pull, ended int
		own                int // the number of an issue program
		was                state.Machine
		want               [2]int
		open               int
	}{
		{},
		{issue: 7, pull: 8, want: [2]int{7, 8}, open: 8},
		{own: 5, want: [2]int{5, 0}},
		{own: 5, issue: 7, want: [2]int{7, 0}},
		{pull: 8, ended: 8, was: state.Machine{PR: 8}},
		{pull: 9, ended: 8, want: [2]int{0, 9}, open: 9},
		{ended: 8, was: state.Machine{Issue: 3, PR: 8}, want: [2]int{3, 0}},
		{was: state.Machine{Issue: 3, PR: 4}, want: [2]int{3, 4}},
	} {
		p := &program.Program{Name: "p"}
		p.Issue = c.own
		b := &records{
			session: sessionOf(p), doc: state.New("p"), machine: c.was, table: &results.Table{},
			sum: history.Summary{Settings: history.Settings{Issue: c.issue, Pull: c.pull, PullEnded: c.ended}},
		}
		m, _, err := state.ParseMachine(b.files().State)
		require.NoError(t, err)
		assert.Equal(t, c.want, [2]int{m.Issue, m.PR}, "%+v", c)
		assert.Equal(t, c.open, b.sum.OpenPull(), "%+v", c)
	}
}

// TestASettingIsRecordedWhenItChanges.
func TestASettingIsRecordedWhenItChanges(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "", wasMeasured("1"))
	for _, value := range []string{"", "a", "a", "b", "", "", "b"} {
		require.NoError(t, d.update(t.Context(), "set", nil,
			adding(func(b *records) { b.set(history.Note, value) })))
		assert.Equal(t, value, d.written().sum.Note)
	}
	assert.Equal(t, []string{"note=a", "note=b", "note=", "note=b"}, d.told())
}
