package process

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestReplacedWordsStayOneWord(t *testing.T) {
	t.Parallel()
	const odd = "/my repo's $HOME/`a`\"b\\c"
	by := func(word string) string { return strings.Replace(word, "x.sh", odd, 1) }
	for text, want := range map[string][]string{
		`sh x.sh`:                  {"sh", odd},
		`sh "x.sh" -v`:             {"sh", odd, "-v"},
		`sh 'x.sh' 'a b'`:          {"sh", odd, "a b"},
		`echo it\'s; sh x.sh`:      {"echo", "it's", "sh", odd},
		`sh "a \" b" x.sh|cat`:     {"sh", `a " b`, odd, "cat"},
		`sh 'a "' "it's" x.sh ''`:  {"sh", `a "`, "it's", odd, ""},
		`sh y.sh  --in=x.sh >o.md`: {"sh", "y.sh", "--in=" + odd, "o.md"},
	} {
		assert.Equal(t, want, ShellWords(ReplaceWords(text, by)), text)
	}
	assert.Equal(t, `sh "$DIR"/y.sh`, ReplaceWords(`sh "$DIR"/y.sh`, by), "what is not replaced stays as it is")
}

func TestQuoteWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"a/b-c.d": "a/b-c.d", "": "''", "a b": "'a b'", "it's": `'it'\''s'`,
		"$(x)": "'$(x)'", "~": "'~'",
	} {
		assert.Equal(t, want, QuoteWord(word))
	}
}

// FuzzShellWords looks for a command on which reading panics, or that changes
// though nothing in it is replaced.
func FuzzShellWords(f *testing.F) {
	f.Add(`sh "x.sh" 'a'\''b' \`)
	f.Fuzz(func(t *testing.T, text string) {
		ShellWords(text)
		assert.Equal(t, text, ReplaceWords(text, func(word string) string { return word }))
	})
}
