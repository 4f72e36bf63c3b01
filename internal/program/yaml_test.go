package program

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// tree writes a value so that every difference shows.
func tree(v value) string {
	var parts []string
	switch v.Kind {
	case yaml.SequenceNode:
		for _, item := range v.items() {
			parts = append(parts, tree(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case yaml.MappingNode:
		for _, f := range v.fields() {
			parts = append(parts, f.name+"="+tree(f.value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		if v.isNull() {
			return "null"
		}
		return "<" + v.Value + ">"
	}
}

func TestYAMLForms(t *testing.T) {
	for text, want := range map[string]string{
		"":                                               "null",
		"# nothing\n\n":                                  "null",
		"a: 1\nb: x y  # c\n":                            "{a=<1>, b=<x y>}",
		"a:\nb: ~\nc: null\nd: ''\n":                     "{a=null, b=null, c=null, d=<>}",
		"a: x#y\nb: http://h/p?q=#f\n":                   "{a=<x#y>, b=<http://h/p?q=#f>}",
		"a: -1\nb: -x\nc: ?y\nd: :z\n":                   "{a=<-1>, b=<-x>, c=<?y>, d=<:z>}",
		"\"a b\" : 1\n'c': 2\n":                          "{a b=<1>, c=<2>}",
		"a: \"x\\n\\\"\\u00e9\\x41\\\\\"\n":              "{a=<x\n\"éA\\>}",
		"a: 'it''s' # c\n":                               "{a=<it's>}",
		"a: one\n  two\n\n  three # c\nb: 1":             "{a=<one two\nthree>, b=<1>}",
		"a: \"one\n  two\n\n  three\"\n":                 "{a=<one two\nthree>}",
		"a: \"one \\\n  two\"\n":                         "{a=<one two>}",
		"a:\n  one\n  two\n":                             "{a=<one two>}",
		"a: [1, x y, \"z, w\", 'q']\n":                   "{a=[<1>, <x y>, <z, w>, <q>]}",
		"a: [1,2,]\nb: []\nc: {}\n":                      "{a=[<1>, <2>], b=[], c={}}",
		"a: [\n  1, # one\n  2\n]\nb: 2\n":               "{a=[<1>, <2>], b=<2>}",
		"a: {b: 1, \"c\":2, d: [x, {e: f}]}":             "{a={b=<1>, c=<2>, d=[<x>, {e=<f>}]}}",
		"a: [b: 1, {c: 2}]\n":                            "{a=[{b=<1>}, {c=<2>}]}",
		"a: {b, c: }\n":                                  "{a={b=null, c=null}}",
		"a:\n- 1\n- x\nb: 2\n":                           "{a=[<1>, <x>], b=<2>}",
		"a:\n  - b: 1\n    c: 2\n  - d: 3\n":             "{a=[{b=<1>, c=<2>}, {d=<3>}]}",
		"a:\n  -\n    b: 1\n  -\n  - x\n":                "{a=[{b=<1>}, null, <x>]}",
		"a:\n  - - 1\n    - 2\n  - 3\n":                  "{a=[[<1>, <2>], <3>]}",
		"a:\n  b:\n    c: 1\n  d: 2\ne: 3\n":             "{a={b={c=<1>}, d=<2>}, e=<3>}",
		"a: |\n  one\n    two\n\n  three\n\nb: 1\n":      "{a=<one\n  two\n\nthree\n>, b=<1>}",
		"a: |-\n  one\n":                                 "{a=<one>}",
		"a: |+\n  one\n\nb: 1\n":                         "{a=<one\n\n>, b=<1>}",
		"a: |2\n    one\n   two\n":                       "{a=<  one\n two\n>}",
		"a: >\n  one\n  two\n\n  three\n    four\n  x\n": "{a=<one two\nthree\n  four\nx\n>}",
		"a:\n  - |\n    one\n  - >-\n    two\n    x\n":   "{a=[<one\n>, <two x>]}",
		"a: # c\n  b: 1\n# d\n  c: 2\n":                  "{a={b=<1>, c=<2>}}",
		"{a: 1, b: [2]}\n":                               "{a=<1>, b=[<2>]}",
		"a: 1\n...\n\n":                                  "{a=<1>}",
		"a:\tx\n":                                        "{a=<x>}",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := readYAML(text, 1)
			require.NoError(t, err)
			assert.Equal(t, want, tree(got))
		})
	}
}

func TestYAMLThatIsRefused(t *testing.T) {
	for text, want := range map[string]string{ // the line, and what is wrong
		"a: b: c\n":              "1: mapping values are not",
		"a: 1\n b: 2\n":          "2: mapping values are not",
		"a: 'x'\n  b: 2\n":       "1: did not find expected key",
		"a:\n    b: 1\n  c: 2\n": "1: did not find expected key",
		"a: 1\nb\n":              "2: expected ':'",
		"a: 1\n- b\n":            "1: expected key",
		"a: - b\n":               "1: sequence entries",
		"a: \"x\n":               "1: end of stream",
		"a: \"x\" y\n":           "1: expected key",
		"a: \"\\q\"\n":           "1: unknown escape",
		"a: \"\\ud800\"\n":       "1: invalid Unicode",
		"a: [1\nb: 2\n":          "1: expected ',' or ']'",
		"a: {?}\n":               "1: cannot be a key",
		"a: [1,\n":               "2: expected node",
		"a: [1,,2]\n":            "1: expected node",
		"a: [1]]\n":              "1: expected key",
		"a: {[1]: 2}\n":          "1: cannot be a key",
		"a: &x 1\n":              "1: anchors",
		"a: [*x]\n":              "1: must be quoted",
		"a:\n  - !!str x\n":      "2: tags",
		"\ta: 1\n":               "1: cannot start any token",
		"a: |x\n  b\n":           "1: comment or line break",
		"- a\n":                  "1: no list of",
		"a: 1\nb: x\u2028c: 2\n": "2: a line break",
		"a: 1\n...\nb: 2\n":      "3: more than one document",
	} {
		t.Run(text, func(t *testing.T) {
			p := newProgram("p.md")
			p.yamlFields(text, 1)
			require.Len(t, p.Problems, 1)
			line, says, _ := strings.Cut(want, ": ")
			assert.Contains(t, p.Problems[0].Message, says)
			assert.Equal(t, line, strconv.Itoa(p.Problems[0].Line))
		})
	}
}
