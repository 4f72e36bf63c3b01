package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/tests/long"
)

// browserProgram has n iterations, whose texts are of several scripts; with -n
// every one is an error. The candidates of "population" grow from one another.
func browserProgram(t testing.TB, name string, n int, front page.Source) *page.Program {
	t.Helper()
	p, err := page.New(browserSource(t, name, n, front), browserTime)
	require.NoError(t, err)
	return p
}

var browserTime = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func browserSource(t testing.TB, name string, n int, front page.Source) page.Source {
	t.Helper()
	now := browserTime
	number := func(text string, args ...any) *metric.Value {
		v, err := metric.ParseValue(fmt.Sprintf(text, args...))
		require.NoError(t, err)
		return &v
	}
	words := []string{
		"inline the hot loop", "תרגום של הטקסט", "使用查找表代替分支", "इनलाइन लूप",
		"a_very_long_identifier_without_any_place_to_break_" + strings.Repeat("x", 120), "🚀 faster",
	}
	best := 1000.0
	failing := n < 0
	n = max(n, -n)
	diffs, events := map[string][]byte{},
		[]history.Event{&history.Measured{
			Head: history.Head{Time: now}, Role: history.Baseline, Metric: number("%g", best),
			Direction: metric.Lower,
		}}
	for i := 1; i <= n; i++ {
		tried := best + 4 - float64(i%9)
		e := &history.Decided{
			Head: history.Head{Iteration: i, Time: now.Add(time.Duration(i) * time.Hour)}, Outcome: history.Rejected,
			Metric:       number("%g", tried),
			PreviousBest: number("%g", best), Best: number("%g", best),
			Reasons: decision.Says("not better: " + words[(i+1)%len(words)]),
			Commit:  fmt.Sprintf("%040x", i),
			Work: history.Work{
				Summary: words[i%len(words)], Agent: "tuner", Usage: &metric.Usage{CostUSD: number("0.25")},
				Durations: map[string]float64{"propose": 90},
				Params:    map[string]metric.Value{"width": *number("%d", i%17), "depth": *number("%d", i%5)},
			},
			Notes: history.Notes{Lessons: []string{words[i%len(words)]}},
		}
		diffs[e.Commit] = fmt.Appendf(nil,
			"diff --git a/src/very/long/path/%s.go b/src/very/long/path/x.go\n@@ -1 +1 @@\n-\treturn %d\n"+
				"+\treturn change%d // %s\n", strings.Repeat("deep/", 20), i, i, strings.Repeat("long ", 60))
		switch {
		case tried < best && i%3 == 0:
			best = tried
			e.Outcome, e.Best = history.Accepted, number("%g", best)
		case i%13 == 0:
			e.Outcome, e.Metric = history.Error, nil
		}
		if failing {
			e.Outcome, e.Metric, e.Best, e.Reasons = history.Error, nil, number("%g", 1000.0),
				decision.Says("the agent's service did not answer")
		}
		events = append(events, e)
	}
	front.Name = name
	front.Diff = func(_, commit string) []byte { return diffs[commit] }
	past := history.Replay(events)
	front.Events, front.Summary = events, &past
	return front
}

func TestPageInABrowser(t *testing.T) {
	long.Only(t, long.Browser)
	t.Parallel()
	chromium := browserOf(t)
	dir := t.TempDir()
	hostile := `<script>alert(1)</script><img src=x onerror=alert(2)>"onmouseover="alert(3)`
	var programs []*page.Program
	var paged []map[string]any
	for _, source := range []page.Source{
		browserSource(t, "speed", 137, page.Source{Metric: "seconds", State: "waiting", Reason: "not due yet"}),
		browserSource(t, "one", 1, page.Source{Metric: "bytes"}),
		browserSource(t, "new", 0, page.Source{}),
		browserSource(t, "hostile", 5,
			page.Source{
				Metric: hostile, State: "plateau", Reason: hostile,
				Budget: []budget.Used{{Text: hostile, Share: 1.2}},
			}),
		browserSource(t, "errors", -12,
			page.Source{State: "paused", Reason: "three errors in a row: the agent's service did not answer"}),
		browserSource(t, "population", 40, page.Source{Metric: "score"}),
		browserSource(t, "suite", 12, page.Source{Metric: "pass rate"}),
	} {
		p, err := page.New(source, browserTime)
		require.NoError(t, err)
		programs = append(programs, p)
		if n := len(p.Attempts); n > 0 {
			paged = append(paged, map[string]any{"file": "all.html", "id": p.ID, "iterations": n})
		}
	}
	site := &page.Site{Generated: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), Programs: programs}
	write := func(name string, view page.View) {
		var b bytes.Buffer
		require.NoError(t, view.Write(&b))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600))
	}
	write("all.html", page.View{Site: site, Overview: true, Shown: programs})
	write("index.html", page.View{Site: site, Overview: true})
	for _, p := range programs {
		write(page.File(p.Name), page.View{Site: site, Shown: []*page.Program{p}})
	}
	large := &page.Site{Programs: []*page.Program{browserProgram(t, "large", 10_000, page.Source{})}}
	write("large.html", page.View{Site: large, Overview: true, Shown: large.Programs})
	many := &page.Site{}
	for i := range 300 {
		many.Programs = append(many.Programs, browserProgram(t, fmt.Sprintf("program-%d", i), 3, page.Source{}))
	}
	write("many.html", page.View{Site: many, Overview: true})

	type picture struct {
		Name   string `json:"name"`
		File   string `json:"file"`
		Anchor string `json:"anchor"`
		Scheme string `json:"scheme"`
		Width  int    `json:"width"`
	}
	var pictures []picture
	for name, p := range map[string]picture{
		"overview": {File: "index.html"}, "program": {File: page.File(programs[0].Name)},
		"iteration": {File: "all.html", Anchor: "#program-speed-i123"}, "one": {File: page.File(programs[1].Name)},
		"empty": {File: page.File(programs[2].Name)}, "errors": {File: page.File(programs[4].Name)},
		"many":  {File: "many.html"},
		"large": {File: "large.html", Anchor: "#program-large"},
	} {
		for scheme, width := range map[string]int{"light": 1600, "dark": 360} {
			p.Name, p.Scheme, p.Width = fmt.Sprintf("%s-%s-%d", name, scheme, width), scheme, width
			pictures = append(pictures, p)
		}
	}
	list, err := json.Marshal(map[string]any{
		"pages": map[string][]string{
			"all.html": {"", "#program-speed", "#program-speed-i3"}, "index.html": {""}, "many.html": {""},
			page.File(programs[0].Name): {""},
			page.File(programs[2].Name): {""}, page.File(programs[3].Name): {""}, page.File(programs[4].Name): {""}, page.File(programs[5].Name): {""},
			page.File(programs[6].Name): {""},
		},
		"walks": []map[string]any{
			{"file": "index.html", "first": 1, "change": "change1"},
			{"file": "all.html", "first": 1, "change": "change1"},
		},
		"programs": paged, "large": "large.html", "empty": page.File(programs[2].Name), "pictures": pictures,
	})
	require.NoError(t, err)
	checkPages(t, chromium, dir, list)
}

// browserOf finds the browser, and what drives it.
func browserOf(t *testing.T) (chromium string) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		long.Missing(t, "chromium")
	}
	if _, err := os.Stat("npm-page/node_modules"); err != nil {
		long.Missing(t, "npm ci --prefix tests/npm-page")
	}
	return chromium
}

// checkPages looks in a browser at the pages of a directory, for what is wanted of them.
func checkPages(t *testing.T, chromium, dir string, wanted []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "wanted.json"), wanted, 0o600))
	cmd := exec.CommandContext(t.Context(), "node", "check.js", dir) //nolint:gosec // our own script
	cmd.Dir = "npm-page"
	cmd.Env = append(os.Environ(), "CHROMIUM="+chromium)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	t.Log(stderr.String())
	var problems []string
	require.NoError(t, json.Unmarshal(out, &problems))
	assert.Empty(t, problems)
}

// TestPageToolsInABrowser: programs in another order, filters, and the tip over the chart.
func TestPageToolsInABrowser(t *testing.T) {
	long.Only(t, long.Browser)
	t.Parallel()
	chromium := browserOf(t)
	dir := t.TempDir()
	tools := browserSource(t, "tools", 12, page.Source{})
	events := tools.Events
	for _, e := range history.Of[*history.Decided](events) {
		if e.Iteration == 7 {
			e.Summary = "the word of seven"
		}
	}
	sources := []page.Source{
		browserSource(t, "a-calm", 9, page.Source{State: "waiting"}), tools,
		browserSource(t, "stuck", 20, page.Source{State: "paused", Reason: "three errors in a row"}),
		browserSource(t, "never", 0, page.Source{}),
	}
	site := &page.Site{Generated: browserTime}
	for _, source := range sources {
		p, err := page.New(source, browserTime)
		require.NoError(t, err)
		site.Programs = append(site.Programs, p)
	}
	var all bytes.Buffer
	require.NoError(t, page.View{Site: site, Overview: true, Shown: site.Programs}.Write(&all))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "all.html"), all.Bytes(), 0o600))

	kept := []string{}
	for _, attempt := range slices.Backward(history.Replay(events).Attempts) {
		if attempt.Outcome == history.Accepted {
			kept = append(kept, fmt.Sprint(attempt.Iteration))
		}
	}
	list, err := json.Marshal(map[string]any{"tools": map[string]any{
		"file": "all.html", "id": "program-tools", "filter": "a-calm", "kept": kept,
		"order":  []string{"stuck", "a-calm", "tools", "never"},
		"sorted": map[string][]string{"Program": {"a-calm", "never", "stuck", "tools"}},
	}})
	require.NoError(t, err)
	checkPages(t, chromium, dir, list)
}
