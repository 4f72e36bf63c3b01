package cli

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestSkillLineShowsForHowLong: what is going on, for how long, and what the improver
// said last.
func TestSkillLineShowsForHowLong(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	p := &skillProgress{display: display{now: func() time.Time { return now }, liveLine: &liveLine{}}}
	assert.Empty(t, p.line("*"), "nothing goes on yet")
	p.Improving(3, "")
	now = now.Add(12 * time.Second)
	assert.Equal(t, "* (12s) iteration 3: the improver works", p.line("*"))
	p.Improving(3, "I read the\u200b suite")
	now = now.Add(61 * time.Second)
	assert.Equal(t, "* (73s) iteration 3: the improver works: I read the suite", p.line("*"))
	p.Begin("iteration 3: the cases run")
	assert.Equal(t, "* (0s) iteration 3: the cases run", p.line("*"), "the next thing begins anew")
}
