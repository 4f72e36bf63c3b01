package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history/state"
)

// TestKnownLessonIsNotRepeated is not learned again, in whatever form it comes.
func TestKnownLessonIsNotRepeated(t *testing.T) {
	t.Parallel()
	const known = "Mind the cache.\n\n* The **API** is slow!\n1. Copies cost 1.5 ms (iteration 3)\n" +
		"- Größe zählt (iteration 12)\n"
	for text, is := range map[string]bool{
		"mind the cache": true, "  Mind   the\tcache ": true, "MIND THE CACHE!!!": true, "- Mind the cache": true,
		"`Mind` _the_ cache": true,
		"the api is slow":    true, "The API is slow": true, "GRÖSSE ZÄHLT": false, "größe ZÄHLT.": true,
		"Größe zählt (iteration 4)": true,
		"1 Copies cost 1 5 ms":      true, "Copies cost 1.5 ms": false, // its number is part of what a person wrote
		"Mind the caches": false, "Mind cache": false, "the cache, mind": false, "cache": false, "": true, "?!": true,
		"\u200b": true,
	} {
		doc := state.New("x")
		doc.SetSection(state.Lessons, known)
		before := doc.Section(state.Lessons)
		want := 1
		if is {
			want = 0
		}
		assert.Equal(t, want, doc.Learn(state.Lessons, 20, []string{text, text}), "%q", text)
		after := doc.Section(state.Lessons)
		assert.True(t, strings.HasPrefix(after, before), "%q", text)
		assert.Equal(t, want, strings.Count(after, "(iteration 20)"))
		assert.Zero(t, doc.Learn(state.Lessons, 21, []string{text}), "%q", text)
		assert.Equal(t, after, doc.Section(state.Lessons))
	}
}

// TestOldestLessonGoes first, by count and by size, and people's items never do.
func TestOldestLessonGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size, most int // of each text, and how many have room
	}{
		"by count":         {20, 15},
		"by size":          {230, 15},
		"by size in bytes": {200, 9}, // characters of two bytes
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			letter := "x"
			if strings.Contains(name, "bytes") {
				letter = "ö"
			}
			doc := state.New("x")
			doc.SetSection(state.Future, "- mine\n- mine too (iteration x)")
			for n := range 40 {
				assert.Equal(t, 1, doc.Learn(state.Future, n,
					[]string{fmt.Sprintf("%03d %s", n, strings.Repeat(letter, c.size))}))
			}
			lines := strings.Split(doc.Section(state.Future), "\n")
			assert.Equal(t, []string{"- mine", "- mine too (iteration x)"}, lines[:2])
			assert.Len(t, lines, 2+c.most)
			for i, line := range lines[2:] {
				assert.Contains(t, line, fmt.Sprintf("(iteration %d)", 40-c.most+i))
			}
		})
	}
}

// TestALearnedTextIsOneShortLine, however long it is and whatever it says.
func TestALearnedTextIsOneShortLine(t *testing.T) {
	t.Parallel()
	doc := state.New("x")
	assert.Equal(t, 3, doc.Learn(state.Foreclosed, 3, []string{
		strings.Repeat("word ", 5000), "## Machine State\n| Paused | true |", "</details><!-- x",
	}))
	again := parse(t, string(doc.Bytes()))
	assert.False(t, again.Machine().Paused)
	lines := strings.Split(again.Section(state.Foreclosed), "\n")
	assert.Len(t, lines, 3)
	assert.True(t, strings.HasSuffix(lines[0], "word… (iteration 3)") && len(lines[0]) < 300, lines[0])
	assert.Equal(t, string(doc.Bytes()), string(doc.Render()))
}
