package tests

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
)

// What tests know of how the ledger of program p is written is in this file.

// ledger is all that is recorded, on the remote where there is one, one event a line.
func (w *project) ledger() string {
	w.t.Helper()
	git := func(args ...string) string {
		return w.run(cmp.Or(w.bare, w.dir), append([]string{"git"}, args...)...)
	}
	var out strings.Builder
	for _, name := range strings.Fields(git("ls-tree", "-r", "--name-only", "memory/autoloop", "p.iterations/")) {
		_, events, _ := strings.Cut(git("show", "memory/autoloop:"+name), "\n")
		if events = strings.TrimSpace(strings.TrimSuffix(events, "]}")); events != "" {
			out.WriteString(strings.ReplaceAll(events, ",\n", "\n") + "\n")
		}
	}
	return out.String()
}

// facts are what was recorded of one kind, in order: `started`, `measured`, `proposed`,
// `decided`, `pushed`, `finished`, `checked`, `paused`, `resumed`, `set`, `answered`;
// all for "".
func (w *project) facts(kind string) []map[string]any {
	w.t.Helper()
	var facts []map[string]any
	for line := range strings.Lines(w.ledger()) {
		var fact map[string]any
		require.NoError(w.t, json.Unmarshal([]byte(line), &fact), line)
		if kind == "" || fact["event"] == kind {
			facts = append(facts, fact)
		}
	}
	return facts
}

// count is how often something of a kind was recorded.
func (w *project) count(kind string) int { return len(w.facts(kind)) }

// last is what was recorded of a kind last.
func (w *project) last(kind string) map[string]any {
	w.t.Helper()
	facts := w.facts(kind)
	require.NotEmpty(w.t, facts)
	return facts[len(facts)-1]
}

// told are recorded reasons as people are told them.
func told(t require.TestingT, reasons any) []string {
	text, err := json.Marshal(reasons)
	require.NoError(t, err)
	var list []decision.Reason
	require.NoError(t, json.Unmarshal(text, &list))
	return decision.Texts(list)
}
