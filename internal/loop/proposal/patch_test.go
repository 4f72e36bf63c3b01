package proposal

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatAPartOfAPatchMayClaim: git takes as much memory as a patch says that a part of
// it unpacks to.
func TestWhatAPartOfAPatchMayClaim(t *testing.T) {
	t.Parallel()
	const megabyte = 1 << 20
	literal := func(number string) string { return "GIT binary patch\nliteral " + number + "\nIcmZ\n\n" }
	for name, c := range map[string]struct {
		patch string
		says  string // "" when it is taken
	}{
		"nothing":                          {"", ""},
		"a change of a text":               {"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", ""},
		"an empty file":                    {literal("0"), ""},
		"the most":                         {literal("16777216"), ""},
		"a byte more":                      {literal("16777217"), `claims "16777217" bytes, more than 16777216`},
		"more after zeros":                 {literal(strings.Repeat("0", 60) + "2147483648"), "too large"},
		"more after so many zeros":         {literal(strings.Repeat("0", 32) + "2147483648"), "too large"},
		"more after spaces":                {literal(strings.Repeat(" ", 60) + "2147483648"), "too large"},
		"more after a sign":                {literal("+2147483648"), "too large"},
		"a number that wraps":              {literal("18446744073709551616"), "too large"},
		"less than nothing":                {literal("-1"), "too large"},
		"a number that goes on":            {literal("1x"), "too large"},
		"a number of another base":         {literal("0x10"), "too large"},
		"no number":                        {literal(""), "too large"},
		"a line of a text":                 {"+literal 2147483648\n-delta 2147483648\n literal 2147483648\n", ""},
		"another word":                     {"literally 2147483648\nliteral\n", ""},
		"a delta of a delta that is large": {"GIT binary patch\ndelta 16777217\n" + encoded(t, sizes(5, 5)) + "\n\n", "too large"},
		"a delta of the most":              {binaryDelta(t, 9, sizes(5, 16*megabyte)), ""},
		"a delta of a byte more":           {binaryDelta(t, 9, sizes(5, 16*megabyte+1)), "claims 16777217 bytes"},
		"a delta of a large file":          {binaryDelta(t, 9, sizes(1<<40, 5)), ""},
		"a size of eight bytes":            {binaryDelta(t, 9, sizes(5, 1<<55)), "claims 36028797018963968 bytes"},
		"a size without an end":            {binaryDelta(t, 9, append([]byte{5}, bytes.Repeat([]byte{0xff}, 10)...)), "has no sizes"},
		"the first without an end":         {binaryDelta(t, 9, append(bytes.Repeat([]byte{0x80}, 12), 5)), "has no sizes"},
		"a delta with one size":            {binaryDelta(t, 9, []byte{5}), "has no sizes"},
		"a delta with nothing in it":       {binaryDelta(t, 9, nil), "unpack a delta"},
		"a delta that is not packed":       {"GIT binary patch\ndelta 9\n" + base85Lines([]byte("plain text")) + "\n", "unpack a delta"},
		"a delta without lines":            {"GIT binary patch\ndelta 9\n\n", "unpack a delta"},
		"a delta at the end":               {"GIT binary patch\ndelta 9", "unpack a delta"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkPatch([]byte(c.patch))
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
			assert.Less(t, len(err.Error()), 200, "what it quotes is bounded")
		})
	}
}

// TestWhatAllPartsMayClaim: the parts count together, those of a delta twice: it is unpacked
// first, and then the file that it makes.
func TestWhatAllPartsMayClaim(t *testing.T) {
	t.Parallel()
	const most = 256 << 20
	literals := func(total int) string {
		text := ""
		for ; total > 0; total -= 16 << 20 {
			text += fmt.Sprintf("literal %d\n", min(total, 16<<20))
		}
		return text
	}
	require.NoError(t, checkPatch([]byte(literals(most))))
	require.ErrorContains(t, checkPatch([]byte(literals(most)+"literal 1\n")), "unpacks to more than 268435456 bytes")
	require.NoError(t, checkPatch([]byte(literals(most-100)+binaryDelta(t, 40, sizes(1, 60)))))
	require.ErrorContains(t, checkPatch([]byte(literals(most-100)+binaryDelta(t, 41, sizes(1, 60)))), "unpacks to more than")
}

// TestAPatchOfGit reads what git itself writes: of every file that it packs, the sizes are
// those of the file.
func TestAPatchOfGit(t *testing.T) {
	t.Parallel()
	dir, random := t.TempDir(), rand.New(rand.NewChaCha8([32]byte{7}))
	git := func(args ...string) []byte {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.Output()
		require.NoError(t, err, "git %v", args)
		return out
	}
	bytesOf := func(length int) []byte {
		data := make([]byte, length)
		for i := range data {
			data[i] = byte(random.UintN(256))
		}
		return append([]byte{0}, data...) // which git takes for no text
	}
	put := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	git("init", "--quiet")
	before, after := map[string][]byte{}, map[string][]byte{}
	for i, length := range []int{1, 2, 3, 4, 26, 27, 51, 52, 53, 300, 5000, 70_000} {
		name := fmt.Sprintf("f%02d", i)
		before[name] = bytesOf(length)
		changed := bytes.Clone(before[name])
		changed[len(changed)/2] ^= 0xff
		after[name] = append(changed, bytesOf(i)...)
		put(name, before[name])
	}
	git("add", "-A")
	was := strings.TrimSpace(string(git("write-tree")))
	for name, data := range after {
		put(name, data)
	}
	git("add", "-A")
	patch := git("diff-tree", "-p", "--binary", was, strings.TrimSpace(string(git("write-tree"))))
	require.NoError(t, checkPatch(patch))

	var deltas, literals int
	for _, part := range strings.Split(string(patch), "diff --git ")[1:] {
		name := part[2:5]
		_, hunks, found := strings.Cut(part, "GIT binary patch\n")
		require.True(t, found, name)
		for i, file := range [][]byte{after[name], before[name]} { // there and back
			head, rest, _ := strings.Cut(hunks, "\n")
			lines, more, _ := strings.Cut(rest, "\n\n")
			hunks = more
			kind, number, _ := strings.Cut(head, " ")
			if kind == "delta" {
				deltas++
				size, err := deltaSize([]byte(rest))
				require.NoError(t, err)
				assert.EqualValues(t, len(file), size, "%s %d", name, i)
				continue
			}
			literals++
			assert.Equal(t, fmt.Sprint(len(file)), number)
			var packed []byte
			for line := range strings.SplitSeq(lines, "\n") {
				data, err := base85([]byte(line))
				require.NoError(t, err)
				packed = append(packed, data...)
			}
			unpacked, err := zlib.NewReader(bytes.NewReader(packed))
			require.NoError(t, err)
			data, err := io.ReadAll(unpacked)
			require.NoError(t, err)
			assert.Equal(t, file, data, "%s %d", name, i)
		}
	}
	assert.Positive(t, deltas)
	assert.Positive(t, literals)
}

// TestALineOfABinaryChange is refused where git would call it corrupt.
func TestALineOfABinaryChange(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"no length":                "!00000",
		"a digit as length":        "000000",
		"nothing after the length": "A",
		"a digit too few":          "D0000",
		"a digit too many":         "D000000",
		"a group too few":          "E00000",
		"a group too many":         "D0000000000",
		"no digit":                 `D000"0`,
		"a space":                  "D000 0",
		"a letter beyond ASCII":    "D000\xe90",
		"more than four bytes":     "D~~~~~",
		"one more than the most":   "D|NsC1",
	} {
		_, err := base85([]byte(line))
		require.Error(t, err, name)
	}
	data, err := base85([]byte("D|NsC0"))
	require.NoError(t, err)
	assert.Equal(t, []byte{0xff, 0xff, 0xff, 0xff}, data, "the largest that four bytes hold")
	data, err = base85([]byte("A00000"))
	require.NoError(t, err)
	assert.Equal(t, []byte{0}, data, "what fills up a group is no part of it")
}

// TestNumbersOfADelta reads back what the standard library writes in the same form.
func TestNumbersOfADelta(t *testing.T) {
	t.Parallel()
	for shift := range 63 {
		for _, value := range []uint64{1 << shift, 1<<shift - 1, 1<<shift + 1} {
			text := binary.AppendUvarint(nil, value)
			got, n := varint(append(text, 0x7f))
			assert.Equal(t, value, got)
			assert.Equal(t, len(text), n, "what comes after it is not read")
			_, n = varint(text[:len(text)-1])
			assert.Zero(t, n, "%d is cut off", value)
		}
	}
}

// sizes begin a delta: that of the file before, and that of the file after.
func sizes(before, after uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, before), after)
}

// binaryDelta is a delta that says of itself to have so many bytes.
func binaryDelta(t *testing.T, claims int, content []byte) string {
	t.Helper()
	return fmt.Sprintf("GIT binary patch\ndelta %d\n%s\n\n", claims, encoded(t, content))
}

// encoded packs a part of a patch.
func encoded(t *testing.T, content []byte) string {
	t.Helper()
	var packed bytes.Buffer
	out := zlib.NewWriter(&packed)
	_, err := out.Write(content)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	return base85Lines(packed.Bytes())
}

// base85Lines writes bytes as git does: up to 52 in a line.
func base85Lines(data []byte) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	var lines []string
	for len(data) > 0 {
		part := data[:min(52, len(data))]
		data = data[len(part):]
		letter := 'A' + len(part) - 1
		if len(part) > 26 {
			letter = 'a' + len(part) - 27
		}
		line := string(rune(letter))
		for len(part) > 0 {
			var group [4]byte
			part = part[copy(group[:], part):]
			value, five := binary.BigEndian.Uint32(group[:]), [5]byte{}
			for i := range five {
				five[4-i], value = digits[value%85], value/85
			}
			line += string(five[:])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
