package actions

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func escapeText(t testing.TB, parts ...string) string {
	t.Helper()
	var out bytes.Buffer
	d := &escapedLog{out: &out}
	for _, part := range parts {
		n, err := d.Write([]byte(part))
		require.NoError(t, err)
		require.Equal(t, len(part), n)
	}
	return out.String()
}

func TestEscapedLog(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain\nlines: of :: text\n":      "plain\nlines: of :: text\n",
		"::set-output name=x::y\n":        ":\u200b:set-output name=x::y\n",
		"a\n \t::error::b":                "a\n \t:\u200b:error::b",
		"a\r::error::b":                   "a\r:\u200b:error::b",
		"\u00a0::error::b":                "\u00a0:\u200b:error::b",
		"\ufeff::error::b":                "\ufeff:\u200b:error::b",
		"a ##[add-mask]b":                 "a ##\u200b[add-mask]b",
		"###[x]":                          "###\u200b[x]",
		"# #[x] ## [y](z) #[":             "# #[x] ## [y](z) #[",
		":::x":                            ":\u200b::x",
		": :x":                            ": :x",
		"{\"a\": \"::b\", \"c\": \"::\"}": "{\"a\": \"::b\", \"c\": \"::\"}",
	} {
		assert.Equal(t, want, escapeText(t, text), "%q", text)
		assert.Equal(t, want, escapeText(t, strings.Split(text, "")...), "%q byte by byte", text)
	}
}

// FuzzDefused: what comes out is the same text, and starts no command.
func FuzzDefused(f *testing.F) {
	f.Add("::a", "##[b]")
	f.Add("\u2003:", ":x")
	f.Fuzz(func(t *testing.T, a, b string) {
		out := escapeText(t, a, b)
		assert.Equal(t, strings.ReplaceAll(a+b, apart, ""), strings.ReplaceAll(out, apart, ""))
		assert.NotContains(t, out, "##[")
		for _, line := range strings.FieldsFunc(out, func(r rune) bool { return r == '\n' || r == '\r' }) {
			assert.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"), "%q", line)
		}
	})
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a=b = c<<d\n", Output{"a", "b = c<<d"}.String())
	assert.Equal(t, "a=\n", Output{"a", ""}.String())
	for _, value := range []string{"b\nc=d", "\n", "b\r\nc=d", "b\rc=d", "end_\nx<<y"} {
		first, second := Output{"a", value}.String(), Output{"a", value}.String()
		assert.NotEqual(t, first, second, "nobody can foresee the delimiter")
		head, rest, _ := strings.Cut(first, "\n")
		end, found := strings.CutPrefix(head, "a<<")
		require.True(t, found, head)
		assert.Equal(t, value+"\n"+end+"\n", rest)
	}
}
