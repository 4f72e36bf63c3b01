package plain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/org/autoloop/internal/plain"
)

func TestText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"ordinary":            {"a\n\tb ~", "a\n\tb ~"},
		"letters":             {"größe 中文 ١٢", "größe 中文 ١٢"},
		"emoji":               {"👩\u200d💻 ⚠\ufe0f", "👩\u200d💻 ⚠\ufe0f"},
		"colours":             {"a\x1b[1;31mred\x1b[0m", "ared"},
		"a title":             {"\x1b]0;evil\x07text\x1b]2;more\x1b\\", "text"},
		"a cursor":            {"one\x1b[2K\x1b[1Atwo\x1bc", "onetwo"},
		"half a sequence":     {"a\x1b", "a "},
		"a title without end": {"\x1b]0;make all\nit failed\n", "\nit failed\n"},
		"control characters":  {"a\x00b\x07c\x7fd\u0085e", "a b c d e"},
		"a carriage return":   {"ok\rbad\r\nc", "ok bad\nc"},
		"separators":          {"a\u2028b\u2029c", "a b c"},
		"overrides":           {"a\u202eb\u202c\u2066c\u2069", "abc"},
		"marks of direction":  {"a\u200eb\u200fc\u061cd", "abcd"},
		"what cannot be seen": {"a\u200bb\u00adc\ufeffd\U000e0041e", "abcde"},
		"bytes":               {"a\xffb", "a\ufffdb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, plain.Text(c.text))
			assert.Equal(t, c.want, plain.Text(c.want), "twice")
		})
	}
}

func TestLineAndClip(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a b [c", plain.Line(" a\n\x1b[31m b\t [c\x00"))
	for _, text := range []string{
		"", " ", "a", " a", "a ", "a b", "a  b", "a\tb", "a\nb", "a b\x7f", "ä b", "a\x1b[0m",
		"~!", "a\u00a0b",
	} {
		assert.Equal(t, strings.Join(strings.Fields(plain.Text(text)), " "), plain.Line(text),
			"also where nothing has to be changed: %q", text)
	}
	assert.Equal(t, "größe", plain.Short("größe", 5))
	assert.Equal(t, "grö…", plain.Short("größer", 4))
	assert.Equal(t, "a…", plain.Clip(`a \\ b`, 4), "no half of an escape, and no space before the end")
	assert.Empty(t, plain.Clip("ab", 0))
	assert.Equal(t, "a…", plain.Short("a"+strings.Repeat(" ", 100)+"b", 10), "what is looked at is bounded")
}
