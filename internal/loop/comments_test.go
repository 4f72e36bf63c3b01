package loop

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/github/commands"
)

func TestAMarkGoesNoFurtherThanWhatThereIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mark                commands.Mark
		there, before, want string
	}{
		{commands.Mark{Issue: 5, Review: 6}, "5 6", "1 1", "5 6"},
		{commands.Mark{Issue: 5, Review: 6}, "9 9", "1 1", "5 6"},
		{commands.Mark{Issue: 999, Review: 999}, "9 8", "1 1", "9 8"},
		{commands.Mark{}, "9 8", "4 3", "4 3"},
		{commands.Mark{Issue: 5}, "", "4 3", ""},
	} {
		assert.Equal(t, c.want, until(c.mark, c.there, c.before))
	}
}
