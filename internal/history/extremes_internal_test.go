package history

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTimeOutsideCalendar is one that no line can be written with.
func TestTimeOutsideCalendar(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"} {
		e, err := ParseEvent([]byte(`{"event":"set","time":"` + text + `","key":"k"}`))
		require.NoError(t, err, text)
		_, err = Line(e)
		require.ErrorContains(t, err, "render set event")
		line, err := Line(Stamp(e, "r", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		require.NoError(t, err)
		assert.Contains(t, string(line), `"2026-01-02T03:04:05Z"`)
	}
}

// TestTimeBeyondYears is the longest that can be counted, and never goes back.
func TestTimeBeyondYears(t *testing.T) {
	t.Parallel()
	const longest = 292 * 365 * 24 * 60 // in minutes
	for name, lines := range map[string][]string{
		"of stages": {`{"event":"decided","iteration":1,"outcome":"rejected","durations":{"propose":6e9,` +
			`"measure":6e9}}`},
		"of fixes": {
			`{"event":"decided","iteration":1,"outcome":"rejected","durations":{"propose":6e9}}`,
			`{"event":"checked","iteration":1,"durations":{"propose":6e9},"usage":{"output_tokens":1}}`,
		},
		"that was put off": {`{"event":"finished","iteration":1,"durations":{"propose":1e300},` +
			`"not_before":"2026-01-02T03:04:05Z"}`},
		"of very many more": {`{"event":"decided","iteration":1,"outcome":"rejected","durations":{"propose":1.5e308,` +
			`"measure":1.5e308}}`},
	} {
		log, err := Parse([]byte(strings.Join(lines, "\n") + "\n"))
		require.NoError(t, err, name)
		sum := Replay(log.Events)
		assert.Greater(t, sum.Spent(time.Time{}).Minutes, float64(longest), name)
	}
	for text, want := range map[string]time.Duration{
		"0": 0, "0.1": 100 * time.Millisecond,
		"1.5": 1500 * time.Millisecond, "-2": -2 * time.Second, "9000000000": 9_000_000_000 * time.Second,
	} {
		seconds, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		assert.Equal(t, want, Seconds(seconds), text)
	}
}
