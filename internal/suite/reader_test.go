package suite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/tests/golden"
)

// readIt reads a JSON value of a suite.
func readIt(t *testing.T, text string, read func(n suite.Node)) error {
	t.Helper()
	root, ok := suite.Read("f", []byte(text), 1<<20, suite.Object, suite.Text)
	require.True(t, ok)
	read(root)
	return root.Err()
}

func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	for can, names := range map[bool]string{
		true: "a 9 a.B_c-9 x-", false: ".a -a _a é ../a a/b a..b a.", // the last are for Windows
	} {
		for name := range strings.FieldsSeq(names) {
			err := readIt(t, `"`+name+`"`, func(n suite.Node) { suite.Name(n) })
			assert.Equal(t, can, err == nil, "%q", name)
		}
	}
}

// TestWhatChecksAreReadFrom: the kind of one, under two names, a text of which blanks count, and a
// pattern; or what is wrong with them.
func TestWhatChecksAreReadFrom(t *testing.T) {
	t.Parallel()
	golden.Table(t, map[string]string{
		"all of them":             `{"type": "a", "text": "x", "pattern": "x+"}`,
		"another name, blanks":    `{"kind": "b", "text": " "}`,
		"no kind":                 `{}`,
		"a kind of another suite": `{"type": "c"}`,
		"a kind that is a number": `{"type": 1}`,
		"an empty text":           `{"type": "a", "text": "", "pattern": ""}`,
		"blanks without end":      `{"type": "a", "text": "` + strings.Repeat(" ", suite.MaxText+1) + `"}`,
		"no pattern of Go's":      `{"type": "a", "pattern": "(?<=a)b"}`,
		"the longest pattern":     `{"type": "a", "pattern": "[` + strings.Repeat("x", 8<<10-2) + `]"} => a "" 8192`,
		"a longer one":            `{"type": "a", "pattern": "` + strings.Repeat("x", 8<<10+1) + `"}`,
	}, func(t *testing.T, text string) any {
		t.Helper()
		var check suite.Check
		if err := readIt(t, text, func(n suite.Node) {
			check, _ = suite.ReadCheck(n, map[suite.CheckKind]string{"a": "| text pattern", "b": "| text"},
				func(n suite.Node, _ suite.CheckKind) suite.Node {
					isKind := func(f suite.Field) bool { return f.Name == "kind" } // a type
					n.Fields = slices.DeleteFunc(n.Fields, isKind)
					return n
				}, "type", "kind")
		}); err != nil {
			return err
		}
		length := 0
		if check.Pattern != nil {
			length = len(check.Pattern.String())
		}
		return fmt.Sprintf("%s %q %d", check.Kind, check.Text, length)
	})
}
