package tests

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

var updateCells = flag.Bool("update-cells", false, "write what each cell of the lifecycle comes to")

// phase is where an iteration stands when something happens.
type phase struct {
	name string
	// reach brings a program there.
	reach func(h *hub)
	// during, when set, runs the iteration in whose midst it happens.
	during bool
	// reached is a program there: one is brought there, and all others are copies of it.
	reached func() snapshot
}

func phases(t *testing.T) []phase {
	t.Helper()
	draft := func(h *hub) { require.Equal(h.t, "accepted", h.one().Outcome) }
	waits := func(h *hub) {
		h.edits("ci-gate: off", "ci-gate: required\nci-wait: 1s")
		require.Equal(h.t, "pending-ci", h.one().Outcome)
	}
	pauses := func(h *hub) {
		h.say("alice", "/autoloop pause a holiday")
		h.one()
	}
	list := []phase{
		{name: "never run", reach: func(*hub) {}},
		{name: "at work", reach: draft, during: true},
		{name: "waiting for CI", reach: waits},
		{name: "draft", reach: draft},
		{name: "ready", reach: func(h *hub) { draft(h); h.ready(true) }},
		{name: "merged", reach: func(h *hub) { draft(h); h.merge() }},
		{name: "closed", reach: func(h *hub) { draft(h); h.Close(h.openPull()); h.one() }},
		{name: "completed", reach: func(h *hub) { h.try("2", "1", "1"); draft(h) }},
		{name: "paused", reach: func(h *hub) { draft(h); pauses(h) }},
		{name: "paused and waiting", reach: func(h *hub) { waits(h); pauses(h) }},
	}
	for i, at := range list {
		list[i].reached = sync.OnceValue(func() snapshot {
			h := newHub(t, map[string]string{"value.txt": "10\n"}, "9", "8", "7", "6")
			h.program(strings.Replace(waitingAtTwo(), "metric: m", "ci-gate: off\nmetric: m", 1))
			if !at.during {
				h.aside("go-on", "")
			}
			at.reach(h)
			return h.snapshot()
		})
	}
	return list
}

// edits changes the text of the program.
func (h *hub) edits(before, after string) {
	h.t.Helper()
	issue := h.site.look().Issue(1)
	require.Contains(h.t, issue.Body, before)
	h.site.rewrite(1, issue.Title, strings.Replace(issue.Body, before, after, 1))
}

// happening is what people or CI do.
type happening struct {
	name string
	do   func(h *hub)
	// at are the phases in which it comes to something of its own, "" all.
	at string
}

// The phases in which a pull request is open, and those in which no run ends at once.
const (
	open  = "at work, waiting for CI, draft, ready, completed, paused, paused and waiting"
	works = "at work, waiting for CI, draft"
)

func happenings() []happening {
	merges := func(squash, deleted bool) func(h *hub) {
		return func(h *hub) { h.merges("autoloop/p", h.openPull(), squash, deleted) }
	}
	says := func(on func(h *hub) int, text string) func(h *hub) {
		return func(h *hub) { h.site.say("alice", on(h), text) }
	}
	issue := func(*hub) int { return 1 }
	pull := func(h *hub) int { return len(h.site.look().Issues) } // the newest
	checks := func(conclusion, text string) func(h *hub) {
		return func(h *hub) { h.report(conclusion, text) }
	}
	return []happening{
		{"merged", merges(false, false), open},
		{"merged, branch deleted", merges(false, true), open},
		{"squashed", merges(true, false), open},
		{"squashed, branch deleted", merges(true, true), open},
		{"merged elsewhere", func(h *hub) {
			number := h.openPull()
			h.run(h.bare, "git", "branch", "next", "autoloop/p")
			h.Change(func(s *githubtest.State) { s.Pull(number).Base = "next" })
			h.site.merged(number)
		}, open},
		{"closed", func(h *hub) { h.Close(h.openPull()) }, open},
		{
			"closed with a comment", func(h *hub) {
				h.site.say("alice", h.openPull(), "too risky")
				h.Close(h.openPull())
			},
			"draft, waiting for CI",
		},
		{"reopened", func(h *hub) { h.Reopen(pull(h)) }, "closed"},
		{"ready", func(h *hub) { h.ready(true) }, "at work, waiting for CI, draft, paused"},
		{"draft again", func(h *hub) { h.ready(false) }, "ready"},
		{"reviewed", func(h *hub) {
			number := pull(h)
			h.Change(func(s *githubtest.State) { s.Say("alice", number, "smaller steps", time.Now()).Review = true })
		}, "at work, draft, closed"},
		{"comment on lines", func(h *hub) { h.site.review("alice", pull(h), "value.txt", "why") }, "at work, draft"},
		{"comment", says(issue, "smaller steps"), works},
		{
			"better commit pushed", func(h *hub) { h.pushes("autoloop/p", "autoloop/p", "value.txt", "8.5\n") },
			works + ", paused",
		},
		{
			"worse commit pushed", func(h *hub) { h.pushes("autoloop/p", "autoloop/p", "value.txt", "30\n") },
			works + ", paused",
		},
		{
			"force-pushed", func(h *hub) {
				h.run(h.bare, "git", "update-ref", "refs/heads/autoloop/p", "refs/heads/main")
			},
			works + ", paused",
		},
		{
			"branch deleted", func(h *hub) { h.run(h.bare, "git", "update-ref", "-d", "refs/heads/autoloop/p") },
			works + ", paused",
		},
		{"main moved", func(h *hub) { h.pushes("main", "main", "other.txt", "x\n") }, works + ", never run"},
		{"main conflicts", func(h *hub) { h.pushes("main", "main", "value.txt", "12\n") }, works + ", never run"},
		{
			"main has a new workflow",
			func(h *hub) { h.pushes("main", "main", ".github/workflows/new.yml", "on: issues\njobs: {}\n") },
			works + ", never run",
		},
		{"autoloop pause", says(issue, "/autoloop pause a rest"), ""},
		{"autoloop pause on the pull request", says(pull, "/autoloop pause a rest"), "merged, draft"},
		{"autoloop resume", says(issue, "/autoloop resume"), ""},
		{"autoloop resume on the pull request", says(pull, "/autoloop resume"), "closed, paused"},
		{"autoloop undo 1", says(issue, "/autoloop undo 1"), ""},
		{"autoloop run", says(issue, "/autoloop run"), ""},
		{"autoloop note", says(issue, "/autoloop think smaller"), "at work, draft, paused"},
		{"autoloop q: pause", says(issue, "/autoloop q: pause"), "draft"},
		{"Paused in the state", func(h *hub) { h.editsState("| Paused | false |", "| Paused | true |") }, works},
		{"goal edited", func(h *hub) { h.edits("Move the number.", "Move it well.") }, "draft, completed"},
		{"evaluation edited", func(h *hub) { h.edits(`"$(cat value.txt)"`, `"$(cat ./value.txt)"`) }, works},
		{"program broken", func(h *hub) { h.edits("## Evaluation", "## Nothing") }, works},
		{"label removed", func(h *hub) { h.Change(func(s *githubtest.State) { s.Issue(1).Labels = nil }) }, works},
		{"issue closed", func(h *hub) { h.Change(func(s *githubtest.State) { s.Issue(1).Open = false }) }, works},
		{"check green", checks("success", ""), "waiting for CI, paused and waiting"},
		{"check red", checks("failure", "error: expected 3, got 4"), "waiting for CI, paused and waiting"},
		{"check cancelled", checks("cancelled", ""), "waiting for CI, paused and waiting"},
		{"check that runs", checks("", ""), "waiting for CI, paused and waiting"},
	}
}

// editsState changes the state file as a person does on the memory branch.
func (h *hub) editsState(before, after string) {
	h.t.Helper()
	text := h.remembered("p.md") + "\n"
	require.Contains(h.t, text, before)
	h.pushes("memory/autoloop", "memory/autoloop", "p.md", strings.Replace(text, before, after, 1))
}

var (
	commitID = regexp.MustCompile(`\b[0-9a-f]{12,40}\b`)
	duration = regexp.MustCompile(`\b\d+(\.\d+)?(ms|s)\b`)
	cure     = regexp.MustCompile("; go on with `/autoloop resume` or `iterate resume p`(, or give --force)?")
	heard    = regexp.MustCompile(`(?m)^alice, \S+:\n(.*)$`)
)

// runs runs one iteration and says in few words what it came to.
func (h *hub) runs() string {
	h.t.Helper()
	a := h.binary("iterate", "--program", "p", "--json")
	list := []iteration{}
	if a.stdout != "" {
		list = h.decode(a.stdout)
	}
	if len(list) == 0 {
		return clean(fmt.Sprintf("exit %d: %s", a.code, a.stderr))
	}
	got := list[0]
	words := fmt.Sprintf("%d %s", got.Iteration, got.Outcome)
	if got.Stopped != "" {
		words += "; stopped: " + got.Stopped
	}
	if got.Outcome == "busy" || got.Outcome == "error" || got.Outcome == "idle" && got.Stopped == "" {
		words += "; " + strings.Join(got.Reasons, ", ")
	}
	for _, warning := range got.Warnings {
		words += "; warns: " + warning
	}
	return clean(words)
}

func clean(text string) string {
	text = duration.ReplaceAllString(commitID.ReplaceAllString(text, "COMMIT"), "TIME")
	text = strings.Join(strings.Fields(cure.ReplaceAllString(text, "")), " ")
	return text[:min(len(text), 220)]
}

// stands is what people see afterwards.
func (h *hub) stands() string {
	h.t.Helper()
	var words []string
	state := h.site.look()
	for _, p := range state.Pulls {
		how := "closed"
		switch open := state.Issue(p.Number).Open; {
		case p.Merged:
			how = "merged"
		case open && p.Draft:
			how = "draft"
		case open:
			how = "ready"
		}
		says := regexp.MustCompile(`\*\*[^*]*→[^*]*\*\*|was merged before CI|CI is (green|pending|red)[^.;,`+
			`\n|]*|Closed before CI`).FindAllString(state.Issue(p.Number).Body, 3)
		words = append(words, fmt.Sprintf("#%d %s (%s)", p.Number, how, strings.Join(says, ", ")))
	}
	if head(h.t, h.bare, "memory/autoloop") != "" {
		doc := h.remembered("p.md")
		for _, row := range []string{"Paused", "Completed"} {
			if strings.Contains(doc, "| "+row+" | true |") {
				words = append(words, strings.ToLower(row))
			}
		}
		if head(h.t, h.bare, "autoloop/p") != "" {
			words = append(words, "value "+h.run(h.bare, "git", "show", "autoloop/p:value.txt"))
		}
		if a := h.binary("iterate", "replay", "p", "--remote", "origin"); a.code != 0 {
			words = append(words, "REPLAY "+clean(a.stdout+a.stderr))
		}
	}
	for n := 1; n <= 4; n++ {
		prompt, _ := os.ReadFile(filepath.Join(h.side, fmt.Sprintf("prompt.%d", n)))
		for _, said := range heard.FindAllSubmatch(prompt, -1) {
			words = append(words, fmt.Sprintf("agent %d is told: %s", n, said[1]))
		}
	}
	for _, answer := range h.answers() {
		words = append(words, "answers: "+clean(answer))
	}
	return strings.Join(words, "; ")
}

// TestLifecycle does what people and CI do where an iteration stands, and holds what two runs
// after it come to, and what people see then.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	all := phases(t)
	place := filepath.Join("testdata", "lifecycle.txt")
	known, _ := os.ReadFile(place)
	want := map[string]string{}
	for cell := range strings.SplitSeq(string(known), "\n\n") {
		name, facts, _ := strings.Cut(strings.TrimSpace(cell), "\n")
		want[name] = facts
	}
	var mu sync.Mutex
	found := map[string]string{}
	var order []string
	t.Run("cells", func(t *testing.T) {
		for _, what := range happenings() {
			for _, at := range all {
				if what.at != "" && !slices.Contains(strings.Split(what.at, ", "), at.name) {
					continue
				}
				name := what.name + " × " + at.name
				order = append(order, name)
				t.Run(name, func(t *testing.T) {
					if at.name != "draft" || what.at != open {
						long.Only(t, long.GitHub)
					}
					t.Parallel()
					facts := at.reached().again(t).cell(what, at)
					mu.Lock()
					found[name] = facts
					mu.Unlock()
					if !*updateCells {
						assert.Equal(t, want[name], facts)
					}
				})
			}
		}
	})
	if *updateCells {
		var text strings.Builder
		for _, name := range order {
			fmt.Fprintf(&text, "%s\n%s\n\n", name, found[name])
		}
		require.NoError(t, os.WriteFile(place, []byte(text.String()), 0o600))
	}
}

func (h *hub) cell(what happening, at phase) string {
	h.t.Helper()
	var runs []string
	run, do := func() { runs = append(runs, h.runs()) }, func() { what.do(h) }
	if at.during {
		h.meanwhile(run, do)
	} else {
		do()
		run()
	}
	run()
	return strings.Join(append(runs, h.stands()), "\n")
}

// ready marks the open pull request ready for review, or a draft again.
func (h *hub) ready(is bool) {
	h.t.Helper()
	number := h.openPull()
	h.Change(func(s *githubtest.State) { s.Pull(number).Draft = !is })
}
