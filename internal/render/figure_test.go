package render_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/render"
)

func TestLongNumbersAreRounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ texts, want []string }{
		"three digits":         {[]string{"90.6367041198502"}, []string{"90.6"}},
		"the whole part stays": {[]string{"1234567.891", "1234567"}, []string{"1234568", "1234567"}},
		"of a small one":       {[]string{"0.000123456789", "1.23456789e-9"}, []string{"0.000123", "1.23e-09"}},
		"signs stay":           {[]string{"+12.3456789", "-0.3333333"}, []string{"+12.3", "-0.333"}},
		"told apart":           {[]string{"90.6367041198502", "90.6312345"}, []string{"90.64", "90.63"}},
		"in one text": {
			[]string{"90.6367041 is not better than 90.6"},
			[]string{"90.64 is not better than 90.6"},
		},
		"from a whole number": {
			[]string{"5.0000001 is not better than 5"},
			[]string{"5.0000001 is not better than 5"},
		},
		"the same twice": {
			[]string{"0.33333333 is not better than 0.33333333"},
			[]string{"0.333 is not better than 0.333"},
		},
		"short ones stay": {
			[]string{"0.1234, 12.25, v1.22.10 and 10.0.0.127"},
			[]string{"0.1234, 12.25, v1.22.10 and 10.0.0.127"},
		},
		"and what is not a number": {[]string{"—", "1234567. Then", ""}, []string{"—", "1234567. Then", ""}},
	} {
		assert.Equal(t, c.want, render.Rounded(c.texts...), name)
	}
}

func TestUnderAMinuteIsSeconds(t *testing.T) {
	t.Parallel()
	for minutes, want := range map[float64]string{
		0: "0 s", 0.004: "0.24 s", 0.5: "30 s", 1: "1 min",
		12.345: "12.3 min", 150: "2.5 h", 60_000: "1000 h",
	} {
		assert.Equal(t, want, render.Minutes(minutes))
	}
}
