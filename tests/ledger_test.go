package tests

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/stretchr/testify/require"
)

// What tests know of how the ledger of program p is written is in this file.

// theLedger names the ledger where files of the memory branch are forged; ledgerFile is
// what lies on the branch.
const (
	theLedger  = "the ledger"
	ledgerFile = "p.iterations"
)

// ledger is all that is recorded, one event a line.
func (w *project) ledger() string {
	w.t.Helper()
	return ledgerOf(func(args ...string) string { return w.git(args...) })
}

// ledger is all that is recorded on the remote, one event a line.
func (s *remoteProject) ledger() string {
	s.t.Helper()
	return ledgerOf(func(args ...string) string { return s.run(s.bare, append([]string{"git"}, args...)...) })
}

func ledgerOf(git func(args ...string) string) string {
	var out strings.Builder
	for _, file := range iterationFiles(git) {
		for _, line := range file.lines {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

type iterationFile struct {
	name  string
	lines []string // one for each event
}

// iterationFiles are the files of the ledger, in order.
func iterationFiles(git func(args ...string) string) []iterationFile {
	var files []iterationFile
	for _, name := range strings.Fields(git("ls-tree", "-r", "--name-only", "memory/autoloop", ledgerFile+"/")) {
		text := git("show", "memory/autoloop:"+name)
		_, text, _ = strings.Cut(text, "\n")
		text = strings.TrimSpace(strings.TrimSuffix(text, "]}"))
		var lines []string
		if text != "" {
			lines = strings.Split(text, ",\n")
		}
		files = append(files, iterationFile{name, lines})
	}
	return files
}

// forgeLedger puts another ledger into the index, whose lines change makes: the events,
// and before those of each file its name. A file that is not named any more is removed.
func (w *project) forgeLedger(change func(lines string) string) {
	w.t.Helper()
	var text strings.Builder
	files := iterationFiles(func(args ...string) string { return w.git(args...) })
	for _, file := range files {
		text.WriteString(file.name + "\n" + strings.Join(append(file.lines, ""), "\n"))
	}
	before := text.String()
	after := change(before)
	require.NotEqual(w.t, before, after, "the forgery changes something")
	forged := map[string][]string{}
	name := ""
	for line := range strings.Lines(after) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, ledgerFile):
			name = line
			forged[name] = []string{}
		case line != "":
			forged[name] = append(forged[name], line)
		}
	}
	for i, file := range files {
		lines, kept := forged[file.name]
		before, after := textOf(i, file.lines), ""
		if kept {
			after = textOf(i, lines)
		}
		if before != after {
			w.stage(file.name, before, after)
		}
		delete(forged, file.name)
	}
	for name, lines := range forged {
		var number int
		_, err := fmt.Sscanf(path.Base(name), "%d.json", &number)
		require.NoError(w.t, err)
		w.stage(name, "", textOf(number, lines))
	}
}

// textOf is the file of an iteration.
func textOf(iteration int, lines []string) string {
	return fmt.Sprintf("{\"schema\":1,\"iteration\":%d,\"events\":[\n%s\n]}\n", iteration, strings.Join(lines, ",\n"))
}

// facts are what was recorded of one kind, in order: `started`, `measured`, `proposed`,
// `decided`, `pushed`, `finished`, `checked`, `paused`, `resumed`, `set`, `answered`;
// all for "".
func (w *project) facts(kind string) []map[string]any {
	w.t.Helper()
	return factsOf(w.t, w.ledger(), kind)
}

func factsOf(t require.TestingT, ledger, kind string) []map[string]any {
	var facts []map[string]any
	for line := range strings.Lines(ledger) {
		var fact map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &fact), line)
		if kind == "" || fact["event"] == kind {
			facts = append(facts, fact)
		}
	}
	return facts
}

// count is how often something of a kind was recorded.
func (w *project) count(kind string) int { return len(w.facts(kind)) }

// count is how often something of a kind was recorded on the remote.
func (s *remoteProject) count(kind string) int {
	s.t.Helper()
	return len(factsOf(s.t, s.ledger(), kind))
}

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
