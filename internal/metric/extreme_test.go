package metric_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
)

// TestWhatIsWrittenIsReadAgain: sums and products of numbers that were read can be beyond
// what is read. Their text never is, and is as near to them as a float64 is.
func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	const largest = "1.7976931348623157e308"
	texts := []string{
		"0", "1", "-1", "0.1", "1e-7", "1e21", largest, "-" + largest, "1e308", "-1e308", "4.9e-324", "1e-400",
		"-3e-400", "9007199254740993", "1e300", "123456789e-300",
		strings.Repeat("9", 300), "0." + strings.Repeat("3", 390),
		"-" + strings.Repeat("7", 200) + "." + strings.Repeat("7", 190),
	}
	bound := metric.MustValue(largest).Rat()
	rounded := 0
	for _, x := range texts {
		for _, y := range texts {
			a, b := metric.MustValue(x), metric.MustValue(y)
			for name, v := range map[string]metric.Value{
				"+": a.Add(b), "-": a.Sub(b), "*": a.Mul(b), "mean": a.Mean(b),
				"of": a.Abs().Mul(b).Mul(metric.MustValue("0.01")),
			} {
				says := x + " " + name + " " + y
				text := v.String()
				again, err := metric.ParseValue(text)
				require.NoError(t, err, says)
				assert.Equal(t, text, again.String(), says)
				written, err := json.Marshal(v)
				require.NoError(t, err, says)
				require.NoError(t, json.Unmarshal(written, &again), says)
				if again.Cmp(v) == 0 {
					continue
				}
				rounded++
				want := v.Rat()
				if magnitude := new(big.Rat).Abs(want); magnitude.Cmp(bound) > 0 {
					want.Mul(bound, big.NewRat(int64(want.Sign()), 1))
				}
				far := new(big.Rat).Sub(again.Rat(), want)
				within := new(big.Rat).Mul(new(big.Rat).Abs(want), big.NewRat(1, 1<<52))
				least := metric.MustValue("5e-324").Rat() // below which a float64 is 0
				assert.True(t, far.Abs(far).Cmp(within) <= 0 || far.Cmp(least) <= 0, says)
			}
		}
	}
	assert.Greater(t, rounded, 50)
}
