package program_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/tests/golden"
)

func TestNames(t *testing.T) {
	for file, want := range map[string]string{
		".autoloop/programs/speed/program.md":         "speed",
		".autoloop/programs/speed.md":                 "speed",
		".autoloop/programs/a.b_c-1.md":               "a.b_c-1",
		".autoloop/program.md":                        "program",
		"program.md":                                  "program",
		"/repo/.autoloop/programs/x.md":               "x",
		"programs/" + strings.Repeat("a", 64) + ".md": strings.Repeat("a", 64),
	} {
		p := program.Parse(file, nil)
		assert.Equal(t, want, p.Name)
		assert.Equal(t, file, p.File)
		assert.NoError(t, p.Err())
	}
}

func TestNamesThatAreNoSlugs(t *testing.T) {
	for name, slug := range map[string]string{
		"My Program": "my-program", "a..b": "a.b", "a.": "a", "x.lock": "x", "x.lock.lock": "x", "-a": "a", "_a": "a",
		"Ünïcode": "n-code",
		"a/b":     "a-b", "a\nb": "a-b", "A": "a", strings.Repeat("a", 300): strings.Repeat("a", 64),
		strings.Repeat("é", 100) + "b":     "b",
		strings.Repeat("a", 59) + ".lockx": strings.Repeat("a", 59),
	} {
		err := program.ValidName(name)
		require.Error(t, err, name)
		assert.Contains(t, err.Error(), `rename it to "`+slug+`"`, name)
		assert.NotContains(t, err.Error(), "\n")
		assert.Less(t, len(err.Error()), 250)
		require.NoError(t, program.ValidName(slug))
	}
	for _, name := range []string{"", "...", "日本語", "@{"} {
		assert.ErrorContains(t, program.ValidName(name), "use a-z", name)
	}
}

func TestProblemIsOneLineWhateverTheFileIsCalled(t *testing.T) {
	p := program.Parse(".autoloop/programs/a\nb\x1b.md", nil)
	golden.Row(t, ".autoloop/programs/a b .md: name", strings.ReplaceAll(p.Err().Error(), `a b\u001b`, `a\nb\x1b`))
}

func TestSlugOfIssues(t *testing.T) {
	for title, want := range map[string]string{
		"Faster parser!": "faster-parser", "  [WIP] Make it   faster ": "wip-make-it-faster",
		"v1.2 — final": "v1.2-final", "🚀": "issue-7", "": "issue-7", "...": "issue-7",
	} {
		p := program.ParseIssue(7, title, []byte("## Goal\n\nx\n"))
		assert.Equal(t, want, p.Name, title)
		assert.Equal(t, 7, p.Issue)
		assert.Equal(t, "issue #7", p.File)
		assert.NoError(t, p.Err())
	}
}
