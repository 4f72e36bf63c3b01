package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/github/commands"
)

func TestMarkOfCommentsIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mark                commands.Mark
		there, before, want string
	}{
		{commands.Mark{5, 6, 7}, "5 6 7", "1 1 1", "5 6 7"},
		{commands.Mark{5, 6, 7}, "9 9 9", "1 1 1", "5 6 7"},
		{commands.Mark{999, 999, 999}, "9 8 7", "1 1 1", "9 8 7"},
		{commands.Mark{}, "9 8 7", "4 3 2", "4 3 2"},
		{commands.Mark{5}, "", "4 3 2", ""},
	} {
		assert.Equal(t, c.want, until(c.mark, c.there, c.before))
	}
}
