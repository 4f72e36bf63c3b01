package commands_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/github/commands"
)

// TestMarksAreReadAgain, and what is no mark is the beginning.
func TestMarksAreReadAgain(t *testing.T) {
	t.Parallel()
	heard := commands.ParseMark("4 5 6")
	assert.Equal(t, "4 7 6", heard.With(commands.Address{ID: 7, Place: commands.Lines}).With(commands.Address{ID: 3}).String(), "never back")
	assert.True(t, heard.Knows(commands.Address{ID: 4}))
	assert.False(t, heard.Knows(commands.Address{ID: 5}))
	assert.Equal(t, "4 5 2", heard.Within(commands.ParseMark("4 1 1"), commands.ParseMark("3 9 2")).String())
	for _, text := range []string{"", "4", "4 5", "a b c"} {
		assert.Equal(t, commands.Mark{}, commands.ParseMark(text), text)
	}
}

// TestAddressesOfAnswersAreReadAgain, and no others.
func TestAddressesOfAnswersAreReadAgain(t *testing.T) {
	t.Parallel()
	to := commands.Answer{Address: commands.Address{ID: 7, Place: commands.Review, On: 3}, Good: true}
	again, is := commands.ParseAnswer(to.String())
	assert.Equal(t, to, again)
	assert.True(t, is)
	for _, text := range []string{"", "7 2 3", "7 9 3 true", "7 -1 3 true"} {
		_, is := commands.ParseAnswer(text)
		assert.False(t, is, text)
	}
}
