package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/render"
)

// TestLongNumbersAreRounded of several texts, separated by bars, that are told apart.
func TestLongNumbersAreRounded(t *testing.T) {
	t.Parallel()
	for texts, want := range map[string]string{
		"90.6367041198502": "90.6", "1234567.891|1234567": "1234568|1234567",
		"1.23456789e-9|0.000123456789": "1.23e-09|0.000123",
		"+12.3456789|-0.3333333":       "+12.3|-0.333", "90.6367041198502|90.6312345": "90.64|90.63",
		"90.6367041 is not better than 90.6":       "90.64 is not better than 90.6",
		"5.0000001 is not better than 5":           "5.0000001 is not better than 5",
		"0.33333333 is not better than 0.33333333": "0.333 is not better than 0.333",
		"0.1234, 12.25, v1.22.10 and 10.0.0.127":   "0.1234, 12.25, v1.22.10 and 10.0.0.127",
		"—|1234567. Then|":                         "—|1234567. Then|",
	} {
		assert.Equal(t, want, strings.Join(render.Rounded(strings.Split(texts, "|")...), "|"))
	}
}

func TestUnderAMinuteIsSeconds(t *testing.T) {
	t.Parallel()
	for minutes, want := range map[float64]string{
		0: "0 s", 0.004: "0.24 s", 0.5: "30 s", 1: "1 min",
		12.345: "12.3 min", 150: "2.5 h", 60_000: "41.7 d",
	} {
		assert.Equal(t, want, render.Minutes(minutes))
	}
}
