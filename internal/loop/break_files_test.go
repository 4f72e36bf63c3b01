package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
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

// TestTheFileToBreak is the first target that the script names, else the largest; what may
// not change, is empty or is no regular file is not broken.
func TestTheFileToBreak(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target, script string
		files          map[string]string
		want           string
	}{
		"the largest that is named": {
			"`src/a.txt`\n- `src/b.txt`\n- `src/*`", "cat src/b.txt src/a.txt",
			map[string]string{"src/a.txt": "1", "src/b.txt": "12", "src/c.txt": "a longer one"},
			"src/b.txt",
		},
		"the largest": {
			"`src/*`", "make",
			map[string]string{"src/a.txt": "1", "src/b.txt": "123", "src/c.txt": "12", "other.txt": "123456"},
			"src/b.txt",
		},
		"what is named may not": {
			"`src/*`", "sh src/a.sh",
			map[string]string{"src/a.sh": "a longer one", "src/b.txt": "1"},
			"src/b.txt",
		},
		"no target": {"`src/*`", "cat other.txt", map[string]string{"other.txt": "1"}, ""},
		"a link": {
			"`src/*`", "cat src/a.txt",
			map[string]string{"src/a.txt": "-> ../other.txt", "other.txt": "1"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer("`value.txt`", c.target, "cat value.txt", c.script, "%s\n",
				"").Replace(bedProgram)
			d := newDeskOf(t, nil, "p", text)
			dir := t.TempDir()
			var entries []git.TreeEntry
			for _, file := range []string{"other.txt", "src/a.sh", "src/a.txt", "src/b.txt", "src/c.txt", "value.txt"} {
				text, is := c.files[file]
				if !is {
					continue
				}
				entry, path := git.TreeEntry{Mode: git.ModeFile, Type: "blob", Path: file}, filepath.Join(dir, file)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				if target, link := strings.CutPrefix(text, "-> "); link {
					entry.Mode = git.ModeSymlink
					require.NoError(t, os.Symlink(target, path))
				} else if text != "gone" {
					require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
				}
				entries = append(entries, entry)
			}
			assert.Equal(t, c.want, d.measurer.fileToBreak(entries, dir))
		})
	}
}
