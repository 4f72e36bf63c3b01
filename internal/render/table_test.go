package render_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/render"
)

func TestTable(t *testing.T) {
	table := render.Table{
		Header: []string{"name", "metric"},
		Rows:   [][]string{{"größe", "1.5"}, {"two\nlines", "-10"}, {"short"}},
		Align:  "lr",
	}
	assert.Equal(t, "name       metric\ngröße         1.5\ntwo lines     -10\nshort\n", table.String())
}
