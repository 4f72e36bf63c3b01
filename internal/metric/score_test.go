package metric_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
)

func TestDirectionVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/direction.json")
	require.NoError(t, err)
	var file struct {
		Cases []struct {
			Direction           *string
			Best, Value, Target *metric.Value
			Improved            bool
			Delta               *string
			TargetMet           *bool `json:"target_met"`
		}
	}
	require.NoError(t, json.Unmarshal(data, &file))
	require.Len(t, file.Cases, 10)
	for _, c := range file.Cases {
		var direction metric.Direction
		if c.Direction != nil {
			direction, err = metric.ParseDirection(*c.Direction)
			require.NoError(t, err)
		}
		improved := direction.Improved(*c.Value, c.Best)
		assert.Equal(t, c.Improved, improved, "%+v", c)
		if c.Delta != nil {
			assert.Equal(t, *c.Delta, metric.Delta(*c.Value, c.Best))
		}
		if c.TargetMet != nil {
			best := *c.Value
			if !improved {
				best = *c.Best
			}
			assert.Equal(t, *c.TargetMet, direction.TargetMet(best, c.Target), "%+v", c)
		}
	}
}

func TestParseDirection(t *testing.T) {
	for text, want := range map[string]metric.Direction{"higher": metric.Higher, " LOWER ": metric.Lower} {
		got, err := metric.ParseDirection(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"", "down", "lower is better", "true"} {
		_, err := metric.ParseDirection(text)
		assert.Error(t, err, text)
	}
}

func TestValueText(t *testing.T) {
	for text, want := range map[string]string{
		"1.30": "1.3", "-0": "0", "0.000": "0", "+5": "5", ".5": "0.5", "5.": "5",
		"1e2": "100", "1E-7": "1e-7", "0.000001": "0.000001", "-12.50e-1": "-1.25",
		"9007199254740993": "9007199254740993", "1e-300": "1e-300", "1.5e300": "1.5e300",
		"123456789012345678901": "123456789012345678901",
	} {
		value, err := metric.ParseValue(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, value.String(), text)
		again, err := metric.ParseValue(value.String())
		require.NoError(t, err)
		assert.Zero(t, value.Cmp(again), text)
	}
	for _, text := range []string{"", "85%", "1_000", "0x10", "1,5", "one", "1e", "--1", strings.Repeat("1", 500)} {
		_, err := metric.ParseValue(text)
		require.ErrorIs(t, err, metric.ErrNotNumber, text)
	}
	for _, text := range []string{"nan", "NaN", "-inf", "Infinity", "1e999999999", "1e309", "1e-99999999999999999999"} {
		_, err := metric.ParseValue(text)
		assert.ErrorIs(t, err, metric.ErrNotFinite, text)
	}
}

// TestWrittenNumberIsReadAgain: sums and products can be beyond what is read. Their text is the nearest that is.
func TestWrittenNumberIsReadAgain(t *testing.T) {
	t.Parallel()
	const largest = "1.7976931348623157e308"
	for _, c := range [][3]string{
		{
			largest, largest, largest,
		},
		{"-1e308", largest, "-" + largest},
		{"1e-300", "1e-200", "0"},
		{
			"1e200", "1e-7",
			"1e193",
		},
		{"9007199254740993", "3", "27021597764222979"},
	} {
		text := metric.MustValue(c[0]).Mul(metric.MustValue(c[1])).String()
		again, err := metric.ParseValue(text)
		require.NoError(t, err, text)
		assert.Equal(t, c[2], text)
		assert.Equal(t, text, again.String())
	}
}

func TestDeltaIsDecimal(t *testing.T) {
	best := metric.MustValue("1.5")
	assert.Equal(t, "-0.2", metric.Delta(metric.MustValue("1.3"), &best))
	assert.Equal(t, "0", metric.Delta(metric.MustValue("1.50"), &best))
	assert.Empty(t, metric.Delta(best, nil))
}

func TestExtract(t *testing.T) {
	for name, c := range map[string]struct {
		out, key, want string
	}{
		"object":                  {`{"f": 1.5}`, "f", "1.5"},
		"last of several":         {"{\"f\": 1}\nlog {not json}\n{\"f\": 2}\n", "f", "2"},
		"spans lines":             {"start\n{\n  \"f\": 3,\n  \"n\": {\"g\": 4}\n}\nbye\n", "n.g", "4"},
		"the outer object counts": {`{"f": 1, "inner": {"f": 2}}`, "f", "1"},
		"dotted name wins":        {`{"a.b": 1, "a": {"b": 2}}`, "a.b", "1"},
		"dots inside names":       {`{"a.b": {"c": 7}}`, "a.b.c", "7"},
		"only number":             {`{"name": "x", "v": 0.25}`, "", "0.25"},
		"bare number":             {"compiling\n0.83\n", "", "0.83"},
		"bare number with a key":  {"12", "f", "12"},
		"beyond 2^53":             {`{"f": 9007199254740993}`, "f", "9007199254740993"},
		"braces around":           {`}}{ {"f": 1}`, "f", "1"},
		"after a broken one":      {`{"a": {"f": 6} oops`, "f", "6"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := metric.Extract([]byte(c.out), c.key)
			require.NoError(t, err)
			require.NotNil(t, m.Metric)
			assert.Equal(t, c.want, m.Metric.String())
		})
	}
}

func TestExtractUnscorable(t *testing.T) {
	m, err := metric.Extract([]byte(`{"f": null, "rejected_reason": "circles overlap", "n": 3}`), "f")
	require.NoError(t, err)
	assert.Nil(t, m.Metric)
	assert.Equal(t, "circles overlap", m.RejectedReason)
	assert.Equal(t, "3", m.Numbers["n"].String())
}

func TestExtractErrors(t *testing.T) {
	for name, c := range map[string]struct {
		out, key string
		want     error
		says     string
	}{
		"nothing":                  {"", "f", metric.ErrNoMetric, "printed nothing"},
		"prose":                    {"all good\n", "f", metric.ErrNoMetric, "all good"},
		"missing key":              {`{"g": 1}`, "f", metric.ErrNoMetric, "numbers there: g"},
		"text":                     {`{"f": "1"}`, "f", metric.ErrNoMetric, "no number"},
		"two numbers":              {`{"f": 1, "g": 2}`, "", metric.ErrNoMetric, "f, g"},
		"NaN":                      {`{"f": NaN}`, "f", metric.ErrNotFinite, "NaN"},
		"NaN after a good object":  {"{\"f\": 1}\n{\"f\": NaN}", "f", metric.ErrNotFinite, "NaN"},
		"minus infinity":           {`{"f": -Infinity}`, "f", metric.ErrNotFinite, "infinity"},
		"too large":                {`{"f": 1e999}`, "f", metric.ErrNotFinite, "out of range"},
		"bare nan":                 {"nan\n", "", metric.ErrNotFinite, "nan"},
		"a number in a last line":  {"score: 5", "", metric.ErrNoMetric, "score: 5"},
		"hostile nesting is found": {strings.Repeat(`{"a":`, 200_000), "f", metric.ErrNoMetric, "unclosed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := metric.Extract([]byte(c.out), c.key)
			require.ErrorIs(t, err, c.want)
			assert.Contains(t, err.Error(), c.says)
		})
	}
}

func FuzzExtract(f *testing.F) {
	for _, seed := range []string{
		`{"f": 1}`, "{\"f\": NaN}", "1.5\n", `{"a":{"b":[1,{"c":2}]}}`, "{{{}",
		`{"f":1e400}`,
	} {
		f.Add([]byte(seed), "f")
	}
	f.Fuzz(func(t *testing.T, out []byte, key string) {
		m, err := metric.Extract(out, key)
		if err == nil && m.Metric != nil {
			again, err := metric.ParseValue(m.Metric.String())
			require.NoError(t, err)
			assert.Zero(t, again.Cmp(*m.Metric))
		}
	})
}

func TestExtractRefusesWhatCanBeReadInTwoWays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ output, says string }{
		"cut off after a whole one":              {`{"m": 1}` + "\n" + `{"m": 2`, "cut off"},
		"cut off within a string":                {`{"m": 1}` + "\n" + `{"m`, "cut off"},
		"cut off around a whole one":             {`{"m": 1, "detail": {"m": 2}`, "cut off"},
		"cut off in a list":                      {`{"m": 1}` + "\n" + `{"m": 2, "list": [1, {"m": 3}`, "cut off"},
		"a key twice":                            {`{"m": 1, "m": 2}`, `the key "m" twice`},
		"a key twice, once escaped":              {`{"m": 1, "\u006d": 2}`, `the key "m" twice`},
		"a key twice inside":                     {`{"m": 1, "a": [{"x": {}, "y": [], "x": 1}]}`, `the key "x" twice`},
		"a key twice after an object as a value": {`{"m": {"m": 1}, "a": "m", "m": 2}`, `the key "m" twice`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := metric.Extract([]byte(c.output), "m")
			require.ErrorIs(t, err, metric.ErrNoMetric)
			assert.ErrorContains(t, err, c.says)
		})
	}
	for name, output := range map[string]string{
		"one key in many objects":       `{"m": 1, "a": {"m": 2}, "b": [{"m": 3}, {"m": 3}], "c": "m", "d": "m"}`,
		"braces of something else":      "func f() {\n{\"x\" y}\n" + `{"m": 1}` + "\n{ and more",
		"a key twice in an earlier one": `{"m": 7, "m": 8}` + "\n" + `{"m": 1}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := metric.Extract([]byte(output), "m")
			require.NoError(t, err)
			assert.Equal(t, "1", m.Metric.String())
		})
	}
}

// TestGuardrailIsSameNumber has a name that is there by its dots and by
// nesting.
func TestGuardrailIsSameNumber(t *testing.T) {
	t.Parallel()
	for range 100 {
		m, err := metric.Extract([]byte(`{"m": 1, "a.b": 2, "a": {"b": 3, "c.d": 5, "c": {"d": 6}}, "x": 4}`), "m")
		require.NoError(t, err)
		require.Equal(t, "2", m.Numbers["a.b"].String())
		require.Equal(t, "5", m.Numbers["a.c.d"].String())
		require.Len(t, m.Numbers, 4)
	}
}

// TestOneResultIsLookedForInTime has texts of many braces that begin nothing.
func TestOneResultIsLookedForInTime(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"{", `{"`, `{"a":`, `{"a":1x`, "1{"} {
		_, err := metric.ExtractOne([]byte(strings.Repeat(part, 200_000)), "m")
		require.Error(t, err)
	}
}
