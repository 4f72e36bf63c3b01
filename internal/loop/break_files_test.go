package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/metric"
)

// TestMeasureOfBrokenFile: a number between those of the unchanged files was not noticed,
// one that is better than all of them is a gain.
func TestMeasureOfBrokenFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		samples, broken string
		direction       metric.Direction
		unnoticed, gain bool
	}{
		{"5", "5", metric.Higher, true, false},
		{"5", "4", metric.Higher, false, false},
		{"5", "6", metric.Higher, false, true},
		{"5", "4", metric.Lower, false, true},
		{"5", "6", metric.Lower, false, false},
		{"7 3 5", "3", metric.Higher, true, false},
		{"7 3 5", "7", metric.Higher, true, false},
	} {
		var samples []metric.Value
		for _, text := range strings.Fields(c.samples) {
			samples = append(samples, *metricOf(text))
		}
		b := Breakage{Metric: metricOf(c.broken)}
		b.judge(samples, c.direction)
		assert.Equal(t, []bool{c.unnoticed, c.gain}, []bool{b.Unnoticed, b.Gain}, "%+v", c)
	}
}

// TestBreakFiles: regular files are broken, one that is missing is made, and nothing
// outside the tree is touched, wherever links lead.
func TestBreakFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		how, file string
		want      string // the text of the file afterwards; "-" is that nobody looks
	}{
		"a file is emptied":           {Emptied, "a.txt", ""},
		"a file is garbled":           {Nonsense, "a.txt", "one\n" + nonsense},
		"one that is missing is made": {Nonsense, "x/y/new.txt", nonsense},
		"a directory stays":           {Emptied, "sub", "-"},
		"a link stays":                {Emptied, "link", "outside"},
		"below a link that leads out": {Emptied, "out/secret.txt", "outside"},
		"below a file":                {Emptied, "a.txt/b", "-"},
	} {
		around := t.TempDir()
		dir := filepath.Join(around, "tree")
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(around, "secret.txt"), []byte("outside"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600))
		for link, target := range map[string]string{
			"link": "../secret.txt", "dangling": "nowhere", "out": "..", "beside": "sub",
		} {
			require.NoError(t, os.Symlink(target, filepath.Join(dir, link)))
		}
		require.NoError(t, breakFiles(dir, c.how, c.file), name)
		if c.want != "-" {
			text, err := os.ReadFile(filepath.Join(dir, c.file))
			require.NoError(t, err)
			assert.Equal(t, c.want, string(text), name)
		}
		secret, err := os.ReadFile(filepath.Join(around, "secret.txt"))
		require.NoError(t, err)
		assert.Equal(t, "outside", string(secret), name)
		for _, file := range []string{"more", "tree/nowhere", "tree/sub/new.txt"} {
			assert.NoFileExists(t, filepath.Join(around, file), name)
			assert.NoDirExists(t, filepath.Join(around, file), name)
		}
	}
	require.ErrorContains(t, breakFiles(t.TempDir(), Emptied, "../secret.txt"),
		"break ../secret.txt in a throw-away")
	require.Error(t, breakFiles(filepath.Join(t.TempDir(), "gone"), Emptied, "a"))
}
