package commandline

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		words  string
		want   FailureKind
	}{
		{http.StatusUnauthorized, "", Authentication},
		{http.StatusForbidden, "no", Authentication},
		{http.StatusPaymentRequired, "", Budget},
		{http.StatusTooManyRequests, "", RateLimit},
		{http.StatusTooManyRequests, "insufficient_quota", Budget},
		{http.StatusTooManyRequests, "You exceeded your current quota. Please retry in 34.5s.", RateLimit},
		{http.StatusInternalServerError, "rate limit of the database", Crashed},
		{0, "Error: Not logged in · Please run /login", Authentication},
		{0, "Your credit balance is too low to access the API", Budget},
		{0, "You've hit your limit · resets 3pm (UTC)", RateLimit},
		{0, "segmentation fault", Crashed},
		{0, "", Crashed},
	} {
		assert.Equal(t, c.want, NewProblem(c.status, c.words).Kind, "%d %s", c.status, c.words)
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]time.Duration{
		"Please try again in 7s.":                                7 * time.Second,
		"Please try again in 6m0s. Visit":                        6 * time.Minute,
		"try again in 1h20m30.5s":                                time.Hour + 20*time.Minute + 30500*time.Millisecond,
		"Try again in 2 hours":                                   2 * time.Hour,
		"resets in 3 days":                                       72 * time.Hour,
		"retry after 30 seconds":                                 30 * time.Second,
		`"retryDelay":"34.5s"`:                                   34500 * time.Millisecond,
		"Retry-After: 120":                                       2 * time.Minute,
		"retry_after_seconds=5":                                  5 * time.Second,
		"Please retry in 250ms":                                  250 * time.Millisecond,
		"try again in 99999999 days":                             0,
		"retry after 9999999999999999999999999999999999 seconds": 0,
		"retrying 4 of 5":                                        0,
		"nothing here":                                           0,
	} {
		assert.Equal(t, want, waitIn(words), words)
	}
}

func TestTimesToComeBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	for words, want := range map[string]string{
		"Claude AI usage limit reached|1767369600":              "2026-01-02T16:00:00Z",
		"You've hit your limit · resets 3pm (UTC)":              "2026-01-03T15:00:00Z",
		"You've hit your limit · resets 6:30pm (Europe/Berlin)": "2026-01-02T17:30:00Z",
		"You've hit your usage limit. Try again at 4:00 PM":     "2026-01-02T16:00:00Z",
		"resets 12am (UTC)":         "2026-01-03T00:00:00Z",
		"limit reached|1000000000":  "", // Over since long.
		"limit reached|9999999999":  "", // Too far to be believed.
		"resets 3pm (Nowhere/Town)": "2026-01-03T15:00:00Z",
	} {
		at := NewProblem(http.StatusTooManyRequests, words).RetryAt(now)
		if want == "" {
			assert.Nil(t, at, words)
			continue
		}
		require.NotNil(t, at, words)
		assert.Equal(t, want, at.Format(time.RFC3339), words)
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
		r.Telemetry(text)
		if p := r.SoFar().Problem; p != nil {
			require.NotEmpty(t, p.Kind)
			require.NotContains(t, p.Message, "\n")
			p.RetryAt(time.Unix(1767323045, 0))
		}
	})
}
