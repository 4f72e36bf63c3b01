package sync_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/internal/history"
)

// TestANoticeIsKnownByItsTimeToo: an earlier version named the pause by another place,
// since candidates' measurements of sealed segments did not count there.
func TestANoticeIsKnownByItsTimeToo(t *testing.T) {
	w := newWorld(t, nil)
	w.run(history.Rejected, "10")
	w.begin()
	s := w.service()
	require.NoError(t, w.hear(s))
	w.decide(history.Rejected, "10")
	w.add(&history.Paused{Reason: "plateau"})
	const candidates = 3
	a := w.account() // before the update: the condensed events, the place in them
	all := history.Replay(a.Events)
	a.Past = &all
	require.NoError(t, s.Show(t.Context(), a))
	for range 3 { // looks after it: the place in the whole ledger, 3 lines more
		w.clock.Add(time.Hour)
		s = w.service()
		_, err := s.Hear(t.Context(), a)
		require.NoError(t, err)
		b := a
		b.Events, b.Left = slices.Clone(a.Events), candidates
		require.NoError(t, s.Show(t.Context(), b))
	}
	told := 0
	for _, c := range w.comments() {
		told += strings.Count(c, "is paused**: plateau")
	}
	assert.Equal(t, 1, told)
}

// comments are the texts of the comments on the issue, but for the status.
func (w *world) comments() (list []string) {
	calls := w.server
	calls.Change(func(s *githubtest.State) {
		for _, c := range s.On(1) {
			if !strings.Contains(c.Body, "STATUS") {
				list = append(list, c.Body)
			}
		}
	})
	return list
}
