package evaluation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
)

// record is what the trap writes of a command that failed.
type record struct {
	exit, options, depth, file, line, text string
}

func (r record) String() string {
	return strings.Join([]string{r.exit, r.options, r.depth, r.file, r.line, r.text}, "\t") + "\x00"
}

// failing evaluates a script of three lines that ends with exit code 3, and of which the
// trap noted these records. SCRIPT stands for the script's file.
func failing(t *testing.T, stderr string, records ...fmt.Stringer) evaluation.Result {
	t.Helper()
	return play(t, evaluation.Request{Script: "one\n\n  three x  "}, func(spec process.Spec) process.Result {
		var text strings.Builder
		for _, one := range records {
			text.WriteString(strings.ReplaceAll(one.String(), "SCRIPT", scriptOf(spec)))
		}
		if len(records) > 0 {
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(resultOf(spec)), "failed"),
				[]byte(text.String()), 0o600))
		}
		return process.Result{ExitCode: 3, Stderr: []byte(strings.ReplaceAll(stderr, "SCRIPT", scriptOf(spec)))}
	})
}

// raw is a record as it is written.
type raw string

func (r raw) String() string { return string(r) }

// TestPlaceOfFailure: the line and the command are those of the innermost command
// that ended the script, as far as it is known.
func TestPlaceOfFailure(t *testing.T) {
	t.Parallel()
	at := func(line, text string) record { return record{"3", "ehuB", "0", "SCRIPT", line, text} }
	deep := func(depth, line string) record { return record{"3", "ehuB", depth, "SCRIPT", line, "x"} }
	for name, c := range map[string]struct {
		records []fmt.Stringer
		stderr  string
		place   string
	}{
		"an empty line":      {[]fmt.Stringer{at("2", "x")}, "", " at line 2"},
		"a line with spaces": {[]fmt.Stringer{at("3", "x")}, "", " at line 3 (`three x`)"},
		"the deepest of the last": {
			[]fmt.Stringer{deep("3", "3"), deep("2", "1"), deep("1", "3"), deep("0", "3")}, "", " at line 3 (`three x`)",
		},
		"a job before it":              {[]fmt.Stringer{deep("1", "3"), deep("1", "1"), deep("0", "3")}, "", " at line 1 (`one`)"},
		"no command with this code":    {[]fmt.Stringer{record{"4", "eh", "0", "SCRIPT", "1", "x"}}, "", ""},
		"one that did not end a shell": {[]fmt.Stringer{record{"3", "huB", "0", "SCRIPT", "1", "x"}}, "", ""},
		"another file": {
			[]fmt.Stringer{record{"3", "eh", "0", "/lib/more.sh", "12", "false  1"}},
			"",
			" at line 12 of more.sh (`false 1`)",
		},
		"letters for numbers": {[]fmt.Stringer{
			raw("3\te\tx\tSCRIPT\t3\tx\x00"), at("1", "x"), raw("3\te\t0\tSCRIPT\tx\tx\x00"),
		}, "", " at line 1 (`one`)"},
		"too many records":       {[]fmt.Stringer{at("1", "x"), raw(strings.Repeat(" ", 1<<16))}, "", ""},
		"as the shell says":      {nil, "SCRIPT: line 3: oh\n", " at line 3 (`three x`)"},
		"another script's words": {nil, "/x/evaluation.sh: line 3: oh\nin SCRIPT: line 3: oh\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := failing(t, c.stderr, c.records...)
			rest, found := strings.CutPrefix(got.Problem, "the evaluation ended with exit code 3")
			require.True(t, found, got.Problem)
			place, _, _ := strings.Cut(rest, ": ")
			assert.Equal(t, c.place, place)
		})
	}
}

// TestPlaceThatIsNoFile: whoever finds the file of the trap can put anything there,
// and the reason says less.
func TestPlaceThatIsNoFile(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(file string) error{
		"a link": func(file string) error {
			other := file + ".other"
			text := record{"3", "e", "0", "/x/more.sh", "7", "x"}.String()
			return errorsOf(os.WriteFile(other, []byte(text), 0o600), os.Symlink(other, file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := play(t, evaluation.Request{}, func(spec process.Spec) process.Result {
				require.NoError(t, put(filepath.Join(filepath.Dir(resultOf(spec)), "failed")))
				return process.Result{ExitCode: 3}
			})
			assert.Equal(t, "the evaluation ended with exit code 3", got.Problem)
		})
	}
}

func errorsOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestHostileNamesInAReason: a reason is one line of bounded length and without
// secrets, whatever a file that failed is called, and whatever its command.
func TestHostileNamesInAReason(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]record{
		"lines":       {"3", "e", "0", "/x/a\nerror: b\x1b[31m\r.sh", "7", "c\n\u202ed"},
		"a long name": {"3", "e", "0", "/x/" + strings.Repeat("n", 30_000), "7", strings.Repeat("c", 30_000)},
		"a cut secret": {
			"3", "e", "0", "/x/" + strings.Repeat("n", 70) + secret, "7",
			strings.Repeat("c", 70) + secret,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := failing(t, "", one)
			assert.NotContains(t, got.Problem, "hunter2")
			assert.LessOrEqual(t, len(got.Problem), 400)
			assert.NotRegexp(t, `[\x00-\x1f\x{202e}]`, got.Problem)
		})
	}
}
