package evalrun

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPastGradings are found at any depth, and nothing that a skill wrote itself.
func TestPastGradings(t *testing.T) {
	t.Parallel()
	const good = `{"expectations": [{"text": "a", "passed": true}]}`
	dir := write(t, t.TempDir(), map[string]string{
		"eval-1/grading.json": good, "iteration-2/eval-2/grading.json": good, "a/b/c/run-3/eval-3/grading.json": good,
		"eval-a-b/grading.json":              good,
		"eval-4/outputs/eval-5/grading.json": good, "eval-6/other.json": good, "case-7/grading.json": good,
		"grading.json": good, "eval-/grading.json": good,
		"eval-8/grading.json": "{", "eval-9/grading.json": `{"expectations": [{"text": "a"}]}`,
		"eval-10/grading.json":         strings.Repeat(" ", maxGradingFile+1) + good,
		"outputs/eval-11/grading.json": good,
	})
	outside := write(t, t.TempDir(), map[string]string{"eval-12/grading.json": good})
	require.NoError(t, os.Symlink(filepath.Join(outside, "eval-12"), filepath.Join(dir, "eval-12")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "eval-13"), 0o755))
	require.NoError(t, os.Symlink("../eval-1/grading.json", filepath.Join(dir, "eval-13", "grading.json")))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "eval-14", "grading.json"), 0o755))
	found, err := History(t.Context(), dir)
	require.NoError(t, err)
	var ids []string
	for _, past := range found {
		ids = append(ids, past.ID)
		assert.Equal(t, 1, past.Grading.Passed())
	}
	assert.ElementsMatch(t, []string{"1", "2", "3", "a-b", ""}, ids)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = History(ended, dir)
	require.ErrorIs(t, err, context.Canceled)
	_, err = History(t.Context(), filepath.Join(dir, "gone"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestEventsOfATranscript are shown one by one, and other text as it is: nothing in
// them ends the fence that they are in.
func TestEventsOfATranscript(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]string{
		"":                     "",
		"\n \n":                "",
		`{"type":"a","x":[1]}`: "\n## 1: a\n\n```\n{\n  \"type\": \"a\",\n  \"x\": [\n    1\n  ]\n}\n```\n",
		"warning\n{\"type\":\"b\"}": "\n## 1: printed\n\n```\nwarning\n```\n\n## 2: b\n\n```\n{\n" +
			"  \"type\": \"b\"\n}\n```\n",
		`{"type":"a\n## 9: forged"}`:        "\n## 1: aforged\n\n```\n{\n  \"type\": \"a\\n## 9: forged\"\n}\n```\n",
		`{"type":7}`:                        "\n## 1: printed\n\n```\n{\"type\":7}\n```\n",
		`{}`:                                "\n## 1: \n\n```\n{}\n```\n",
		"``` ends it":                       "\n## 1: printed\n\n````\n``` ends it\n````\n",
		`{"type":"a","x":"` + "````" + `"}`: "\n## 1: a\n\n`````\n{\n  \"type\": \"a\",\n  \"x\": \"````\"\n}\n`````\n",
	} {
		var out strings.Builder
		events(&out, []byte(printed))
		assert.Equal(t, want, out.String(), printed)
	}
}
