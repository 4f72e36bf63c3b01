package tests

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

// securitySection is a section of docs/explain/security.md.
func securitySection(t *testing.T, heading string) string {
	t.Helper()
	data := readText(t, "../docs/explain/security.md")
	_, section, found := strings.Cut(data, "\n## "+heading+"\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// TestThreatsNameTests holds that each threat and each attack that is held names tests; that
// these exist is held for every page by TestNamedTestsExist.
func TestThreatsNameTests(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile("`((?:Test|Fuzz)[\\w/-]+)`")
	attacks, _, found := strings.Cut(securitySection(t, "Attacks, one by one"), "### Never held")
	require.True(t, found)
	rows := 0
	for line := range strings.Lines(securitySection(t, "Threats") + attacks) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| who ") || strings.HasPrefix(line, "| attack ") {
			continue
		}
		rows++
		assert.Regexp(t, name, line, "no test holds this")
	}
	assert.Greater(t, rows, 50)
}

// testNames are the tests, scripts, fuzz tests and benchmarks of this repository.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(\w+ \*testing\.[TFB]\)`)
	names := map[string]bool{}
	scripts, err := filepath.Glob("scripts/*.txtar")
	require.NoError(t, err)
	for _, script := range scripts {
		names["TestScripts/"+strings.TrimSuffix(filepath.Base(script), ".txtar")] = true
	}
	for _, dir := range []string{"../internal", "."} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata"):
				return filepath.SkipDir
			case !strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			for _, found := range declared.FindAllStringSubmatch(string(text), -1) {
				names[found[1]] = true
			}
			return err
		})
		require.NoError(t, err)
	}
	require.Greater(t, len(names), 500)
	return names
}
