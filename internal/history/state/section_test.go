package state_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

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

// TestFoldingKeepsEveryCount folds long histories at any times: the counts of ranges and
// of entries in full are those of what was recorded, and no iteration is in two of them.
func TestFoldingKeepsEveryCount(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`(?m)^### Iters? (\d+)(?:–(\d+))? — ✅ (\d+) / ❌ (\d+)(?: / ⚠️ (\d+))?`)
	full := regexp.MustCompile(`(?m)^### Iteration (\d+)( \(new baseline\))? — `)
	for seed := range uint64(4) {
		chance := rand.New(rand.NewPCG(seed, 5))
		doc := state.New("x")
		text := string(doc.Bytes())
		want := map[state.Status]int{}
		outcome := map[int]state.Status{}
		const last = 130
		for n := range last + 1 {
			status := []state.Status{
				state.Accepted, state.Rejected, state.Inconclusive, state.Failed,
				state.CIFixExhausted,
			}[chance.IntN(5)]
			e := state.HistoryEntry{
				Iteration: n, Time: at("2026-01-01T00:00:00Z").Add(time.Duration(n) * time.Hour),
				Status: status, Change: strings.Repeat("word ", chance.IntN(60)), Metric: value(fmt.Sprint(n)),
			}
			if n > 0 && chance.IntN(9) == 0 {
				doc.AddEntry(state.HistoryEntry{Iteration: n, Baseline: true, Time: e.Time, Metric: value("5")})
			}
			if n == 0 {
				e.Status = state.Baseline
			}
			doc.AddEntry(e)
			outcome[n] = e.Status
			want[e.Status]++
			if chance.IntN(3) == 0 || n == last {
				text = string(doc.Render())
				again, err := doc.Again()
				require.NoError(t, err)
				doc = again
			}
		}
		accepted, dropped, failed := 0, 0, 0
		covered := map[int]int{}
		for _, found := range form.FindAllStringSubmatch(text, -1) {
			number := func(i int) int { n, _ := strconv.Atoi(found[i]); return n }
			accepted, dropped, failed = accepted+number(3), dropped+number(4), failed+number(5)
			for n := number(1); n <= max(number(1), number(2)); n++ {
				covered[n]++
			}
		}
		entries := 0
		for _, found := range full.FindAllStringSubmatch(text, -1) {
			n, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			entries++
			if found[2] != "" {
				continue
			}
			covered[n]++
			switch outcome[n] {
			case state.Accepted:
				accepted++
			case state.Failed:
				failed++
			case state.Baseline:
			default:
				dropped++
			}
		}
		assert.Equal(t, []int{
			want[state.Accepted],
			want[state.Rejected] + want[state.Inconclusive] + want[state.CIFixExhausted], want[state.Failed],
		},
			[]int{accepted, dropped, failed}, seed)
		assert.Equal(t, 10, entries)
		for n := 1; n <= last; n++ { // iteration 0 is no candidate
			if covered[n] != 1 && n != last-9 && n != last-8 { // where a baseline is beside the first that is in full
				assert.Equal(t, 1, covered[n], "seed %d, iteration %d in\n%s", seed, n, text)
			}
		}
	}
}

// TestWhatTheLineOfOlderEntriesSays: the metric before and after them, and what became
// of each.
func TestWhatTheLineOfOlderEntriesSays(t *testing.T) {
	t.Parallel()
	type one struct {
		status     state.Status
		is, before string
	}
	for name, c := range map[string]struct {
		entries []one // from iteration 1 on
		says    string
	}{
		"kept and dropped": {[]one{
			{state.Accepted, "9", "10"},
			{state.Rejected, "11", "9"},
			{state.Accepted, "7", "9"},
		}, "### Iters 1–3 — ✅ 2 / ❌ 1 / ⚠️ 0 (metrics 10→7)"},
		"nothing kept": {
			[]one{{state.Rejected, "11", "10"}, {state.Inconclusive, "12", "10"}},
			"### Iters 1–2 — ✅ 0 / ❌ 2 / ⚠️ 0 (metrics 10→10)",
		},
		"errors alone":     {[]one{{state.Failed, "", ""}, {state.Failed, "", ""}}, "### Iters 1–2 — ✅ 0 / ❌ 0 / ⚠️ 2"},
		"the first number": {[]one{{state.Accepted, "-9", ""}}, "### Iters 1–1 — ✅ 1 / ❌ 0 / ⚠️ 0 (metrics -9→-9)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := state.New("x")
			for i, e := range c.entries {
				entry := state.HistoryEntry{Iteration: i + 1, Time: *at("2026-01-01T00:00:00Z"), Status: e.status}
				if e.is != "" {
					entry.Metric = value(e.is)
				}
				if e.before != "" {
					entry.PreviousBest = value(e.before)
				}
				doc.AddEntry(entry)
			}
			for n := len(c.entries) + 1; n <= len(c.entries)+10; n++ {
				doc.AddEntry(state.HistoryEntry{
					Iteration: n, Time: *at("2026-01-01T00:00:00Z"),
					Status: state.Rejected,
				})
			}
			assert.Contains(t, string(doc.Render()), "\n\n"+c.says+"\n\n<!-- autoloop: end -->\n")
		})
	}
}
