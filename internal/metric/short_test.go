package metric

import (
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestShortValuesAreTheSame: how a number is read does not show in it.
func TestShortValuesAreTheSame(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0", "-0", "+7", "1.30", "-.5", "5.", "007", "123456789012345678", "-99999999999999999.9", "0.000000000000001"} {
		number, places, is := shortNumber(text)
		short := Value{decimal.New(number, -places)}
		require.NoError(t, CheckValue(text), text)
		require.True(t, is || len(text) > 18, text)
		whole, err := decimal.NewFromString(text)
		require.NoError(t, err, text)
		if is {
			assert.Equal(t, whole.Coefficient(), short.d.Coefficient(), text)
			assert.Equal(t, whole.Exponent(), short.d.Exponent(), text)
			assert.Equal(t, Value{whole}.String(), short.String(), text)
		}
	}
	for _, text := range []string{"", ".", "-", "+-1", "--1", "1.2.3", "1e3", "x", "1 2", "0x10", "1234567890123456789"} {
		_, _, is := shortNumber(text)
		assert.False(t, is, text)
		_, err := ParseValue(text)
		assert.Equal(t, err, CheckValue(text), text)
	}
}
