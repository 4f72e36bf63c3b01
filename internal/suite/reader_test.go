package suite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/suite"
	"github.com/org/autoloop/tests/golden"
)

func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	for can, names := range map[bool]string{
		true: "a 9 a.B_c-9 x-", false: ".a -a _a é ../a a/b a..b a. a\x00", // the last are for Windows
	} {
		for name := range strings.FieldsSeq(names) {
			assert.Equal(t, can, suite.CanName(name), "%q", name)
		}
	}
	assert.False(t, suite.CanName(""))
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
		reader, root, ok := document.ReadObject("f", []byte(text), 1<<20)
		require.True(t, ok)
		r, literal, length := suite.Reader{Reader: reader}, "", 0
		kind := r.Kind(root, "", map[string]string{"a": "", "b": ""}, "type", "kind")
		for _, field := range root.Fields {
			switch field.Name {
			case "text":
				literal = r.Literal(field.Value, "text")
			case "pattern":
				if pattern := r.Pattern(field.Value, "pattern"); pattern != nil {
					length = len(pattern.String())
				}
			}
		}
		if err := r.Problems.Err(); err != nil {
			return err
		}
		return fmt.Sprintf("%s %q %d", kind, literal, length)
	})
}
