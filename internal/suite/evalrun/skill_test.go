package evalrun

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/org/autoloop/internal/misuse"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write makes the files of a directory.
func write(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return dir
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), map[string]string{
		"SKILL.md":                "---\nname: \"notes\"\ndescription: x\n---\nDo it.\n",
		"evals/evals.json":        `[{"id": 1, "prompt": "p", "files": ["files/a.txt"], "expectations": ["x"]}]`,
		"evals/files/a.txt":       "a",
		"evals/trigger-eval.json": `[{"query": "q", "should_trigger": true}]`,
		"evals/evaluation.xml":    `<evaluation><qa_pair><question>q</question><answer>a</answer></qa_pair></evaluation>`,
	})
	skill, err := Load(dir, ".", "")
	require.NoError(t, err)
	assert.Equal(t, "notes", skill.Name)
	assert.Equal(t, "evals/files/a.txt", skill.Evals.Cases[0].Files[0].From)
	assert.Len(t, skill.Triggers, 1)
	assert.Len(t, skill.Answers, 1)
}

func TestLoadSaysAllFaultsOfAllFiles(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), map[string]string{
		"evals/evals.json":        `[{"id": 1, "prompt": "", "files": ["link"], "expectations": ["x"]}]`,
		"evals/trigger-eval.json": `[{"query": ""}]`,
		"evals/evaluation.xml":    `<evaluation>`,
	})
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	_, err := Load(dir, ".", "")
	var fault *misuse.Error
	require.ErrorAs(t, err, &fault)
	for _, want := range []string{
		"SKILL.md: ", "evals/evals.json:1: [0].prompt: is empty",
		"[0].files[0]: there is no file", "evals/trigger-eval.json:1: [0].query",
		"evals/evaluation.xml:1: is not XML",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = Load(dir, "gone", "")
	assert.ErrorAs(t, err, &fault)
}

func TestSkillName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"---\nname: a-b\n---\n": "a-b", "\ufeff---\nname: marked\n---\n": "marked", "---\r\nname: a\r\n---\r\n": "a",
		"name: a\n": "dir", "---\nname: ../a\n---\n": "dir", "---\nname: a\n": "dir",
		"---\nx: 1\n---\nname: b\n": "dir",
	} {
		assert.Equal(t, want, skillName(text, "dir"), text)
	}
}
