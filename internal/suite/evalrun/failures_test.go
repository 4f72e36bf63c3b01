package evalrun

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/evals"
	"github.com/org/autoloop/internal/suite/work"
)

// TestSuggestions has what graders, and programs of others, write as feedback.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	for feedback, want := range map[string][]string{
		"":                                   nil,
		"null":                               nil,
		`"check more"`:                       nil,
		`[]`:                                 nil,
		`{}`:                                 nil,
		`{"suggestions": [], "overall": ""}`: nil,
		`{"suggestions": null, "overall": "good"}`: {"good"},
		`{"suggestions": ["a", "b"], "overall": "c"}`: {
			"a", "b",
			"c",
		},
		`{"suggestions": ["", " ", null, "a"]}`: {"a"},
		`{"suggestions": [{"assertion": "it is polite", "reason": "always so"}]}`: {"it is " +
			"polite: always so"},
		`{"suggestions": [{"expectation": "it is polite", "suggestion": "say how", "reason": "vague"}]}`: {"it is " +
			"polite: say how"},
		`{"suggestions": [{"reason": "vague"}, {"assertion": "it is polite"}, {"else": 1}, 7, ["x"]]}`: {"vague"},
		`{"suggestions": [{"reason": 7}, "a"]}`:                                                        {"a"},
		"{\"suggestions\": [\"a\\nb\\u001b[2J\"]}":                                                     {"a b"},
		`{"suggestions": ["a"], "overall": "b", "later": {}}`:                                          {"a", "b"},
	} {
		assert.Equal(t, strings.Join(want, "|"), strings.Join(Suggestions([]byte(feedback)), "|"), feedback)
	}
	long := Suggestions([]byte(`{"overall": "` + strings.Repeat("ä", 1000) + `"}`))
	require.Len(t, long, 1)
	assert.Equal(t, work.MaxWords, utf8.RuneCountInString(long[0]))
}

// TestFailuresAreBounded: whatever failed, what an improver is told is text of at most
// so many bytes.
func TestFailuresAreBounded(t *testing.T) {
	t.Parallel()
	var r Result
	for i := range 30 {
		r.Cases = append(r.Cases, evals.CaseScore{
			ID: fmt.Sprint(i), Passed: 1, Total: 2,
			Failed: []evals.Graded{{Text: strings.Repeat("ä", 300), Evidence: strings.Repeat("日", 300)}},
		})
	}
	whole := Failures(r, 1<<20)
	for most := 3; most < 500; most++ {
		text := Failures(r, most)
		require.LessOrEqual(t, len(text), most)
		require.True(t, utf8.ValidString(text))
		before, cut := strings.CutSuffix(text, "…")
		require.True(t, cut)
		require.True(t, strings.HasPrefix(whole, before))
	}
	assert.Equal(t, whole, Failures(r, len(whole)), "what fits is told whole")
}

func TestFailuresInWords(t *testing.T) {
	t.Parallel()
	r := Result{
		Cases: []evals.CaseScore{
			{ID: "1", Passed: 2, Total: 2},
			{ID: "2", Total: 3, Problem: "it crashed", Failed: []evals.Graded{{Text: "of another run"}}},
			{ID: "3", Passed: 1, Total: 2, Failed: []evals.Graded{{Text: "it\ngreets", Evidence: "no greeting"}}},
			{
				ID: "4", Passed: 1, Total: 1,
				Gradings: []evals.Grading{{}, {Feedback: []byte(`{"overall": "check more"}`)}},
			},
		},
	}
	assert.Equal(t, strings.Join([]string{
		"case 2: 0 of 3: it crashed", "case 3: 1 of 2", "  failed: it greets (no greeting)",
		"the grader on case 4: check more", "passed whole, 2 of 4 cases: 1, 4",
	}, "\n"), Failures(r, 4000))
	assert.Empty(t, Failures(Result{}, 4000))
}
