package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryVariableIsListed holds docs/reference/variables.md against what the code reads
// and sets, and what the workflows name.
func TestEveryVariableIsListed(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	page, err := os.ReadFile(filepath.Join(referenceDir, "variables.md"))
	require.NoError(t, err)
	for _, row := range regexp.MustCompile("(?m)^- `([^`]+)`: ").FindAllStringSubmatch(string(page), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			listed[name] = true
		}
	}
	used := map[string]string{}
	ours := regexp.MustCompile(`\bAUTOLOOP_[A-Z_]*[A-Z]\b`)
	asked := regexp.MustCompile(`\.(?:Getenv|IsTrue)\("([^"]+)"\)`)
	for _, top := range []string{"../../internal", "../../cmd"} {
		require.NoError(t, filepath.WalkDir(top, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, name := range ours.FindAllString(string(text), -1) {
				used[name] = file
			}
			if strings.Contains(file, "internal/cli/") || strings.Contains(file, "internal/actions/") {
				for _, call := range asked.FindAllStringSubmatch(string(text), -1) {
					used[call[1]] = file
				}
			}
			return nil
		}))
	}
	delete(used, "AUTOLOOP_TEST_RECEIVE") // of the tests' GitHub
	workflows, err := filepath.Glob("../../workflows/*.yml")
	require.NoError(t, err)
	for _, file := range workflows {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, name := range ours.FindAllString(string(text), -1) {
			used[name] = file
		}
	}
	for name, file := range used {
		assert.True(t, listed[name], "%s is in %s and not in docs/reference/variables.md", name, file)
	}
	for name := range listed {
		elsewhere := map[string]bool{ // set or read with other calls
			"AUTOLOOP": true, "PATH": true, "GIT_TERMINAL_PROMPT": true, "PORT": true, "XDG_STATE_HOME": true,
			"XDG_RUNTIME_DIR": true,
		}
		assert.True(t, used[name] != "" || elsewhere[name], "nothing reads or sets %s", name)
	}
}
