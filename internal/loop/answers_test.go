package loop

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
)

// wasAnswered is a recorded answer to the comment of that number, as old as it is before
// noon.
func wasAnswered(id int64, ago time.Duration) *history.Answered {
	return &history.Answered{
		Head: history.Head{Time: noon.Add(-ago)}, Reason: fmt.Sprintf("answer %d", id),
		Key: commands.Answer{ID: id, On: 7, Good: true}.String(),
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
