package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUpdatesAreCountedUntilPackingIsDue: after so many of them, or so many bytes. Lines
// that say nothing count as updates without a size.
func TestUpdatesAreCountedUntilPackingIsDue(t *testing.T) {
	t.Parallel()
	lines := func(n int, line string) string { return strings.Repeat(line+"\n", n) }
	for name, test := range map[string]struct {
		before string
		size   int
		want   bool
	}{
		"the first":               {"", 1, false},
		"the first, and large":    {"", packBytes, true},
		"just not large enough":   {"", packBytes - 1, false},
		"large together":          {lines(1, "1000"), packBytes - 1000, true},
		"just not large together": {lines(1, "1000"), packBytes - 1001, false},
		"just not so many":        {lines(packAfter-2, "10"), 10, false},
		"so many":                 {lines(packAfter-1, "10"), 10, true},
		"many more":               {lines(10*packAfter, "10"), 10, true},
		"so many of nothing":      {lines(packAfter-1, "0"), 0, true},
		"lines by others":         {lines(3, "what") + lines(2, "") + "7 8\n" + lines(1, "99999999999999999999999"), 1, false},
		"so many by others":       {lines(packAfter-1, "what"), 1, true},
		"a line that was cut off": {fmt.Sprint(packBytes), 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "updates")
			if test.before != "" {
				require.NoError(t, os.WriteFile(file, []byte(test.before), 0o600))
			}
			got, due := countUpdate(file, test.size)
			assert.Equal(t, file, got)
			assert.Equal(t, test.want, due)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, test.before+fmt.Sprintln(test.size), string(text), "each is noted")
		})
	}
	dir := t.TempDir()
	for _, file := range []string{dir, filepath.Join(dir, "gone", "updates")} {
		_, due := countUpdate(file, 10*packBytes)
		assert.False(t, due, "what cannot be noted is not packed")
	}
}
