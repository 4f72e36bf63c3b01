package render

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/metric"
)

func values(texts ...string) (list []metric.Value) {
	for _, text := range texts {
		list = append(list, metric.MustValue(text))
	}
	return list
}

func TestStrips(t *testing.T) {
	got := drawStrips(11, []Strip{
		{Name: "old", Samples: values("0", "1", "1", "4"), Note: "median 1"},
		{Name: "newer", Samples: values("6", "8", "10"), Note: "median 8"},
	})
	assert.Equal(t, "old    ·┃  ·        median 1\nnewer        · ┃ ·  median 8\n       0        10\n", got)
}

func TestStripsAtTheEdges(t *testing.T) {
	assert.Empty(t, Strips(Strip{Name: "old"}))
	assert.Equal(t, "x    ┃    5\n   5   5\n",
		drawStrips(5, []Strip{{Name: "x", Samples: values("5", "5"), Note: "5"}}))
	huge := drawStrips(5, []Strip{{Name: "x", Samples: values("-1.7e308", "1.7e308")}})
	assert.Equal(t, "x  · ┃ ·  \n   -1.7e308 1.7e308\n", huge)
}
