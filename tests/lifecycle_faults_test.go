package tests

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

// mostUsed are the cells of the lifecycle that every user meets.
var mostUsed = []string{
	"merged × draft", "squashed, branch deleted × draft", "closed with a comment × draft", "comment × draft",
	"reviewed × draft", "better commit pushed × draft", "main moved × draft", "autoloop undo 1 × draft",
	"autoloop resume × paused", "check green × waiting for CI",
}

// TestFaultsInTheMostUsedCells lets the run after something happened meet a fault at each
// of its requests: one that passes, or one that lasts as long as the run. Two runs later
// all is as it is without faults: nothing was done twice, and nothing is lost.
func TestFaultsInTheMostUsedCells(t *testing.T) {
	long.Only(t, long.Kills)
	t.Parallel()
	eachCell(t, mostUsed, func(t *testing.T, what happening, at phase) {
		h := at.reached().again(t)
		what.do(h)
		h.impatient()
		m := h.snapshot()
		h.Calls()
		h.runOnce()
		requests := len(h.Calls())
		h.runOnce()
		want := h.facts()
		for k := range requests {
			kinds := []githubtest.Fault{
				{Kind: githubtest.ServerError, Times: 1000},
				{Kind: githubtest.Dropped, After: true},
				{Kind: githubtest.Cut},
				{Kind: githubtest.PrimaryLimit, Times: 1000},
				{Kind: githubtest.SecondaryLimit},
			}
			f := kinds[k%len(kinds)]
			f.Skip, f.Wait = k, time.Hour
			t.Run(fmt.Sprintf("request %d %s", k+1, f.Kind), func(t *testing.T) {
				t.Parallel()
				again := m.again(t)
				again.impatient()
				again.Fail(f)
				again.binary("iterate", "--program", "p", "--json")
				again.Mend()
				again.runOnce()
				again.runOnce()
				assert.Equal(t, want, again.facts())
			})
		}
	})
}

// eachCell runs a test for each of these cells of the lifecycle.
func eachCell(t *testing.T, names []string, test func(t *testing.T, what happening, at phase)) {
	t.Helper()
	known, all := 0, phases(t)
	for _, what := range happenings() {
		for _, at := range all {
			if name := what.name + " × " + at.name; slices.Contains(names, name) {
				known++
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, what, at)
				})
			}
		}
	}
	require.Len(t, names, known)
}

var (
	anyMark = regexp.MustCompile(`<!-- AUTOLOOP:(?:ITERATION|STATUS|NOTICE|REPLY|PULL)[^>]*-->`)
	toldTo  = regexp.MustCompile(`agent \d+ is told: ([^;]*)`)
)

// facts are what people see, without what depends on how many iterations there were. A
// comment of ours that is there twice, or records that do not agree, are no facts.
func (h *hub) facts() string {
	h.t.Helper()
	state, marks, heard := h.site.look(), map[string]int{}, map[string]bool{}
	var words []string
	for _, i := range state.Issues {
		for _, c := range state.On(i.Number) {
			for _, mark := range anyMark.FindAllString(c.Body, -1) {
				marks[fmt.Sprint(i.Number, mark)]++
				require.Equal(h.t, 1, marks[fmt.Sprint(i.Number, mark)], "%s is on #%d twice", mark, i.Number)
			}
		}
		if pull := state.Pull(i.Number); pull != nil {
			words = append(words, fmt.Sprintf("#%d merged=%v open=%v draft=%v", i.Number, pull.Merged, i.Open,
				pull.Draft))
		}
	}
	stands := h.stands()
	require.NotContains(h.t, stands, "REPLAY")
	for _, found := range toldTo.FindAllStringSubmatch(stands, -1) {
		heard[found[1]] = true
	}
	words = append(words, slices.Sorted(maps.Keys(heard))...)
	doc := h.remembered("p.md")
	return strings.Join(append(words,
		fmt.Sprintf("%d answers", len(h.answers())),
		fmt.Sprintf("paused=%v", strings.Contains(doc, "| Paused | true |")),
		fmt.Sprintf("on the branch as on record=%v",
			strings.Contains(doc, "| Best Metric | "+h.run(h.bare, "git", "show", "autoloop/p:value.txt")+" |"))), "\n")
}
