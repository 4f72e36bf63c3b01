package tests

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTablesFitTheTerminal: on a terminal of any width the tables of `iterate status`,
// `iterate log` and of a run fit, with every reason whole; piped, each row is one line.
func TestTablesFitTheTerminal(t *testing.T) {
	t.Parallel()
	w := valuesWorld(t, "", "5", "4", "6", "bad", "7")
	const program = "---\nmetric_direction: %\n---\n## Target\n`value.txt`\n## Evaluation\n```\necho 1\n```\n"
	w.write(".autoloop/programs/wrong.md", strings.Replace(program, "%", "sideways", 1))
	w.write(".autoloop/programs/late.md", strings.Replace(program, "%", "lower", 1))
	w.git("add", "--all")
	w.git("commit", "--quiet", "--message", "two more")
	require.Len(t, w.iterate("--program", "p", "-n", "3"), 3)
	require.Zero(t, w.binary("iterate", "pause", "p",
		"until somebody has looked at the numbers that the new machine gives for the unchanged files").code)

	drawn := regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)
	// A program is a second later the next time that somebody looks.
	late := regexp.MustCompile(`\b[0-9hm]+s\b`)
	for _, command := range [][]string{{"iterate", "status"}, {"iterate", "log", "p"}} {
		piped := w.binary(command[0], command[1:]...)
		require.Zero(t, piped.code, piped.stderr)
		for _, columns := range []uint16{40, 60, 80, 120, 200} {
			shown, code := onTerminalOf(t, columns, w.command(command[0], command[1:]...), "")
			require.Zero(t, code, shown)
			shown = drawn.ReplaceAllString(shown, "")
			for line := range strings.Lines(shown) {
				line = strings.TrimRight(line, "\n")
				if !strings.HasPrefix(line, "a program is due from ") { // below the table
					assert.LessOrEqual(t, utf8.RuneCountInString(line), int(columns), "%v: %s", command, line)
				}
			}
			_, rows, _ := strings.Cut(piped.stdout, "\n")
			shown = late.ReplaceAllString(shown, "late")
			for word := range strings.FieldsSeq(late.ReplaceAllString(strings.ReplaceAll(rows, "—", ""), "late")) {
				assert.Contains(t, shown, word, "%v in %d columns", command, columns)
			}
		}
	}
	status := w.binary("iterate", "status").stdout
	assert.Contains(t, status,
		"until somebody has looked at the numbers that the new machine gives for the unchanged files",
		"piped, a reason is in one line")
}
