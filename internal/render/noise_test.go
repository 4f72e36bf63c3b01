package render_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render"
)

func TestWithinNoise(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"0.5", "0.5", false},
		{"0.5", "0.549999999999", true},
		{"0.549999999999", "0.5", true},
		{"0.5", "0.55", false},
		{"0.3", "0.25", false},
		{"0", "0.000000000001", true},
		{"0", "1", false},
	} {
		assert.Equal(t, c.want, render.WithinNoise(metric.MustValue(c.a), metric.MustValue(c.b)), "%s and %s", c.a, c.b)
	}
}
