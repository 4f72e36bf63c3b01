package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/prompt"
)

func attempts(outcomes ...state.Status) []history.Attempt {
	var list []history.Attempt
	for i, outcome := range outcomes {
		list = append(list, attempt(i+1, outcome, fmt.Sprintf("try %d", i+1)))
	}
	return list
}

func attempt(iteration int, outcome state.Status, summary string) history.Attempt {
	return history.Attempt{Decided: &history.Decided{
		Head: history.Head{Iteration: iteration}, Outcome: outcome, Work: history.Work{Summary: summary},
	}}
}

func TestAsksForADifferentApproach(t *testing.T) {
	t.Parallel()
	const a, r, e = history.Accepted, history.Rejected, history.Error
	cases := []struct {
		outcomes []state.Status
		asked    string
	}{
		{nil, ""},
		{[]state.Status{r, r}, ""},
		{[]state.Status{a, r, r, r}, "The last 3 attempts were all rejected"},
		{[]state.Status{r, r, r, r, r}, "The last 5 attempts were all rejected"},
		{[]state.Status{r, r, r, a}, ""},
		{[]state.Status{r, r, e, r}, ""},
	}
	for _, c := range cases {
		in := input()
		in.Attempts = attempts(c.outcomes...)
		text := prompt.Build(in)
		if c.asked == "" {
			assert.NotContains(t, text, "different approach", c.outcomes)
			continue
		}
		assert.Contains(t, text, c.asked)
		assert.Less(t, strings.Index(text, "Take a different approach"), strings.Index(text, "Lessons learned"))
	}
}

func TestKeptAttemptsAreRemembered(t *testing.T) {
	t.Parallel()
	in := input()
	in.Attempts = attempts(history.Accepted, history.Accepted)
	for range 12 {
		in.Attempts = append(in.Attempts, attempt(len(in.Attempts)+1, history.Rejected, ""))
	}
	text := prompt.Build(in)
	assert.Contains(t, text, "Of 14 attempts so far 2 were kept.")
	assert.Contains(t, text, "Kept before those:\n\n```text\n- iteration 2, accepted: try 2\n"+
		"- iteration 1, accepted: try 1\n```")
	in.Attempts = in.Attempts[:13]
	assert.Contains(t, prompt.Build(in), "Kept before those:\n\n```text\n- iteration 1, accepted: try 1\n```",
		"iteration 2 is listed once, as a recent one")
}

func TestHandbackIsOffered(t *testing.T) {
	t.Parallel()
	in := input()
	assert.NotContains(t, prompt.Build(in), prompt.NotesFile)
	in.Handback = true
	assert.Contains(t, prompt.Build(in), "`"+prompt.NotesFile+"`")
}

func TestLongSectionsKeepBothEnds(t *testing.T) {
	t.Parallel()
	in := input()
	in.Sections[0].Text = "the maintainer's rule\n" + strings.Repeat("- in between\n", 1000) + "- the newest lesson"
	text := prompt.Build(in)
	assert.Contains(t, text, "the maintainer's rule\n- in between")
	assert.Contains(t, text, "- in between\n… (shortened)\n- in between")
	assert.Contains(t, text, "- the newest lesson\n")
}

func TestRoomBoundsTheWhole(t *testing.T) {
	t.Parallel()
	in := input()
	in.Sections = nil
	for _, title := range []string{"Current priorities", "Lessons learned", "Foreclosed avenues", "Future directions"} {
		in.Sections = append(in.Sections,
			prompt.Section{Title: title, Text: strings.Repeat("- something learned\n", 500)})
	}
	in.Script, in.Output = strings.Repeat("go test\n", 1000), strings.Repeat("ok\n", 1000)
	for i := range 40 {
		in.Files = append(in.Files, fmt.Sprintf("src/%d.go", i))
		in.Attempts = append(in.Attempts, attempt(i, history.Accepted, strings.Repeat("z", 1000)))
	}
	whole := len(prompt.Build(in))
	in.Room = 8000
	assert.Less(t, len(prompt.Build(in)), 11_000)
	assert.Greater(t, whole, 20_000)
}
