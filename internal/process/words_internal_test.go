package process

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQuoteWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"a/b-c.d": "a/b-c.d", "": "''", "a b": "'a b'", "it's": `'it'\''s'`,
		"$(x)": "'$(x)'", "~": "'~'",
	} {
		assert.Equal(t, want, QuoteWord(word))
	}
}

// FuzzShellWords looks for a command on which reading panics.
func FuzzShellWords(f *testing.F) {
	f.Add(`sh "x.sh" 'a'\''b' \`)
	f.Fuzz(func(_ *testing.T, text string) { ShellWords(text) })
}
