package render_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/render"
)

func TestStrips(t *testing.T) {
	got := render.Strips([]render.Strip{
		{Name: "old", Samples: []float64{0, 1, 1, 4}, Note: "median 1"},
		{Name: "newer", Samples: []float64{6, 8, 10}, Note: "median 8"},
	}, 11, "0", "10")
	assert.Equal(t, "old    ·┃  ·        median 1\nnewer        · ┃ ·  median 8\n       0        10\n", got)
}

func TestStripsAtTheEdges(t *testing.T) {
	assert.Empty(t, render.Strips([]render.Strip{{Name: "old"}}, 10, "", ""))
	assert.Equal(t, "x    ┃    5\n   5   5\n", render.Strips([]render.Strip{{Name: "x", Samples: []float64{5, 5}, Note: "5"}}, 5, "5", "5"))
	huge := render.Strips([]render.Strip{{Name: "x", Samples: []float64{-math.MaxFloat64, math.MaxFloat64}}}, 5, "a", "b")
	assert.Equal(t, "x  · ┃ ·  \n   a   b\n", huge)
}
