package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrorsAreMessages holds that the messages of docs/reference/errors.md are in the source.
func TestErrorsAreMessages(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/reference/errors.md")
	require.NoError(t, err)
	var source strings.Builder
	for _, s := range sources(t) {
		text, err := os.ReadFile(filepath.Join("..", s.file))
		require.NoError(t, err)
		source.Write(text)
	}
	rows := regexp.MustCompile("(?m)^\\| (`.*?`) \\|").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(rows), 10)
	for _, row := range rows {
		for _, part := range regexp.MustCompile("`, `|…|`").Split(row[1], -1) {
			if !strings.Contains(source.String(), strings.Trim(part, "`")) {
				t.Errorf("nothing says %s", part)
			}
		}
	}
}
