package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
)

func TestLearn(t *testing.T) {
	t.Parallel()
	doc := state.New("p")
	assert.Equal(t, 2, doc.Learn(state.Lessons, 3,
		[]string{"Caches lie.", "caches  LIE", "", " -- ", "Copies cost time"}))
	assert.Equal(t, "- Caches lie. (iteration 3)\n- Copies cost time (iteration 3)", doc.Section(state.Lessons))
	assert.Equal(t, 1, doc.Learn(state.Lessons, 4, []string{"*caches lie*", "1.5 is too large", "1.5 is too large!"}))
	assert.Contains(t, doc.Section(state.Lessons), "- 1.5 is too large (iteration 4)")
	assert.Empty(t, doc.Section(state.Foreclosed))
	again, err := state.Parse(doc.Render())
	require.NoError(t, err)
	assert.Zero(t, again.Learn(state.Lessons, 5, []string{"Caches lie."}), "it is known after reading it back")
}

func TestLearnKeepsWhatPeopleWrote(t *testing.T) {
	t.Parallel()
	doc := state.New("p")
	doc.SetSection(state.Lessons, "Mind the *API*.\n\n- ours (iteration 1) and more\n- never sleep")
	for i := range 100 {
		assert.Equal(t, 1, doc.Learn(state.Lessons, i, []string{fmt.Sprintf("lesson %d", i)}))
	}
	text := doc.Section(state.Lessons)
	assert.Contains(t, text, "Mind the *API*.\n\n- ours (iteration 1) and more\n- never sleep\n")
	assert.Equal(t, 15, strings.Count(text, "- lesson "))
	assert.NotContains(t, text, "lesson 84 ")
	assert.Contains(t, text, "- lesson 99 (iteration 99)")
}

func TestLearnIsBoundedAndHarmless(t *testing.T) {
	t.Parallel()
	doc := state.New("p")
	before := len(doc.Render())
	for i := range 50 {
		doc.Learn(state.Future, i, []string{
			fmt.Sprintf("%d ", i) + strings.Repeat("𝔘", 5000),
			fmt.Sprintf("## Heading %d\n| a | @you <b> ```", i),
		})
	}
	assert.Less(t, len(doc.Render())-before, 5000)
	assert.NotContains(t, doc.Section(state.Future), "<b>")
	_, err := state.Parse(doc.Render())
	require.NoError(t, err)
}

// TestLearningFromAFullList cuts it down at once, of however many items that iterations
// added.
func TestLearningFromAFullList(t *testing.T) {
	t.Parallel()
	const many = 8000
	var text strings.Builder
	text.WriteString(table + "| Paused | no |\n\n## Lessons Learned\n\nmine\n")
	for n := range many {
		fmt.Fprintf(&text, "- lesson %d of the past (iteration %d)\n", n, n)
	}
	text.WriteString("- also mine\n\n## Other\n")
	doc := parse(t, text.String())
	assert.Equal(t, 1, doc.Learn(state.Lessons, many, []string{"the last"}))
	section := doc.Section(state.Lessons)
	assert.True(t, strings.HasPrefix(section, "mine\n- lesson "+fmt.Sprint(many-14)), section[:60])
	assert.Equal(t, 15, strings.Count(section, "(iteration "))
	assert.True(t, strings.HasSuffix(section, "\n- also mine\n- the last (iteration 8000)"))
}
