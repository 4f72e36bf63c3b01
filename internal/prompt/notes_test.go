package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/prompt"
)

func TestParseNotes(t *testing.T) {
	t.Parallel()
	want := history.Notes{
		Lessons:    []string{"caches lie: always"},
		Foreclosed: []string{"threads, for the lock is global"}, Ideas: []string{"a table"},
	}
	for name, text := range map[string]string{
		"plain": "LESSON: caches lie: always\nFORECLOSED: threads, for the lock is global\nIDEA: a table\n",
		"markdown": "# Notes\n\n- **Lesson:** caches lie: always\n* foreclosed: threads,  for the lock is global\r\n" +
			"1. `IDEA:` a table\n- lesson: caches lie: always\nBy the way: nothing.\n",
		"JSON": `{"lessons": ["caches lie: always", " "], "foreclosed": ["threads, for the\nlock is global"], ` +
			`"ideas": ["a table"], "metric": 9}`,
	} {
		assert.Equal(t, want, prompt.ParseNotes([]byte(text)), name)
	}
	for name, text := range map[string]string{
		"nothing": "", "prose": "It went well.", "other JSON": `{"lessons": 7}`,
		"binary": "\x00\xff\xfe", "empty": "LESSON:\nIDEA: **\n",
	} {
		assert.Zero(t, prompt.ParseNotes([]byte(text)), name)
	}
}

func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	notes := prompt.ParseNotes([]byte(strings.Repeat("LESSON: "+strings.Repeat("a", 999)+"\nIDEA: b\n", 10)))
	require.Len(t, notes.Lessons, 1)
	assert.Less(t, len(notes.Lessons[0]), 400)
	many := ""
	for _, c := range "abcdefghijk" {
		many += "IDEA: " + string(c) + "\n"
	}
	assert.Equal(t, []string{"a", "b", "c", "d", "e"}, prompt.ParseNotes([]byte(many)).Ideas)
}

func FuzzParseNotes(f *testing.F) {
	f.Add([]byte("LESSON: a\n"))
	f.Add([]byte(`{"ideas": ["x"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, idea := range prompt.ParseNotes(data).Ideas {
			assert.NotContains(t, idea, "\n")
			assert.Less(t, len(idea), 400)
		}
	})
}
