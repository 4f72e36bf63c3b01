package tests

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestErrorsAreMessages holds that something says the messages whose cures
// docs/reference/errors.md and action.md have.
func TestErrorsAreMessages(t *testing.T) {
	t.Parallel()
	files := []string{"workflows/action.sh"}
	for _, s := range sources(t) {
		files = append(files, s.file)
	}
	var said strings.Builder
	for _, file := range files {
		text := readText(t, filepath.Join("..", file))
		said.Write([]byte(text))
	}
	messages := 0
	for _, name := range []string{"errors.md", "action.md"} {
		page := readText(t, "../docs/reference/"+name)
		_, list, found := strings.Cut(page, "# Errors\n")
		require.True(t, found, name)
		for _, row := range regexp.MustCompile("(?m)^- (`.*?`): ").FindAllStringSubmatch(list, -1) {
			messages++
			for _, part := range regexp.MustCompile("`, `|…|`").Split(row[1], -1) {
				if !strings.Contains(said.String(), part) {
					t.Errorf("%s: nothing says %q", name, part)
				}
			}
		}
	}
	assert.Greater(t, messages, 25)
}
