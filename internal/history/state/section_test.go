package state_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/tests/golden"
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
		doc.AppendItem(kind, "<b>\nx")
		assert.Equal(t, "new\n- &lt;b&gt; x", doc.Section(kind))
		doc.SetSection(kind, "")
		assert.Equal(t, head+heading+"\n\n*(none yet)*\n\n# Next\n\nmore\n", string(doc.Bytes()))
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
	for name, text := range map[string]string{
		"the first of two":         "## Lessons\n\na\n\n## Lessons\n\nb\n",
		"the higher of two":        "### Lessons\n\na\n\n# Lessons\n\nb\n",
		"the first of the highest": "### Lessons\n\na\n\n## Lessons\n\nb\n\n## Lessons Learned\n\nc\n",
		"with a part of its own":   "## Lessons\n\na\n\n### Why\n\nb\n\n## Other\n\nc\n",
		"up to a known section":    "## Lessons\n\na\n\n### Future Work\n\nb\n",
		"without the rule behind":  "## Lessons\n\na\n\n---\n\n***\n\n## Other\n",
		"with a rule inside":       "## Lessons\n\na\n\n---\n\nb\n",
		"in a fence":               "```\n## Lessons\n\na\n```\n",
		"a fence in it":            "## Lessons\n\n```\n## Other\n```\n\na\n",
		"nothing yet":              "## Lessons\n\n*(none yet)*\n",
		"nothing yet, in a list":   "## Lessons\n\n- *(none yet)*\n",
		"nothing, in other words":  "## Lessons\n\n*(will be filled in)*\n",
		"words in brackets":        "## Lessons\n\n*(none yet)*\n- a\n",
		"bytes that are no text":   "## Lessons\n\n\xff\n",
	} {
		golden.Row(t, name, parse(t, head+text).Section(state.Lessons))
	}
}

// TestSectionsThatAreMissing are added in their place, with the line ends of the file.
func TestSectionsThatAreMissing(t *testing.T) {
	t.Parallel()
	const rows = table + "| Paused | no |"
	for name, sections := range map[string]string{
		"at the end":                        "\n",
		"without a line":                    "",
		"before the next":                   "\n\n## Future Work\n\nb\n",
		"before the one after it":           "\n\n## Foreclosed Avenues\n\nb\n",
		"behind the others":                 "\n\n## Priorities\n\nb\n\n## Mine\n\nc",
		"before the first that comes later": "\n\n## Iteration History\n\nb\n\n## Future Work\n\nc\n",
	} {
		for _, end := range []string{"\n", "\r\n"} {
			doc := parse(t, strings.ReplaceAll(rows+sections, "\n", end))
			doc.AppendItem(state.Lessons, "a")
			once := string(doc.Bytes())
			golden.Row(t, name, strings.ReplaceAll(once, end, "\n"))
			again, err := doc.Again()
			require.NoError(t, err)
			again.SetSection(state.Lessons, "\n- a\r\n\n")
			assert.Equal(t, once, string(again.Bytes()))
			again.SetSection(state.Lessons, "- a\r\n- b\n\n- c")
			assert.Equal(
				t,
				strings.Replace(once, "- a"+end, "- a"+end+"- b"+end+end+"- c"+end, 1),
				string(again.Bytes()),
			)
		}
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
