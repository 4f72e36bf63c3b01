package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJSONPath(t *testing.T) {
	t.Parallel()
	value, err := decodeJSON([]byte(`{"a": {"b.c": [1, {"d": null}]}, "x'y\"z": 2, "": 3}`))
	require.NoError(t, err)
	for path, want := range map[string]string{
		`a["b.c"][0]`: "1", `a['b.c'][1].d`: "null", `$.a."b.c"[0]`: "1", `["x'y\"z"]`: "2", `.["x'y\"z"]`: "2", `[""]`: "3",
	} {
		parsed, err := ParseJSONPath(path)
		require.NoError(t, err, path)
		found, ok := parsed.Find(value)
		require.True(t, ok, path)
		assert.Equal(t, want, jsonText(found), path)
		again, err := ParseJSONPath(parsed.String())
		require.NoError(t, err, parsed.String())
		assert.Equal(t, parsed, again)
	}
	for path := range strings.FieldsSeq(`a.b a[0] a["b.c"][2] b .b a["b.c"][1].e [0] a["b.c"][1].d.e`) {
		parsed, err := ParseJSONPath(path)
		require.NoError(t, err, path)
		_, ok := parsed.Find(value)
		assert.False(t, ok, path)
	}
	for _, path := range append([]string{"", " "}, strings.Fields(
		`.. $. $.a. .a. a. a..b a[ a[] a[-1] a[+1] a[x] a] a["b a["b" a["b"c "a"b $a a[0]b a[99999999999999999999] a["\`)...) {
		_, err := ParseJSONPath(path)
		assert.Error(t, err, path)
	}
}

func FuzzParseJSONPath(f *testing.F) {
	f.Add(`a["b.c"][0].d`)
	f.Fuzz(func(t *testing.T, text string) {
		path, err := ParseJSONPath(text)
		if err != nil {
			return
		}
		again, err := ParseJSONPath(path.String())
		require.NoError(t, err)
		require.Equal(t, path, again)
	})
}

// TestValuesThatDiffer: no value is another's of another type, or in another order.
func TestValuesThatDiffer(t *testing.T) {
	t.Parallel()
	for _, pair := range []string{
		"1 true", "0 false", "0 null", `"1" 1`, `"" null`, "[] {}", "[] null", "{} null", "[1,2] [2,1]", "1e400 1e401",
		"0.1 0.10000000000000000001",
	} {
		one, other, _ := strings.Cut(pair, " ")
		a, err := decodeJSON([]byte(one))
		require.NoError(t, err)
		b, err := decodeJSON([]byte(other))
		require.NoError(t, err)
		assert.False(t, sameJSON(a, b), pair)
	}
}
