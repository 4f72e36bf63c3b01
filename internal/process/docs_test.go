package process

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEnvironmentIsInDocs holds the page about the environment of
// evaluations against what is passed.
func TestEnvironmentIsInDocs(t *testing.T) {
	t.Parallel()
	text := must(os.ReadFile("../../docs/reference/environment.md"))
	passes, _, found := strings.Cut(string(text), "## What does not")
	require.True(t, found)
	named := map[string]bool{}
	for _, word := range regexp.MustCompile("`([A-Za-z_]+)`").FindAllStringSubmatch(passes, -1) {
		named[word[1]] = true
	}
	all := slices.Clone(passed)
	for _, c := range caches {
		all = append(all, c.name)
	}
	for _, name := range all {
		small := strings.HasSuffix(name, "_proxy") // "and in small letters"
		assert.True(t, named[name] || small, "%s is passed and not named", name)
	}
	for name := range named {
		if strings.ToUpper(name) == name &&
			!slices.Contains([]string{"HOME", "TMPDIR", "AUTOLOOP", "AUTOLOOP_RESULT", "GIT_TERMINAL_PROMPT"}, name) {
			assert.Contains(t, all, name, "named and not passed")
		}
	}
}

// must is the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
