package program_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
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
		"720h0m0s": "monthly", "87600h0m0s": "every 3650d",
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
	for text, says := range map[string]string{
		"":                              "no value",
		"every":                         "has no interval",
		"every 2 months":                "differ in length",
		"every month":                   "differ in length",
		"every 1 year":                  "differ in length",
		"every 0h":                      "under a minute",
		"every 30s":                     "under a minute",
		"every 0m":                      "under a minute",
		"every 99999999999h":            "over ten years",
		"every 9223372036854775807h":    "over ten years",
		"every 99999999999999999999999": "over ten years",
		"every 3651d":                   "over ten years",
		"every 5 years":                 "differ in length",
		"every 3000d 3000d":             "over ten years",
		"every 6":                       "without a unit",
		"every 6x":                      `unknown unit "x"`,
		"every -6h":                     "is below zero",
		"every 1.h":                     "",
		"every other day":               `unknown unit "other"`,
		"6h":                            "is no schedule",
		"sometimes":                     "is no schedule",
		"yearly":                        "is no schedule",
		"every6h":                       "is no schedule",
		"0 3 * *":                       "is no schedule",
		"0 0 3 * * *":                   "is no schedule",
		"60 3 * * *":                    "is no schedule",
		"a b c d e":                     "is no schedule",
		", 3 * * *":                     "never fires",
		"0 3 , * *":                     "never fires",
		"0 0 30 2 *":                    "never fires",
		"0 0 31 4,6 *":                  "never fires",
		"@reboot":                       "is no schedule",
		"@every 30s":                    "under a minute",
		"@every -1h":                    "under a minute",
		"@every 100000h":                "over ten years",
		"@every":                        "is no schedule",
		"CRON_TZ=UTC":                   "no fields",
		"CRON_TZ=UTC ":                  "no fields",
		"TZ=UTC":                        "no fields",
		"CRON_TZ=":                      "no fields",
		"CRON_TZ= 0 3 * * *":            "names no zone",
		"CRON_TZ=Local 0 3 * * *":       "names no zone",
		"CRON_TZ=Mars/Base 0 3 * * *":   "is no schedule",
		"CRON_TZ=../../etc 0 3 * * *":   "is no schedule",
		"CRON_TZ=UTC\t0 3 * *":          "is no schedule",
	} {
		t.Run(text, func(t *testing.T) {
			_, err := program.ParseSchedule(text)
			require.Error(t, err)
			assert.Contains(t, err.Error(), says)
			assert.Contains(t, err.Error(), "accepted are `every 6h`")
			assert.NotContains(t, err.Error(), "\n")
		})
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
