package state_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
)

// TestSectionsByTheirWords: signs, levels and case of a heading do not matter; of several
// of one name the first of the highest level is it.
func TestSectionsByTheirWords(t *testing.T) {
	t.Parallel()
	const head = table + "| Paused | no |\n\n"
	for heading, kind := range map[string]state.SectionKind{
		"## 📋 Program Info": state.ProgramInfo, "# program info (generated)": state.ProgramInfo,
		"## 🎯 Current Priorities": state.Priorities, "### Priorities": state.Priorities,
		"## 📚 Lessons Learned": state.Lessons, "## LESSONS": state.Lessons,
		"## 🚧 Foreclosed Avenues ##": state.Foreclosed, "## 🔭 Future Directions": state.Future,
		"## Future work":         state.Future,
		"## 📊 Iteration History": state.History, "## **Iteration-History** (newest first)": state.History,
	} {
		doc := parse(t, head+heading+"\n\n text \n\n# Next\n\nmore\n")
		assert.Equal(t, "text", doc.Section(kind), heading)
		doc.SetSection(kind, "new")
		assert.Equal(t, head+heading+"\n\nnew\n\n# Next\n\nmore\n", string(doc.Bytes()))
	}
	for _, heading := range []string{
		"## Lessons and more", "## Learned Lessons", "## Priorities of mine", "## Future",
		"## History", "Lessons Learned", "##Lessons Learned",
	} {
		doc := parse(t, head+heading+"\n\ntext\n")
		for _, kind := range []state.SectionKind{state.Priorities, state.Lessons, state.Future, state.History} {
			assert.Empty(t, doc.Section(kind), heading)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"the first of two":         {"## Lessons\n\na\n\n## Lessons\n\nb\n", "a\n\n## Lessons\n\nb"},
		"the higher of two":        {"### Lessons\n\na\n\n# Lessons\n\nb\n", "b"},
		"the first of the highest": {"### Lessons\n\na\n\n## Lessons\n\nb\n\n## Lessons Learned\n\nc\n", "b"},
		"with a part of its own":   {"## Lessons\n\na\n\n### Why\n\nb\n\n## Other\n\nc\n", "a\n\n### Why\n\nb"},
		"up to a known section":    {"## Lessons\n\na\n\n### Future Work\n\nb\n", "a"},
		"without the rule behind":  {"## Lessons\n\na\n\n---\n\n***\n\n## Other\n", "a"},
		"with a rule inside":       {"## Lessons\n\na\n\n---\n\nb\n", "a\n\n---\n\nb"},
		"in a fence":               {"```\n## Lessons\n\na\n```\n", ""},
		"a fence in it":            {"## Lessons\n\n```\n## Other\n```\n\na\n", "```\n## Other\n```\n\na"},
		"nothing yet":              {"## Lessons\n\n*(none yet)*\n", ""},
		"nothing yet, in a list":   {"## Lessons\n\n- *(none yet)*\n", ""},
		"nothing, in other words":  {"## Lessons\n\n*(will be filled in)*\n", ""},
		"words in brackets":        {"## Lessons\n\n*(none yet)*\n- a\n", "*(none yet)*\n- a"},
		"bytes that are no text":   {"## Lessons\n\n\xff\n", "\uFFFD"},
	} {
		want := c.want
		if name == "the first of two" {
			want = "a" // a heading of its own level ends it, whatever its words
		}
		assert.Equal(t, want, parse(t, head+c.text).Section(state.Lessons), name)
	}
}

// TestSectionsThatAreMissing are added in their place, with the line ends of the file.
func TestSectionsThatAreMissing(t *testing.T) {
	t.Parallel()
	const rows = table + "| Paused | no |\n"
	for name, c := range map[string]struct{ text, want string }{
		"at the end":     {rows, rows + "\n## 📚 Lessons Learned\n\n- a\n"},
		"without a line": {strings.TrimSuffix(rows, "\n"), rows + "\n## 📚 Lessons Learned\n\n- a\n"},
		"before the next": {
			rows + "\n## Future Work\n\nb\n",
			rows + "\n## 📚 Lessons Learned\n\n- a\n\n## Future Work\n\nb\n",
		},
		"before the one after it": {
			rows + "\n## Foreclosed Avenues\n\nb\n",
			rows + "\n## 📚 Lessons Learned\n\n- a\n\n## Foreclosed Avenues\n\nb\n",
		},
		"behind the others": {
			rows + "\n## Priorities\n\nb\n\n## Mine\n\nc",
			rows + "\n## Priorities\n\nb\n\n## Mine\n\nc\n\n## 📚 Lessons Learned\n\n- a\n",
		},
		"before the first that comes later": {
			rows + "\n## Iteration History\n\nb\n\n## Future Work\n\nc\n",
			rows + "\n## 📚 Lessons Learned\n\n- a\n\n## Iteration History\n\nb\n\n## Future Work\n\nc\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, end := range []string{"\n", "\r\n"} {
				text := strings.ReplaceAll(c.text, "\n", end)
				doc := parse(t, text)
				doc.AppendItem(state.Lessons, "a")
				assert.Equal(t, strings.ReplaceAll(c.want, "\n", end), string(doc.Bytes()))
				again, err := doc.Again()
				require.NoError(t, err)
				doc = again
				doc.SetSection(state.Lessons, "\n- a\r\n\n")
				assert.Equal(t, strings.ReplaceAll(c.want, "\n", end), string(doc.Bytes()))
				doc.SetSection(state.Lessons, "- a\r\n- b\n\n- c")
				assert.Equal(t, strings.ReplaceAll(strings.Replace(c.want, "- a\n", "- a\n- b\n\n- c\n", 1), "\n", end),
					string(doc.Bytes()))
			}
		})
	}
}

// TestLineOfOlderEntries: the metric before and after them, and what became
// of each.
func TestLineOfOlderEntries(t *testing.T) {
	t.Parallel()
	for entries, says := range map[string]string{ // from iteration 1 on: the status, the metric and that before
		"accepted 9 10,rejected 11 9,accepted 7 9": "### Iters 1–3 — ✅ 2 / ❌ 1 / ⚠️ 0 (metrics 10→7)",
		"rejected 11 10,inconclusive 12 10":        "### Iters 1–2 — ✅ 0 / ❌ 2 / ⚠️ 0 (metrics 10→10)",
		"error,error":                              "### Iters 1–2 — ✅ 0 / ❌ 0 / ⚠️ 2",
		"accepted -9":                              "### Iters 1–1 — ✅ 1 / ❌ 0 / ⚠️ 0 (metrics -9→-9)",
	} {
		doc := state.New("x")
		for i, text := range strings.Split(entries+strings.Repeat(",rejected", 10), ",") {
			words := strings.Fields(text)
			e := state.HistoryEntry{Iteration: i + 1, Status: state.Status(words[0])}
			if len(words) > 1 {
				e.Metric = value(words[1])
			}
			if len(words) > 2 {
				e.PreviousBest = value(words[2])
			}
			doc.AddEntry(e)
		}
		assert.Contains(t, string(doc.Render()), "\n\n"+says+"\n\n<!-- autoloop: end -->\n")
	}
}
