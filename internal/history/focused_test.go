package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/history"
)

// TestFocuses are those of one definition, from the first attempt that had one.
func TestFocuses(t *testing.T) {
	t.Parallel()
	var b history.Summary
	for _, a := range [][2]string{{"d", ""}, {"d", "a"}, {"d", ""}, {"other", "b"}, {"d", "a"}} {
		b.Attempts = append(b.Attempts, history.Attempt{Definition: a[0], Focus: a[1]})
	}
	assert.Equal(t, []string{"a", "", "a"}, b.Focuses("d"))
	assert.Equal(t, []string{"b"}, b.Focuses("other"))
	assert.Empty(t, b.Focuses("none"))
}
