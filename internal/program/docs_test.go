package program

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDocsNameEveryKey holds the tables of the documentation against the keys
// that are read.
func TestDocsNameEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../docs/programs.md")
	require.NoError(t, err)
	_, reference, _ := strings.Cut(string(text), "\n## Frontmatter\n")
	reference, _, _ = strings.Cut(reference, "\n## ")
	var documented, known []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_-]+)` \\|").FindAllStringSubmatch(reference, -1) {
		documented = append(documented, normalKey(row[1]))
	}
	for key := range keys {
		known = append(known, key)
	}
	slices.Sort(documented)
	slices.Sort(known)
	assert.Equal(t, known, documented)
}

func TestExamplesOfTheDocsAreGood(t *testing.T) {
	for _, file := range []string{"../../docs/programs.md", "../../README.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		examples := regexp.MustCompile("(?s)\n````markdown\n(.*?)\n````\n").FindAllSubmatch(text, -1)
		require.NotEmpty(t, examples, file)
		for _, example := range examples {
			p := Parse("speed.md", example[1])
			require.NoError(t, p.Err())
			assert.Empty(t, p.Warnings())
			assert.Empty(t, p.Missing())
			assert.False(t, p.Unconfigured)
		}
	}
}
