package state_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
)

// edited is a state file that people and other tools edited: with lines of their own in
// every place, which say `own` and a number.
type edited struct {
	*rand.Rand
	out   strings.Builder
	count int
	ends  []string
}

func (e *edited) line(text string) {
	e.out.WriteString(strings.ReplaceAll(text, "OWN", fmt.Sprint("own ", e.count)))
	if strings.Contains(text, "OWN") {
		e.count++
	}
	e.out.WriteString(e.ends[e.IntN(len(e.ends))])
}

// some writes some lines of people, of these forms.
func (e *edited) some(forms ...string) {
	for range e.IntN(3) {
		for line := range strings.SplitSeq(forms[e.IntN(len(forms))], "\n") {
			e.line(line)
		}
	}
}

// prose are forms that may stand anywhere.
var prose = []string{
	"OWN", "- OWN", "", "> OWN", "```\n## 📊 Iteration History OWN\n### Iteration 3 OWN\n```",
	"<!-- OWN\n## Machine State OWN\n| Paused | true OWN |\n-->", "\tOWN  ", "#hashtag OWN", "OWN \xff\xfe",
	"****", "---",
	"1. OWN\n   - OWN", "#### OWN", "OWN (iteration 3)",
}

func inventedFile(seed uint64) string {
	e := &edited{Rand: rand.New(rand.NewPCG(seed, 3)), ends: [][]string{{"\n"}, {"\r\n"}, {"\n", "\r\n"}}[seed%3]}
	e.some(append(prose, "# OWN")...)
	e.line([]string{"## ⚙️ Machine State", "# Machine State", "### MACHINE STATE (do not touch) OWN"}[e.IntN(3)])
	e.some("OWN", "> OWN", "")
	e.line("| Field | Value |")
	e.line("|---|:-:|")
	for _, row := range []string{
		"| Iteration Count | 7 |", "| **Paused** | `false` | OWN |", "|Best Metric|  0.850  |",
		"| Strategy OWN | a \\| b |", "Completed | no", "|PR||", "| Recent Statuses | accepted, rejected |",
		"| OWN | |", "| Branch | `autoloop/x` |",
	} {
		if e.IntN(4) > 0 || strings.Contains(row, "Iteration") {
			e.line(row)
		}
	}
	e.some(prose...)
	sections := []string{
		"## 📋 Program Info", "## 🎯 Current Priorities", "## Lessons Learned OWN",
		"# Foreclosed Avenues", "## Future Work", "## Mine OWN", "### Details OWN",
	}
	for _, at := range e.Perm(len(sections))[:e.IntN(len(sections)+1)] {
		e.line(sections[at])
		e.some(prose...)
		if e.IntN(3) == 0 {
			e.line("*(none yet)*")
		}
	}
	if e.IntN(4) > 0 {
		e.line("## 📊 Iteration History")
		e.some("OWN", "", "- ✅ OWN")
		for n := 12 + e.IntN(8); n > 0; n -= 1 + e.IntN(3) {
			switch e.IntN(5) {
			case 0:
				e.line(fmt.Sprintf("### Iteration %d — ✅ OWN (31→32)", n))
			case 1:
				e.line(fmt.Sprintf("### Iters %d–%d — ❌ OWN", max(n-2, 0), n))
			default:
				e.line(fmt.Sprintf("### Iteration %d — 2026-01-02 03:04 UTC", n))
				e.line("")
				e.line("- **Status**: ✅ Accepted")
				e.line(fmt.Sprintf("- **Metric**: %d", n))
				e.some("", "OWN", "- OWN", "#### OWN")
			}
			e.some("", "### A note OWN\n\nOWN")
		}
	}
	e.some("## Appendix OWN\n\nOWN\n", "OWN", "---")
	text := e.out.String()
	if e.IntN(3) == 0 {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

// own are the lines of people, with their line ends; the last may have got one.
func own(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if at := strings.Index(line, "own "); strings.HasPrefix(line, "| **Paused**") {
			lines = append(lines, line[at:]) // people may write beside a value, which changes
		} else if at >= 0 {
			lines = append(lines, line)
		}
	}
	if last := len(lines) - 1; last >= 0 {
		lines[last] = strings.TrimRight(lines[last], "\r\n")
	}
	return lines
}

// TestWhatPeopleWriteStaysAsItIs does to files of all kinds what iterations do to them, in
// any order: no line of people is lost, changed or moved, and what is written is read back.
func TestWhatPeopleWriteStaysAsItIs(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		text := inventedFile(seed)
		doc := parse(t, text)
		require.Equal(t, text, string(doc.Bytes()))
		want := own(text)
		chance := rand.New(rand.NewPCG(seed, 4))
		for step := range 12 {
			what := ""
			switch chance.IntN(6) {
			case 0, 1:
				what = "the table"
				m := doc.Machine()
				later := time.Date(2026, 1, 1+chance.IntN(20), 0, 0, 0, 0, time.UTC)
				m.IterationCount, m.LastRun, m.Paused = m.IterationCount+1, &later, chance.IntN(2) == 0
				m.PauseReason = []string{"", "rest | more", `a\`, "\\|"}[chance.IntN(4)]
				m.RecentStatuses = append(m.RecentStatuses, "error")
				if chance.IntN(3) == 0 {
					m.NotBefore, m.BestMetric, m.PR, m.Branch = &later, value("3.25"), 7, "autoloop/y"
				}
				doc.SetMachine(m)
			case 2, 3:
				what = "an entry"
				doc.AddEntry(state.HistoryEntry{
					Iteration: 20 + chance.IntN(4), Time: *at("2026-01-02T03:04:05Z"),
					Status: state.Rejected, Change: "step", Commit: "c",
				})
			case 4:
				what = "an item"
				doc.AppendItem([]state.SectionKind{
					state.Priorities, state.Lessons, state.Foreclosed,
					state.Future,
				}[chance.IntN(4)], "added\n## x")
			case 5:
				what = "what was learned"
				doc.Learn([]state.SectionKind{state.Lessons, state.Foreclosed, state.Future}[chance.IntN(3)], step,
					[]string{fmt.Sprint("learned ", step), "learned"})
			}
			says := fmt.Sprintf("seed %d, step %d: %s of\n%q\nis\n%q", seed, step, what, text, doc.Bytes())
			require.Equal(t, want, own(string(doc.Bytes())), says)
			again, err := state.Parse(doc.Bytes())
			require.NoError(t, err, says)
			require.Equal(t, doc.Machine(), again.Machine(), says)
			once := again.Render()
			require.Equal(t, want, own(string(once)), says)
			folded := parse(t, string(once))
			require.Equal(t, doc.Machine(), folded.Machine(), says)
			require.Equal(t, string(once), string(folded.Render()), says)
		}
	}
}

// TestADocIsAValueOfItsOwn: neither the bytes that it was read from nor those that it
// returned are its own.
func TestADocIsAValueOfItsOwn(t *testing.T) {
	t.Parallel()
	data := []byte(table + "| Iteration Count | 7 |\n\n## Lessons Learned\n\n- one\n")
	doc, err := state.Parse(data)
	require.NoError(t, err)
	want := string(data)
	clear(data)
	assert.Equal(t, want, string(doc.Bytes()))
	clear(doc.Bytes())
	clear(doc.Render())
	assert.Equal(t, want, string(doc.Bytes()))
	assert.Equal(t, "- one", doc.Section(state.Lessons))
}

// TestTheTableAsItStands is what people see of it elsewhere: the rows, without what stands
// around them.
func TestTheTableAsItStands(t *testing.T) {
	t.Parallel()
	const rows = "| Field | Value |\n|---|---|\n| Iteration Count | 7 |\n| Mine | x |\n"
	for name, c := range map[string]struct{ text, want string }{
		"alone": {"## Machine State\n" + rows, rows},
		"with text around": {"# x\n\n## Machine State\n\n> a note\n\n" + rows +
			"\nafter | with a pipe\n\n## Next\n| no | row |\n", rows + "after | with a pipe\n"},
		"with Windows' ends": {strings.ReplaceAll("## Machine State\n\n"+rows, "\n", "\r\n"), rows},
		"without a line end": {"## Machine State\n| Iteration Count | 7 |", "| Iteration Count | 7 |\n"},
		"an unknown last":    {"## Machine State\n" + rows + "| Own | y |\ntext\n", rows + "| Own | y |\n"},
	} {
		assert.Equal(t, c.want, parse(t, c.text).Table(), name)
	}
}

func TestANewFile(t *testing.T) {
	t.Parallel()
	for name, title := range map[string]string{
		"speed": "speed", "a\n## Machine State\nb": "a ## Machine State b",
		"<b>": "&lt;b&gt;", "": "",
	} {
		doc := state.New(name)
		assert.True(t, strings.HasPrefix(string(doc.Bytes()), "# Autoloop: "+title+"\n"), name)
		m := doc.Machine()
		assert.Nil(t, m.LastRun)
		assert.True(t, m.DirectionGiven, "the row is there from the start")
		for _, kind := range []state.SectionKind{
			state.ProgramInfo, state.Priorities, state.Lessons, state.Foreclosed,
			state.Future, state.History,
		} {
			assert.Empty(t, doc.Section(kind), "nothing yet")
		}
		assert.Equal(t, string(doc.Bytes()), string(doc.Render()))
		before := string(doc.Bytes())
		doc.SetMachine(m)
		assert.Equal(t, before, string(doc.Bytes()))
	}
}
