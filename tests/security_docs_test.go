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
	data, err := os.ReadFile("../docs/explain/security.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(data), "\n## "+heading+"\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// TestThreatsNameTestsThatExist holds that each threat in docs/explain/security.md names
// tests, and that there are tests of those names.
func TestThreatsNameTestsThatExist(t *testing.T) {
	t.Parallel()
	section := securitySection(t, "Threats")
	there := testNames(t)
	name := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	rows := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| who ") {
			continue
		}
		rows++
		named := name.FindAllStringSubmatch(line, -1)
		assert.NotEmpty(t, named, "no test holds this: %s", line)
		for _, test := range named {
			assert.True(t, there[test[1]], "docs/explain/security.md names %s, and there is no such test", test[1])
		}
	}
	assert.Greater(t, rows, 12)
}

// TestAttacksNameTestsThatExist holds that each attack of docs/explain/security.md is held
// always, never, or by one of three verdicts, and that what is said to be held names tests
// that there are.
func TestAttacksNameTestsThatExist(t *testing.T) {
	t.Parallel()
	there := testNames(t)
	name := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	verdict := regexp.MustCompile(`^(held|noticed|\*\*not held\*\*)($|: | for )`)
	cellsOf := map[string]int{"Always held": 2, "Where isolation matters": 5, "Never held": 2}
	rows, heading := 0, ""
	for line := range strings.Lines(securitySection(t, "Attacks, one by one")) {
		if text, found := strings.CutPrefix(line, "### "); found {
			heading = strings.TrimSpace(text)
			require.Contains(t, cellsOf, heading)
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| attack ") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		require.Len(t, cells, cellsOf[heading], line)
		for _, cell := range cells[1 : len(cells)-1] {
			assert.True(t, cell == "—" || verdict.MatchString(cell), "%q in %s", cell, line)
		}
		last := cells[len(cells)-1]
		named := name.FindAllStringSubmatch(last, -1)
		if heading == "Never held" {
			assert.NotEmpty(t, last, "say what helps: %s", line)
		} else {
			assert.NotEmpty(t, named, "what is held is shown by a test: %s", line)
		}
		for _, test := range named {
			assert.True(t, there[test[1]], "docs/explain/security.md names %s, and there is no such test", test[1])
		}
	}
	assert.Greater(t, rows, 50)
}

// testNames are the tests, fuzz tests and benchmarks of this repository.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(\w+ \*testing\.[TFB]\)`)
	names := map[string]bool{}
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
