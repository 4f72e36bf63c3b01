package decision_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/golden"
)

func numbers(text string) []metric.Value {
	var list []metric.Value
	for field := range strings.FieldsSeq(text) {
		list = append(list, metric.MustValue(field))
	}
	return list
}

// TestAgrees: an early look of three runs beside five may still be chance, and is
// no reason to forget that the incumbent was another.
func TestAgrees(t *testing.T) {
	t.Parallel()
	const five = "106.5 106.1 106.9 106.6 106.2"
	assert.True(t, decision.Agrees(numbers(five), numbers("106.9 106.2 107")))
	assert.False(t, decision.Agrees(numbers(five), numbers("100.1 100.7 100.9")))
	assert.Empty(t, decision.Disagreement(numbers(five), numbers("100.1 100.7 100.9")))
	assert.False(t, decision.Agrees(nil, numbers("1")))
	assert.False(t, decision.Agrees(numbers("1"), nil))
}

func TestDisagreement(t *testing.T) {
	t.Parallel()
	const eight = "106 105.5 106.4 106.2 105.8 106.1 105.9 106.3"
	for name, c := range map[string]struct {
		recorded, anew string
		disagrees      bool
	}{
		"the same numbers":                 {eight, eight, false},
		"luck":                             {eight, "100 100.4 99.8 100.2 99.9 100.1 100.3 99.7", true},
		"luck, seen in an early look":      {eight, "100 100.4 99.8", true},
		"a better number":                  {eight, "110 110.4 110.2 110.1 110.3 110.5 110.6 110.7", true},
		"within the noise":                 {eight, "106.9 106.8 106.7 106.6 106.5 106.9 106.8 106.7", false},
		"two runs are few":                 {eight, "100 100.4", false},
		"one outlier":                      {eight, "106 105.9 106.1 90 106.2 105.8 106.3 106", false},
		"deterministic, the same":          {"5 5", "5", false},
		"deterministic, another":           {"5 5", "6", true},
		"one run each":                     {"5", "6", false},
		"deterministic once, noise anew":   {"5 5", "4 6 5 7 5 4 6 5", false},
		"nothing measured":                 {"5 5", "", false},
		"nothing on record":                {"", "5 5", false},
		"a number that jumps now and then": {"1 1 1 9 1 9 1 1", "9 9 9 9 9 9 9 9", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := decision.Disagreement(numbers(c.recorded), numbers(c.anew))
			assert.Equal(t, c.disagrees, said != nil, said)
		})
	}
	golden.Row(
		t,
		"the incumbent, measured anew,",
		decision.Text(decision.Disagreement(numbers(eight), numbers("100 100.4 99.8"))),
	)
}
