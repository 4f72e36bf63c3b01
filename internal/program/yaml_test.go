package program

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	yamlv3 "go.yaml.in/yaml/v3"
)

// tree writes a value so that every difference shows.
func tree(v value) string {
	switch v.kind { //nolint:exhaustive // the last is below
	case null:
		return "null"
	case scalar:
		return "<" + v.text + ">"
	case list:
		var items []string
		for _, item := range v.items {
			items = append(items, tree(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return treeOf(v.fields)
}

func treeOf(fields []field) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.name+"="+tree(f.value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func readYAML(text string) (string, error) {
	y := yaml{text: text, line: 1}
	fields, err := y.document()
	return treeOf(fields), err
}

func TestYAMLForms(t *testing.T) {
	for text, want := range map[string]string{
		"":                                               "{}",
		"# nothing\n\n":                                  "{}",
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
			got, err := readYAML(text)
			require.NoError(t, err)
			assert.Equal(t, want, got)
			if full, err := fullYAML(text); assert.NoError(t, err, "a complete parser") {
				assert.Equal(t, full, got, "a complete parser")
			}
		})
	}
}

func TestYAMLThatIsRefused(t *testing.T) {
	for text, want := range map[string]struct {
		line int
		says string
	}{
		"a: b: c\n":              {1, "second `: `"},
		"a: 1\n b: 2\n":          {2, "second `: `"},
		"a: 'x'\n  b: 2\n":       {2, "indented otherwise"},
		"a:\n    b: 1\n  c: 2\n": {3, "indented otherwise"},
		"a: 1\nb\n":              {2, "no `key: value`"},
		"a: 1\n- b\n":            {2, "no `key: value`"},
		"a: - b\n":               {1, "a line of its own"},
		"a: \"x\n":               {1, "does not end"},
		"a: \"x\" y\n":           {1, "behind the end of a value"},
		"a: \"\\q\"\n":           {1, "means nothing"},
		"a: \"\\ud800\"\n":       {1, "no character"},
		"a: [1\nb: 2\n":          {2, "in another line"},
		"a: [1\n  2]\n":          {2, "in another line"},
		"a: {?}\n":               {1, "begin with `?`"},
		"a: [1,\n":               {1, "not closed"},
		"a: [1,,2]\n":            {1, "cannot begin with `,`"},
		"a: [1]]\n":              {1, "behind the end of a value"},
		"a: {[1]: 2}\n":          {1, "cannot be a key"},
		"a: &x 1\n":              {1, "anchors"},
		"a: [*x]\n":              {1, "anchors"},
		"a:\n  - !!str x\n":      {2, "tags"},
		"? a\n: b\n":             {1, "`?`"},
		"\ta: 1\n":               {1, "a tab"},
		"a: |x\n  b\n":           {1, "behind `|`"},
		"- a\n":                  {1, "no list of"},
		"a: 1\n...\nb: 2\n":      {2, "more than one document"},
	} {
		t.Run(text, func(t *testing.T) {
			_, err := readYAML(text)
			var at *syntaxError
			require.ErrorAs(t, err, &at)
			assert.Contains(t, at.message, want.says)
			assert.Equal(t, want.line, at.line)
		})
	}
}

// FuzzYAML holds what we read against a complete parser, wherever both can read.
func FuzzYAML(f *testing.F) {
	for _, seed := range []string{
		"a: [1, {b: 'c'}]\nd:\n  - e: |\n      f\n", "a: \"x\\n\"\nb: >\n  c\n\n  d\n", "a:\n- b\n-\n  c: 1\n", "a: {b: 1,\n  c: [d e\n  f]}\n", "'a': x # y\n", "a: x\n  y\n\n  z\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\r\x00\t") || len(text) > 200 {
			return
		}
		if regexp.MustCompile(`:[,\[\]{}]`).MatchString(text) {
			return // parsers differ in whether the colon ends a key
		}
		text += "\n" // as in a file: a line with dashes follows
		got, err := readYAML(text)
		if err != nil {
			return
		}
		if full, err := fullYAML(text); err == nil {
			require.Equal(t, full, got)
		}
	})
}

// fullYAML reads with a complete parser.
func fullYAML(text string) (tree string, err error) {
	var doc yamlv3.Node
	if err := yamlv3.Unmarshal([]byte(text), &doc); err != nil {
		return "", err
	}
	if doc.Kind == 0 || doc.Content[0].Tag == "!!null" {
		return "{}", nil
	}
	return treeOfNode(doc.Content[0]), nil
}

func treeOfNode(node *yamlv3.Node) string {
	var parts []string
	switch node.Kind { //nolint:exhaustive // documents and aliases are not read
	case yamlv3.SequenceNode:
		for _, item := range node.Content {
			parts = append(parts, treeOfNode(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case yamlv3.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			parts = append(parts, node.Content[i].Value+"="+treeOfNode(node.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if node.Tag == "!!null" {
		return "null"
	}
	return "<" + node.Value + ">"
}
