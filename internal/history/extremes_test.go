package history_test

import (
	"testing"
	"time"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/tests/testrepo"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTimeOutsideCalendar is one that no line can be written with.
func TestTimeOutsideCalendar(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"} {
		e, err := history.ParseEvent([]byte(`{"event":"set","time":"` + text + `","key":"k"}`))
		require.NoError(t, err, text)
		_, err = history.Line(e)
		require.ErrorContains(t, err, "render set event")
		require.Error(t, (&history.Log{}).Append(e))
		line, err := history.Line(history.Stamp(e, "r", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		require.NoError(t, err)
		assert.Contains(t, string(line), `"2026-01-02T03:04:05Z"`)
	}
}

// TestTimeBeyondYears is the longest that can be counted, and never goes back.
func TestTimeBeyondYears(t *testing.T) {
	t.Parallel()
	for _, lines := range []string{
		`{"event":"decided","iteration":1,"durations":{"propose":6e9,"measure":6e9}}`,
		`{"event":"decided","iteration":1,"durations":{"propose":1.5e308,"measure":1.5e308}}`,
		`{"event":"decided","iteration":1,"durations":{"propose":6e9}}` + "\n" +
			`{"event":"checked","iteration":1,"durations":{"propose":6e9},"usage":{"output_tokens":1}}`,
	} {
		log, err := testrepo.Ledger([]byte(lines))
		require.NoError(t, err)
		sum := log.Summary()
		assert.Greater(t, sum.Spent(time.Time{}).Minutes, 292.0*365*24*60, lines)
	}
	for seconds, want := range map[float64]time.Duration{
		0.1: 100 * time.Millisecond, -2: -2 * time.Second, 9e9: 9_000_000_000 * time.Second,
	} {
		assert.Equal(t, want, history.Seconds(seconds))
	}
}
