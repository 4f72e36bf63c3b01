package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/process"
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
		assert.Equal(t, want, process.ShellWords(replaceWords(text, by)), text)
	}
	assert.Equal(t, `sh "$DIR"/y.sh`, replaceWords(`sh "$DIR"/y.sh`, by), "what is not replaced stays as it is")
}
