package decision

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
)

// declared are the kinds of reason.go, each with its comment.
func declared(t *testing.T) map[Why]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, parser.ParseComments)
	require.NoError(t, err)
	kinds := map[Why]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is && len(spec.Values) == 1 {
			if value, is := spec.Values[0].(*ast.BasicLit); is {
				kind, err := strconv.Unquote(value.Value)
				require.NoError(t, err)
				assert.NotContains(t, kinds, Why(kind), "a kind has one name")
				kinds[Why(kind)] = spec.Comment.Text() + spec.Doc.Text()
			}
		}
		return true
	})
	return kinds
}

// TestEveryKindHasAText of one line that is short enough for a table, and no other has one.
func TestEveryKindHasAText(t *testing.T) {
	t.Parallel()
	kinds := declared(t)
	kinds[Said] = "somebody else's words"
	for kind := range texts {
		assert.Contains(t, kinds, kind)
	}
	number, until := metric.MustValue("-123.456"), time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for kind, comment := range kinds {
		assert.Contains(t, texts, kind)
		assert.NotEmpty(t, comment, kind)
		r := Reason{
			Kind: kind, Path: "src/parse.go", Term: "accepted", Value: &number, Beside: &number, Low: &number,
			High: &number, Count: 12, Of: 16,
			P: 0.0123, Confidence: 0.95, Until: &until, Words: "exit status 1",
			Because: []Reason{{Kind: Tie, Value: &number}},
		}
		text := r.String()
		assert.NotEmpty(t, text, kind)
		if !r.Is(PushNeedsWorkflows, PushNeedsMerge, TooManyRuns) { // they have two cures
			assert.LessOrEqual(t, utf8.RuneCountInString(text), 200, text)
		}
		for _, left := range []string{"{", "}", "<", ">", "\n", "…"} {
			assert.NotContains(t, text, left, kind)
		}
		_ = Reason{Kind: kind}.String() // a fact that somebody left out is no panic
		written, err := json.Marshal(r)
		require.NoError(t, err)
		var read Reason
		require.NoError(t, json.Unmarshal(written, &read))
		assert.Equal(t, text, read.String(), kind)
		assert.True(t, r.Known(2), kind)
		assert.False(t, r.Known(1), kind)
	}
	assert.False(t, Reason{Kind: "made-up"}.Known(2))
	assert.False(t, Reason{Kind: Claimed, Because: []Reason{{Kind: "made-up"}}}.Known(2))
}

// TestReasonsHaveCures stands in the text of what pauses a program until somebody acts.
func TestReasonsHaveCures(t *testing.T) {
	t.Parallel()
	for _, kind := range []Why{
		ManyErrors, Plateau, Interrupted, Conflict, PullClosed, PushNeedsWorkflows, PushNeedsMerge, PushProtected,
		PushHook, PushRefused,
		UndoRefused, CITimeout, TooGood,
	} {
		assert.Regexp(t, `[;:] [a-z{]`, texts[kind], kind)
	}
}

// TestRuleIsOfWhatAProgramAsks, also with more pairs, and of an evaluation found to be noisy.
func TestRuleIsOfWhatAProgramAsks(t *testing.T) {
	t.Parallel()
	asked := Rule{Regime: Repeatable, Pairs: 8, Confidence: 0.95}
	more, noisy, fewer := asked, asked, asked
	more.MaxPairs, noisy.Regime, fewer.Pairs = 32, Noisy, 4
	for rule, is := range map[*Rule]bool{&asked: true, &more: true, &noisy: true, &fewer: false} {
		assert.Equal(t, is, rule.IsOf(asked), "%+v", rule)
	}
	assert.False(t, asked.IsOf(noisy), "what is known to be noisy stays so")
	assert.False(t, asked.Same(more))
}

// TestReasonsAreLines in JSON for people.
func TestReasonsAreLines(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Lines(Says("one", "two")))
	require.NoError(t, err)
	assert.Equal(t, `["one","two"]`, string(text))
}
