package history

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
)

// TestExtremeNumbersAreSealed: whatever an evaluation prints and an agent says that it
// used, what it adds up to can be stored and read again.
func TestExtremeNumbersAreSealed(t *testing.T) {
	t.Parallel()
	const largest = "1.7976931348623157e308"
	baseline := func(number string) string {
		return `{"event":"measured","iteration":0,"role":"baseline","metric":` + number + `,"direction":"lower"}`
	}
	kept := func(iteration int, from, to string) string {
		return fmt.Sprintf(`{"event":"decided","iteration":%d,"outcome":"accepted","metric":%s,"previous_best":%s,"best":%s,"commit":"c%d"}`, iteration, to, from, to, iteration)
	}
	used := func(iteration int, usd string) string {
		return fmt.Sprintf(`{"event":"decided","iteration":%d,"outcome":"rejected","durations":{"propose":1e300},"usage":{"input_tokens":9223372036854775807,"output_tokens":1,"cost_usd":%s},"evaluation":{"tokens":9223372036854775807,"cost_usd":%s}}`, iteration, usd, usd)
	}
	proposed := func(usd string) string {
		return `{"event":"proposed","iteration":1,"proposal":1,"usage":{"cost_usd":` + usd + `}}`
	}
	checked := func(usd string) string {
		return `{"event":"checked","iteration":1,"usage":{"cost_usd":` + usd + `},"evaluation":{"tokens":1,"cost_usd":` + usd + `}}`
	}
	took := func(iteration int) string {
		return fmt.Sprintf(`{"event":"decided","iteration":%d,"outcome":"rejected","durations":{"propose":1.5e308,"evaluate":1.5e308}}`, iteration)
	}
	checkedFor := func(iteration int) string {
		return fmt.Sprintf(`{"event":"checked","iteration":%d,"durations":{"propose":1.5e308},"usage":{"output_tokens":1}}`, iteration)
	}
	compared := func(low, high, confidence string) string {
		return fmt.Sprintf(`{"event":"decided","iteration":1,"outcome":"rejected","evidence":[{"stage":"pairs","pairs":8,"confidence":%s,"incumbent_median":1,"candidate_median":2,"difference":1,"low":%s,"high":%s,"p_value":0.5}]}`, confidence, low, high)
	}
	manyUsed := []string{baseline("1")}
	for n := range 50 {
		manyUsed = append(manyUsed, used(n+1, largest))
	}
	for name, lines := range map[string][]string{
		"a gain that no float has":        {baseline(largest), kept(1, largest, "-"+largest)},
		"a gain of very many digits":      {baseline("1e308"), kept(1, "1e308", "1e-300")},
		"a lead that no float has":        {baseline(largest), kept(1, largest, "-"+largest), kept(2, largest, "-"+largest)},
		"an incumbent far from its base":  {baseline("-" + largest), `{"event":"measured","iteration":1,"role":"incumbent","metric":` + largest + `}`},
		"an incumbent of many digits":     {baseline("1e-300"), `{"event":"measured","iteration":1,"role":"incumbent","metric":1e308}`},
		"a cost that no float has":        manyUsed,
		"a cost of several proposals":     {proposed(largest), proposed(largest), used(1, largest)},
		"a cost of fixes":                 {used(1, largest), checked(largest), checked(largest)},
		"a time of fixes":                 {took(1), checkedFor(1), checkedFor(1)},
		"a time of several iterations":    {took(1), took(2), took(3)},
		"an interval that no float has":   {compared("-"+largest, largest, "0.95")},
		"an interval of a confidence":     {compared("0", largest, "0.5000000000000001"), compared("0", "1", "1"), compared("0", "1", "-1e300"), compared("0", "1", "1e300"), compared("0", "0", "0.5")},
		"a cost below zero":               {proposed("-" + largest), proposed("-" + largest), used(1, "-"+largest)},
		"a cost of very many digits":      {used(1, "1e308"), checked("1e-300")},
		"costs of a baseline":             {strings.Replace(baseline("1"), `"role"`, `"evaluation":{"tokens":1,"cost_usd":`+largest+`},"role"`, 1), used(1, largest)},
		"a first moment before year zero": {`{"event":"decided","iteration":1,"time":"0000-01-01T00:00:00+23:59"}`, `{"event":"measured","role":"candidate","iteration":1,"time":"0000-01-01T00:00:00+23:59"}`},
		"a last moment after year 9999":   {`{"event":"decided","iteration":1,"time":"9999-12-31T23:59:59-23:59"}`, `{"event":"started","iteration":1,"run_id":"r","time":"9999-12-31T23:59:59-23:59"}`},
		"a lease until after year 9999":   {`{"event":"started","iteration":1,"run_id":"r","lease":{"host":"h","pid":1,"until":"9999-12-31T23:59:59-23:59"}}`},
		"put off until after year 9999":   {`{"event":"finished","iteration":1,"run_id":"r","not_before":"9999-12-31T23:59:59-23:59"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			segment := []byte(strings.Join(lines, "\n") + "\n")
			sealed, err := (&Checkpoint{}).Extend(segment)
			require.NoError(t, err)
			text, err := sealed.Encode()
			require.NoError(t, err)
			again, err := DecodeCheckpoint(text)
			require.NoError(t, err)
			assert.True(t, sealed.Agrees(again))
			log, err := Parse(segment)
			require.NoError(t, err)
			whole, stored := Replay(log.Events), again.Summary()
			assert.Equal(t, ValueText(whole.Best), ValueText(stored.Best))
			assert.Equal(t, whole.Decided(), stored.Decided())
			next, err := again.Extend(append(again.head().line(), []byte(baseline("5")+"\n")...))
			require.NoError(t, err)
			assert.Equal(t, "5", ValueText(next.Summary().Best))
		})
	}
}

// TestNumbersThatAddUp stay exact where they can be: only what could not be read again is
// rounded.
func TestNumbersThatAddUp(t *testing.T) {
	t.Parallel()
	number := func(text string) *metric.Value {
		v := metric.MustValue(text)
		return &v
	}
	for _, c := range []struct{ from, to, gain string }{
		{"0.3", "0.1", "0.2"},
		{"9007199254740993", "1", "9007199254740992"},
		{"1e300", "-1", "1" + strings.Repeat("0", 299) + "1"},
		{"1e-300", "3e-300", "2e-300"},
	} {
		b := Replay([]Event{&Decided{Outcome: Accepted, PreviousBest: number(c.from), Best: number(c.to)}})
		require.Len(t, b.Gains, 1)
		assert.Zero(t, b.Gains[0].Cmp(metric.MustValue(c.gain)), "%s to %s", c.from, c.to)
	}
}

// TestAMomentOutsideTheCalendar is one that no line can be written with.
func TestAMomentOutsideTheCalendar(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"} {
		e, err := ParseEvent([]byte(`{"event":"set","time":"` + text + `","key":"k"}`))
		require.NoError(t, err, text)
		line, err := Line(e)
		require.NoError(t, err)
		assert.Contains(t, string(line), text, "it stays as it was read")
		line, err = Line(Stamp(e, "r", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		require.NoError(t, err)
		assert.Contains(t, string(line), `"2026-01-02T03:04:05Z"`)
	}
}

// TestATimeBeyondAllYears is the longest that can be counted, and never goes back.
func TestATimeBeyondAllYears(t *testing.T) {
	t.Parallel()
	const longest = 292 * 365 * 24 * 60 // in minutes
	for name, lines := range map[string][]string{
		"of a stage":        {`{"event":"decided","iteration":1,"outcome":"rejected","durations":{"propose":1e12}}`},
		"of stages":         {`{"event":"decided","iteration":1,"outcome":"rejected","durations":{"propose":6e9,"measure":6e9}}`},
		"of fixes":          {`{"event":"decided","iteration":1,"outcome":"rejected","durations":{"propose":6e9}}`, `{"event":"checked","iteration":1,"durations":{"propose":6e9},"usage":{"output_tokens":1}}`},
		"of several":        {`{"event":"decided","iteration":1,"outcome":"rejected","durations":{"propose":6e9}}`, `{"event":"decided","iteration":2,"outcome":"rejected","durations":{"propose":6e9}}`},
		"that was put off":  {`{"event":"finished","iteration":1,"durations":{"propose":1e300},"not_before":"2026-01-02T03:04:05Z"}`},
		"of very many more": {`{"event":"decided","iteration":1,"outcome":"rejected","durations":{"propose":1.5e308,"measure":1.5e308}}`},
	} {
		log, err := Parse([]byte(strings.Join(lines, "\n") + "\n"))
		require.NoError(t, err, name)
		sum := Replay(log.Events)
		assert.Greater(t, sum.Spent(time.Time{}).Minutes, float64(longest), name)
	}
	for text, want := range map[string]time.Duration{"0": 0, "0.1": 100 * time.Millisecond, "1.5": 1500 * time.Millisecond, "-2": -2 * time.Second, "9000000000": 9_000_000_000 * time.Second} {
		seconds, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		assert.Equal(t, want, Seconds(seconds), text)
	}
}
