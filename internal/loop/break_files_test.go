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

// TestWhatABrokenFileGives: a number between those of the unchanged files was not noticed,
// one that is better than all of them is a gain.
func TestWhatABrokenFileGives(t *testing.T) {
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
		err       bool
	}{
		"a file is emptied":           {Emptied, "a.txt", "", false},
		"a file is garbled":           {Nonsense, "a.txt", "one\n" + nonsense, false},
		"one that is missing is made": {Emptied, "new.txt", "", false},
		"a directory stays":           {Emptied, "sub", "-", false},
		"a link stays":                {Emptied, "link", "outside", false},
		"a dangling link stays":       {Emptied, "dangling", "-", false},
		"below a link that leads out": {Emptied, "out/secret.txt", "outside", false},
		"below a link to a directory": {Nonsense, "beside/new.txt", "-", false},
		"above the tree":              {Emptied, "../secret.txt", "outside", true},
		"below a file":                {Emptied, "a.txt/b", "-", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			around := t.TempDir()
			dir := filepath.Join(around, "tree")
			for file, text := range map[string]string{
				"secret.txt": "outside", "tree/a.txt": "one\n",
				"tree/sub/b.txt": "two",
			} {
				path := filepath.Join(around, file)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			}
			links := map[string]string{
				"link": "../secret.txt", "dangling": "nowhere", "out": "..", "beside": "sub",
				"itself": "itself",
			}
			for name, target := range links {
				require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
			}
			err := breakFiles(dir, c.how, c.file)
			assert.Equal(t, c.err, err != nil, err)
			if c.err {
				require.ErrorContains(t, err, "break "+c.file+" in a throw-away tree")
			}
			if c.want != "-" {
				text, err := os.ReadFile(filepath.Join(dir, c.file))
				require.NoError(t, err)
				assert.Equal(t, c.want, string(text))
			}
			secret, err := os.ReadFile(filepath.Join(around, "secret.txt"))
			require.NoError(t, err)
			assert.Equal(t, "outside", string(secret))
			assert.NoFileExists(t, filepath.Join(dir, "nowhere"))
			assert.NoDirExists(t, filepath.Join(around, "more"))
			assert.NoFileExists(t, filepath.Join(dir, "sub", "new.txt"))
		})
	}
	require.NoError(t, breakFiles(t.TempDir(), Emptied))
	require.Error(t, breakFiles(filepath.Join(t.TempDir(), "gone"), Emptied, "a"))
}
