package loop

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/tests/golden"
)

// heard is what the run read on GitHub: these comments.
func (d *memoryRun) heard(comments ...commands.Comment) *commands.Heard {
	d.comments = &commands.Heard{Issue: 7, Comments: comments}
	return d.comments
}

// comment is the comment of that number, by the owner.
func comment(id int64, list ...commands.Command) commands.Comment {
	return commands.Comment{
		Address: commands.Address{ID: id, On: 7}, Author: "owner", Time: noon.Add(time.Duration(id) * time.Second),
		Commands: list,
	}
}

// answersOf are the recorded answers, in order, with their addresses.
func answersOf(b *records) (texts []string, to []commands.Answer) {
	for _, e := range history.Of[*history.Answered](b.log.Events) {
		address, _ := commands.ParseAnswer(e.Key)
		texts, to = append(texts, e.Reason), append(to, address)
	}
	return texts, to
}

func free(*records) error { return nil }

// TestEffectsOfCommands: what each command records, and what its author is told.
func TestEffectsOfCommands(t *testing.T) {
	t.Parallel()
	five := metricOf("5")
	for _, c := range []struct {
		name    string
		front   string
		before  []history.Event
		say     []commands.Command
		told    string // the events between the issue's number and the answer
		bad     bool
		stopped string // what stops the program, by its first word
		asked   bool
	}{
		{
			name: "pause", say: []commands.Command{{Kind: commands.Pause, Text: "a holiday"}}, told: "paused",
			stopped: "paused",
		},
		{
			name: "a target that is reached", before: []history.Event{wasMeasured("5")},
			say:     []commands.Command{{Kind: commands.SetTarget, Target: five}},
			told:    "target-metric-was=— target-metric=5 completed",
			stopped: "completed",
		},
		{
			name: "run", before: []history.Event{wasMeasured("1"), wasDecided(1, history.Rejected, "1", "")},
			say: []commands.Command{{Kind: commands.Run}}, asked: true,
		},
		{name: "an instruction", say: []commands.Command{{Kind: commands.Instruct, Text: "try a cache"}}},
		{
			name: "a note after another", before: []history.Event{wasSet(history.Note, "one")},
			say: []commands.Command{{Kind: commands.Note, Text: "two"}}, told: "note=one\ntwo",
		},
		{
			name: "not understood", say: []commands.Command{{Kind: commands.Wrong, Problem: "say which iteration"}},
			bad: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRun(t, c.front, c.before...)
			d.heard(comment(4, c.say...))
			require.NoError(t, d.entered())
			want := "issue=7"
			if c.told != "" {
				want += " " + c.told
			}
			assert.Equal(t, want+" answered commands=4 0 0", strings.Join(d.told(), " "))
			after := d.written()
			texts, to := answersOf(after)
			golden.Line(t, strings.Join(append(texts, d.stopped), " | "))
			assert.Equal(t, []commands.Answer{{Address: commands.Address{ID: 4, On: 7}, Good: !c.bad}}, to)
			assert.Equal(t, c.asked, d.asked)
			assert.Equal(t, c.stopped == "paused", after.machine.Paused)
			assert.Equal(t, c.stopped == "completed", after.machine.Completed)
			assert.Equal(t, after.machine.Paused, decision.Text(after.Paused) != "",
				"state and ledger say the same")
			assert.Equal(t, after.machine.Completed, after.Completed != nil, "state and ledger say the same")
		})
	}
}

// TestRunningWhatIsPausedSaysWhy: in words that mean nothing to GitHub.
func TestRunningWhatIsPausedSaysWhy(t *testing.T) {
	t.Parallel()
	d := newMemoryRun(t, "", wasMeasured("1"), &history.Paused{Reason: decision.Say("Fixes #1, @org/team")})
	d.heard(comment(1, commands.Command{Kind: commands.Run}))
	require.NoError(t, d.entered())
	texts, _ := answersOf(d.written())
	require.Len(t, texts, 1)
	assert.Contains(t, texts[0], "now: paused: Fixes #\u200b1, @\u200borg/team")
}

// TestEndOfPullRequest: a merge is noted, a person who closes it pauses the program,
// and one that is opened again goes on.
func TestEndOfPullRequest(t *testing.T) {
	t.Parallel()
	gain := []history.Event{wasMeasured("1"), wasDecided(1, history.Accepted, "4", firstOnRecord)}
	for _, c := range []struct {
		name   string
		before []history.Event
		pull   *commands.Pull
		told   []string
	}{
		{
			name: "merged", before: gain, pull: &commands.Pull{Number: 8, Merged: true, Head: firstOnRecord},
			told: []string{"pull-ended=8"},
		},
		{
			name: "closed", before: gain, pull: &commands.Pull{Number: 8}, told: []string{"pull-ended=8", "paused"},
		},
		{
			name: "opened again", before: append(slices.Clone(gain), wasSet(history.PullEnded, "8")),
			pull: &commands.Pull{Number: 8, Open: true}, told: []string{"pull-ended="},
		},
		{
			name: "opened again after the pause",
			before: append(slices.Clone(gain), wasSet(history.PullEnded, "8"),
				&history.Paused{Reason: decision.Reason{Kind: decision.PullClosed, Count: 8}}),
			pull: &commands.Pull{Number: 8, Open: true}, told: []string{"pull-ended=", "resumed"},
		},
		{
			name:   "open, and has nothing of its own",
			before: []history.Event{wasMeasured("1"), wasSet(history.PullEnded, "8")},
			pull:   &commands.Pull{Number: 8, Open: true},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newMemoryRun(t, "", c.before...)
			d.heard().Pull = c.pull
			for range 2 { // it is noted once
				require.NoError(t, d.entered())
				assert.Equal(t, append([]string{"issue=7"}, c.told...), d.told())
			}
			after := d.written()
			golden.Line(t, decision.Text(after.Paused))
			for _, e := range history.Of[*history.Set](after.log.Events) {
				if e.Key == history.PullEnded && e.Run == d.id && c.pull.Merged {
					assert.Equal(t, c.pull.Head, e.Commit, "what was made after it is still to be promoted")
				}
			}
		})
	}
}

// TestCommentsThatAreNotInOrder are all done, and once.
func TestCommentsThatAreNotInOrder(t *testing.T) {
	t.Parallel()
	d := newMemoryRun(t, "", wasMeasured("1"))
	for range 2 {
		d.heard(comment(5, commands.Command{Kind: commands.Note, Text: "five"}),
			comment(3, commands.Command{Kind: commands.Note, Text: "three"}), comment(4))
		require.NoError(t, d.entered())
		assert.Equal(t, []string{"issue=7", "note=five", "answered", "note=five\nthree", "answered", "commands=5 0 0"},
			d.told())
	}
}

// entered records the effect of the commands that were heard.
func (d *memoryRun) entered() error {
	return d.update(d.t.Context(), "commands", nil, adding(func(b *records) { d.enterCommands(b, &undoing{}) }))
}
