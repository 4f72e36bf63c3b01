package program_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

// TestIntervals: the texts of each, separated by semicolons.
func TestIntervals(t *testing.T) {
	t.Parallel()
	for want, texts := range map[string]string{
		"1m0s": "every 1m;every 60s", "1m30s": "every 90 seconds", "30m0s": "every 30 minutes",
		"1h0m0s":  "hourly;every hour",
		"1h30m0s": "every 1.5h;every 1h30m;every 1 hour 30 min;@every 90m", "12h0m0s": "every 12 hrs",
		"6h0m0s": "every 6h;every 0.25 days;Every 6H;  EVERY\t6   hours ", "24h0m0s": "daily;every day",
		"48h0m0s": "every 2 days", "168h0m0s": "every 1w;weekly;every week", "504h0m0s": "every 3 weeks",
		"720h0m0s": "monthly", "87600h0m0s": "every 3650d;every 315360000s",
	} {
		for _, text := range strings.Split(texts, ";") {
			s, err := program.ParseSchedule(text)
			require.NoError(t, err, text)
			interval, ok := s.Interval()
			assert.Equal(t, []any{want, true, false}, []any{interval.String(), ok, s.IsCron()}, text)
			now := time.Date(2025, 3, 1, 10, 0, 0, 0, time.UTC)
			assert.Equal(t, now.Add(interval), s.Next(now), text)
		}
	}
}

func TestCron(t *testing.T) {
	for text, want := range map[string]string{
		"0 3 * * *":                       "2025-01-16T03:00:00Z",
		"*/15 * * * *":                    "2025-01-15T10:45:00Z",
		"0 9 * * 1-5":                     "2025-01-16T09:00:00Z",
		"0 0 * * MON":                     "2025-01-20T00:00:00Z",
		"0 0 29 2 *":                      "2028-02-29T00:00:00Z",
		"0  3\t*  * *":                    "2025-01-16T03:00:00Z",
		"@daily":                          "2025-01-16T00:00:00Z",
		"@hourly":                         "2025-01-15T11:00:00Z",
		"@weekly":                         "2025-01-19T00:00:00Z",
		"@monthly":                        "2025-02-01T00:00:00Z",
		"@yearly":                         "2026-01-01T00:00:00Z",
		"CRON_TZ=Europe/Berlin 0 3 * * *": "2025-01-16T02:00:00Z",
		"TZ=America/New_York 0 3 * * *":   "2025-01-16T08:00:00Z",
		"CRON_TZ=UTC @daily":              "2025-01-16T00:00:00Z",
	} {
		t.Run(text, func(t *testing.T) {
			s, err := program.ParseSchedule(text)
			require.NoError(t, err)
			assert.True(t, s.IsCron())
			assert.Equal(t, text, s.Text)
			_, ok := s.Interval()
			assert.False(t, ok)
			last := time.Date(2025, 1, 15, 10, 30, 10, 0, time.FixedZone("here", 3600)).Add(time.Hour)
			assert.Equal(t, want, s.Next(last).UTC().Format(time.RFC3339))
		})
	}
}

func TestScheduleErrors(t *testing.T) {
	for _, text := range lines(t, `
every
every 2 months
every month
every 1 year
every 0h
every 30s
every 0m
every 99999999999h
every 9223372036854775807h
every 99999999999999999999999
every 3651d
every 5 years
every 3000d 3000d
every 6
every 6x
every -6h
every 1.h
every other day
6h
sometimes
yearly
every6h
0 3 * *
0 0 3 * * *
60 3 * * *
a b c d e
, 3 * * *
0 3 , * *
0 0 30 2 *
0 0 31 4,6 *
@reboot
@every 30s
@every -1h
@every 100000h
@every
CRON_TZ=UTC
CRON_TZ=UTC 
TZ=UTC
CRON_TZ=
CRON_TZ= 0 3 * * *
CRON_TZ=Local 0 3 * * *
CRON_TZ=Mars/Base 0 3 * * *
CRON_TZ=../../etc 0 3 * * *
CRON_TZ=UTC\t0 3 * *`) {
		_, err := program.ParseSchedule(text)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "\n")
		golden.Row(t, strconv.Quote(text), err)
	}
}

func TestEarlyCronRunCountsForItsTick(t *testing.T) {
	for _, c := range []struct{ cron, last, want string }{
		{"0 */6 * * *", "11:56:00", "18:00:00"},
		{"0 */6 * * *", "11:55:00", "18:00:00"},
		{"0 */6 * * *", "11:54:59", "12:00:00"},
		{"0 */6 * * *", "12:00:00", "18:00:00"},
		{"0 */6 * * *", "12:01:00", "18:00:00"},
		{"*/10 * * * *", "12:05:00", "12:10:00"},
		{"*/10 * * * *", "12:05:01", "12:20:00"},
		{"* * * * *", "12:00:00", "12:01:00"},
		{"* * * * *", "12:00:45", "12:02:00"},
	} {
		s, err := program.ParseSchedule(c.cron)
		require.NoError(t, err)
		last, err := time.Parse(time.DateTime, "2025-01-15 "+c.last)
		require.NoError(t, err)
		assert.Equal(t, "2025-01-15 "+c.want, s.Next(last).Format(time.DateTime), "%+v", c)
	}
}

func FuzzSchedule(f *testing.F) {
	for _, seed := range []string{
		"every 6h", "*/5 * * * *", "CRON_TZ=UTC 0 3 * * *", "@every 1h",
		"0-59/7 1,2 */3 JAN-MAR ?", "TZ=Africa/Cairo 0 0 * * 5",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := program.ParseSchedule(text)
		if err != nil {
			assert.NotContains(t, err.Error(), "\n")
			return
		}
		interval, ok := s.Interval()
		require.NotEqual(t, ok, s.IsCron())
		require.True(t, !ok || interval >= time.Minute && interval <= 3650*24*time.Hour)
		last := time.Date(2025, 1, 15, 10, 30, 0, 0, time.UTC)
		require.True(t, s.Next(last).After(last))
	})
}
