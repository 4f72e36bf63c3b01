package commandline

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, row := range []string{ // STATUS WORDS
		"401 ",
		"403 no",
		"402 ",
		"429 ",
		"429 insufficient_quota",
		"429 You exceeded your current quota. Please retry in 34.5s.",
		"500 rate limit of the database",
		"0 Error: Not logged in · Please run /login",
		"0 Your credit balance is too low to access the API",
		"0 You've hit your limit · resets 3pm (UTC)",
		"0 segmentation fault",
		"0 ",
	} {
		status, words, _ := strings.Cut(row, " ")
		code, err := strconv.Atoi(status)
		require.NoError(t, err)
		golden.Row(t, row, NewProblem(code, words).Kind)
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		"Please try again in 7s.",
		"Please try again in 6m0s. Visit",
		"try again in 1h20m30.5s",
		"Try again in 2 hours",
		"resets in 3 days",
		"retry after 30 seconds",
		`"retryDelay":"34.5s"`,
		"Retry-After: 120",
		"retry_after_seconds=5",
		"Please retry in 250ms",
		"try again in 99999999 days",
		"retry after 9999999999999999999999999999999999 seconds",
		"retrying 4 of 5",
		"nothing here",
	} {
		golden.Row(t, words, waitIn(words))
	}
}

func TestTimesToComeBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	for _, words := range []string{
		"Claude AI usage limit reached|1767369600",
		"You've hit your limit · resets 3pm (UTC)",
		"You've hit your limit · resets 6:30pm (Europe/Berlin)",
		"You've hit your usage limit. Try again at 4:00 PM",
		"resets 12am (UTC)",
		"limit reached|1000000000", // Over since long.
		"limit reached|9999999999", // Too far to be believed.
		"resets 3pm (Nowhere/Town)",
	} {
		golden.Row(t, words, NewProblem(http.StatusTooManyRequests, words).RetryAt(now))
	}
}

func FuzzReaders(f *testing.F) {
	f.Add(0, []byte(`{"type":"result","modelUsage":{"m":{"inputTokens":1}},"total_cost_usd":1e999}`))
	f.Add(1, []byte(`{"type":"turn.completed","usage":{"input_tokens":-5}}`))
	f.Add(2, []byte(`{"attributes":{"gen_ai.operation.name":"chat","gen_ai.usage.input_tokens":1}}`))
	f.Add(3, []byte(`Attempt 99999999999999999999 failed with status 429. Retrying`))
	f.Add(4, []byte(`message="stream error" error.error="\x" try again in 1h`))
	f.Add(5, []byte(`{"type":"result","result":null,"usage":{}}`))
	tools := All()
	f.Fuzz(func(t *testing.T, which int, text []byte) {
		tool := tools[((which%len(tools))+len(tools))%len(tools)]
		r := tool.Read()
		r.Out(text)
		r.Err(text)
		if p := r.SoFar().Problem; p != nil {
			require.NotEmpty(t, p.Kind)
			require.NotContains(t, p.Message, "\n")
			p.RetryAt(time.Unix(1767323045, 0))
		}
	})
}

// TestWordsStayAsTheyAre until what is secret in them is masked: a secret may have blanks.
func TestWordsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	require.Equal(t, "refused: one  two\tthree", NewProblem(0, "refused: one  two\tthree").Message)
}
