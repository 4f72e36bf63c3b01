package metric_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
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

// TestTextsOfNumbers: a number is written in one way, which is read again.
func TestTextsOfNumbers(t *testing.T) {
	for _, text := range []string{
		"1.30", "-0", "0.000", "+5", ".5", "5.", "1e2", "1E-7", "0.000001", "-12.50e-1", "9007199254740993", "1e-300",
		"1.5e300", "123456789012345678901", "", "85%", "1_000", "0x10", "1,5", "one", "1e", "--1", "nan", "NaN", "-inf",
		"Infinity", "1e999999999", "1e309", "1e-99999999999999999999", "0e2147483647", "0e-2147483647",
	} {
		value, err := metric.ParseValue(text)
		if err != nil {
			golden.Row(t, text, err)
			assert.NotEqual(t, errors.Is(err, metric.ErrNotNumber), errors.Is(err, metric.ErrNotFinite), text)
			continue
		}
		golden.Row(t, text, value)
		again, err := metric.ParseValue(value.String())
		require.NoError(t, err)
		assert.Zero(t, value.Cmp(again), text)
	}
	_, err := metric.ParseValue(strings.Repeat("1", 500))
	require.ErrorIs(t, err, metric.ErrNotNumber)
	for _, text := range []string{"higher", " LOWER ", "", "down", "lower is better", "true"} {
		direction, err := metric.ParseDirection(text)
		golden.Row(t, "direction "+text, fmt.Sprint(direction, err))
	}
}

// TestResultsOfOutputs: what is read of an output, behind the name that is looked for; what can be
// read in two ways is refused.
func TestResultsOfOutputs(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]string{
		"object":                   `f {"f": 1.5}`,
		"last of several":          "f {\"f\": 1}\nlog {not json}\n{\"f\": 2}\n",
		"spans lines":              "n.g start\n{\n  \"f\": 3,\n  \"n\": {\"g\": 4}\n}\nbye\n",
		"the outer object counts":  `f {"f": 1, "inner": {"f": 2}}`,
		"dotted name wins":         `a.b {"a.b": 1, "a": {"b": 2}}`,
		"dots inside names":        `a.b.c {"a.b": {"c": 7}}`,
		"only number":              ` {"name": "x", "v": 0.25}`,
		"bare number":              " compiling\n0.83\n",
		"bare number with a key":   "f 12",
		"a number after an object": " {\"f\": 1}\nbye\n12\n",
		"an object after a number": "f 12\n{\"f\": 1}\nbye\n",
		"beyond 2^53":              `f {"f": 9007199254740993}`,
		"braces around":            `f }}{ {"f": 1}`,
		"after a broken one":       `f {"a": {"f": 6} oops`,
		"unscorable":               `f {"f": null, "rejected_reason": "circles overlap", "n": 3}`,
		"guardrails":               `m {"m": 1, "a.b": 2, "a": {"b": 3, "c.d": 5, "c": {"d": 6}}, "x": 4}`,
		"nothing":                  "f ",
		"prose":                    "f all good\n",
		"missing key":              `f {"g": 1}`,
		"text":                     `f {"f": "1"}`,
		"two numbers":              ` {"f": 1, "g": 2}`,
		"NaN":                      `f {"f": NaN}`,
		"NaN after a good object":  "f {\"f\": 1}\n{\"f\": NaN}",
		"minus infinity":           `f {"f": -Infinity}`,
		"too large":                `f {"f": 1e999}`,
		"bare nan":                 " nan\n",
		"a number in a last line":  " score: 5",
		"hostile nesting":          "f " + strings.Repeat(`{"a":`, 200_000),

		"cut off after a whole one":              `m {"m": 1}` + "\n" + `{"m": 2`,
		"cut off within a string":                `m {"m": 1}` + "\n" + `{"m`,
		"cut off around a whole one":             `m {"m": 1, "detail": {"m": 2}`,
		"cut off in a list":                      `m {"m": 1}` + "\n" + `{"m": 2, "list": [1, {"m": 3}`,
		"a key twice":                            `m {"m": 1, "m": 2}`,
		"a key twice, once escaped":              `m {"m": 1, "\u006d": 2}`,
		"a key twice inside":                     `m {"m": 1, "a": [{"x": {}, "y": [], "x": 1}]}`,
		"a key twice after an object as a value": `m {"m": {"m": 1}, "a": "m", "m": 2}`,
		"one key in many objects":                `m {"m": 1, "a": {"m": 2}, "b": [{"m": 3}, {"m": 3}], "c": "m", "d": "m"}`,
		"braces of something else":               "m func f() {\n{\"x\" y}\n" + `{"m": 1}` + "\n{ and more",
		"a key twice in an earlier one":          `m {"m": 7, "m": 8}` + "\n" + `{"m": 1}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, output, _ := strings.Cut(row, " ")
			m, err := metric.Extract([]byte(output), key)
			if err != nil {
				golden.Line(t, err)
				assert.NotEqual(t, errors.Is(err, metric.ErrNoMetric), errors.Is(err, metric.ErrNotFinite))
				return
			}
			golden.Line(t, fmt.Sprint(metric.Text(m.Metric, "null"), " ", m.Numbers, " ", m.RejectedReason))
		})
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

// TestOneResultIsLookedForInTime has texts of many braces that begin nothing.
func TestOneResultIsLookedForInTime(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"{", `{"`, `{"a":`, `{"a":1x`, "1{"} {
		_, err := metric.ExtractOne([]byte(strings.Repeat(part, 200_000)), "m")
		require.Error(t, err)
	}
}
