package memory_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
)

func (c *checkout) auditOf(name string, archives ...string) (audit.Records, audit.Report, error) {
	c.t.Helper()
	a := audit.New(decision.Known(), nil)
	records, err := c.Records(c.t.Context(), a, name, "autoloop/"+name, nil, archives...)
	return records, a.Report(records), err
}

// TestWhatIsWrongWithSegmentsIsFound: and those after a wrong one are looked at too.
func TestWhatIsWrongWithSegmentsIsFound(t *testing.T) {
	t.Parallel()
	l := lived(t)
	one, two, three, open := string(l.segments[0]), string(l.segments[1]), string(l.segments[2]), string(l.open)
	sum, err := l.sum.Encode()
	require.NoError(t, err)
	short, err := history.Condense(l.segments[1])
	require.NoError(t, err)
	bare := string(history.Forgettable(l.segments[0], l.segments[1]))
	const after, counted, countedAfter = "it goes on after a segment with the digest", "segment 4, line 1: it says that 12 lines come before it, and there are 8", "segment 3, line 1: it says that 8 lines come before it, and there are 4"
	accepted := func(text string) string {
		return strings.Replace(text, `"outcome":"rejected"`, `"outcome":"accepted"`, 1)
	}
	cases := map[string]struct {
		changes   map[string]string
		broken    []string
		decisions int
	}{
		"honest":           {nil, nil, 12},
		"bare":             {map[string]string{"000001.jsonl": "", "000001.numbers.jsonl": bare}, nil, 12},
		"without-short":    {map[string]string{"000001.short.jsonl": "", "000003.short.jsonl": ""}, nil, 12},
		"no-checkpoint":    {map[string]string{"checkpoint.json": ""}, nil, 12},
		"old-checkpoint":   {map[string]string{"checkpoint.json": strings.Replace(string(sum), `"version":6`, `"version":1`, 1)}, nil, 12},
		"forged":           {map[string]string{"000002.jsonl": accepted(two)}, []string{"000002.short.jsonl: it is not what segment 2 gives", "segment 3, line 1: " + after}, 12},
		"bare-forged":      {map[string]string{"000001.jsonl": "", "000001.numbers.jsonl": accepted(bare)}, []string{"000001.short.jsonl: it is not what segment 1 gives", "segment 2, line 1: " + after}, 12},
		"bare-invented":    {map[string]string{"000001.jsonl": "", "000001.numbers.jsonl": strings.Replace(bare, `"forgotten":{"output":160}`, `"output":"invented"`, 1)}, []string{"segment 2, line 1: " + after}, 12},
		"reordered":        {map[string]string{"000002.jsonl": three, "000003.jsonl": two}, []string{"segment 2, line 1: it says that it is segment 3", "000002.short.jsonl: it is not what segment 2 gives", "segment 3, line 1: it says that it is segment 2", "000003.short.jsonl: it is not what segment 3 gives", "segment 4, line 1: " + after}, 12},
		"missing":          {map[string]string{"000002.jsonl": ""}, []string{"segment 2: it is not there", "segment 3, line 1: " + after, counted}, 11},
		"the-first":        {map[string]string{"000001.jsonl": ""}, []string{"segment 1: it is not there", "segment 2, line 1: " + after, countedAfter, counted}, 11},
		"the-last":         {map[string]string{"000003.jsonl": ""}, []string{"segment 3: it is not there", "segment 4, line 1: " + after}, 11},
		"all":              {map[string]string{"000001.jsonl": "", "000002.jsonl": "", "000003.jsonl": ""}, []string{"segment 1: it is not there", "segment 2: it is not there", "segment 3: it is not there", "segment 4, line 1: " + after}, 9},
		"doubled":          {map[string]string{"000003.jsonl": two, "000003.short.jsonl": string(short)}, []string{"segment 3, line 1: it says that it is segment 2", "segment 4, line 1: " + after}, 12},
		"cut-off":          {map[string]string{"000001.jsonl": one[:len(one)-1]}, []string{"segment 2, line 1: " + after, "and there are 7", "and there are 11"}, 12},
		"no-JSON":          {map[string]string{"000002.jsonl": two + "{\n"}, []string{"segment 2: ledger line 6", "000002.short.jsonl: it is not what segment 2 gives", "segment 3, line 1: " + after, "and there are 13"}, 11},
		"a-line-more":      {map[string]string{"": strings.Replace(open, `"lines":12`, `"lines":13`, 1)}, []string{"segment 4, line 1: it says that 13 lines come before it, and there are 12"}, 12},
		"checkpoint":       {map[string]string{"checkpoint.json": strings.Replace(string(sum), `"Iteration":3`, `"Iteration":4`, 1)}, []string{"checkpoint.json is not what the segments add up to"}, 12},
		"short":            {map[string]string{"000001.short.jsonl": string(short)}, []string{"000001.short.jsonl: it is not what segment 1 gives"}, 12},
		"short-link":       {map[string]string{"000001.short.jsonl": "-> 000002.short.jsonl"}, nil, 12},
		"open":             {map[string]string{"": strings.Replace(open, `"before":"`, `"before":"0`, 1)}, []string{"segment 4, line 1: " + after}, 12},
		"an-archive-named": {map[string]string{"": open + `{"schema":1,"event":"set","time":"2026-02-01T00:00:00Z","run_id":"","iteration":12,"key":"archived","value":"0123456789abcdef"}` + "\n"}, []string{"archive.json has the digest none, and the ledger says 0123456789ab"}, 12},
		"archived":         {l.archived(t, 2), nil, 10},
		"all-archived":     {l.archived(t, 3), nil, 9},
		"archived-unsaid":  {merged(l.archived(t, 1), map[string]string{"": open}), []string{"and the ledger says none"}, 11},
		"archive-is-gone":  {merged(l.archived(t, 1), map[string]string{"archive.json": ""}), []string{"segment 1: it is not there", "segment 2, line 1: " + after, countedAfter, counted, "archive.json has the digest none"}, 11},
		"archived-more":    {merged(l.archived(t, 1), map[string]string{"archive.json": l.archived(t, 2)["archive.json"]}), []string{"archive.json has the digest"}, 10},
		"archived-less":    {merged(l.archived(t, 2), map[string]string{"archive.json": l.archived(t, 1)["archive.json"]}), []string{"segment 2: it is not there", "segment 3, line 1: " + after, counted, "archive.json has the digest"}, 10},
	}
	c := newCheckout(t)
	var before, now []map[string]string
	for name, test := range cases {
		before = append(before, l.files(t, name))
		now = append(now, l.with(t, name, test.changes))
	}
	c.begin(before...)
	honest := c.has(memoryRef)
	c.begin(now...)
	c.user("update-ref", memoryRef, c.user("commit-tree", "-m", "now", "-p", honest, memoryRef+"^{tree}"))
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, report, err := c.auditOf(name)
			require.NoError(t, err)
			require.Len(t, records.Broken, len(test.broken), records.Broken)
			for i, says := range test.broken {
				assert.Contains(t, records.Broken[i], says)
				assert.True(t, strings.HasPrefix(records.Broken[i], name+".ledger: "), "it is said whose: %s", records.Broken[i])
			}
			assert.Equal(t, test.decisions, report.Decisions)
		})
	}
}

// TestRecordsThatCannotBeAudited are errors, which name the file.
func TestRecordsThatCannotBeAudited(t *testing.T) {
	t.Parallel()
	l := lived(t)
	newer := strings.Replace(string(l.segments[1]), `"schema":2`, `"schema":99`, 1)
	archive := l.archived(t, 1)
	cases := map[string]struct {
		changes map[string]string
		says    string
	}{
		"newer":       {map[string]string{"000002.jsonl": newer}, "read newer.jsonl on the memory branch: segment 2: ledger line 1: it has schema 99"},
		"open":        {map[string]string{"": string(l.open) + "{\n"}, "read open.jsonl on the memory branch: ledger line"},
		"archive":     {merged(archive, map[string]string{"archive.json": "{}"}), "archive.ledger/archive.json: read the archive"},
		"new-archive": {merged(archive, map[string]string{"archive.json": strings.Replace(archive["archive.json"], `"version":6`, `"version":99`, 1)}), "it has version 99, and this version of Autoloop knows 6"},
	}
	c := newCheckout(t)
	all := []map[string]string{
		{"table.md": l.files(t, "table")["table.md"], "table.results.tsv": "no\ttable\n"},
		{"state.md": "# mine\n", "state.jsonl": ""},
		{"ledger.md": l.files(t, "ledger")["ledger.md"], "ledger.jsonl": "{\n"},
		{"alone.jsonl": ""},
		{"fresh.md": l.files(t, "fresh")["fresh.md"]},
	}
	for name, test := range cases {
		all = append(all, l.with(t, name, test.changes))
	}
	c.begin(all...)
	says := map[string]string{
		"gone": "it has no records yet", "table": "read table.results.tsv on the memory branch: ", "state": "read state.md on the memory branch: ",
		"ledger": "read ledger.jsonl on the memory branch: ledger line 1", "alone": "read alone.md on the memory branch: ", "a/b": "is no name of a program",
	}
	for name, test := range cases {
		says[name] = test.says
	}
	for name, says := range says {
		records, _, err := c.auditOf(name)
		require.ErrorContains(t, err, says, name)
		assert.Empty(t, records.Broken, name)
	}
	_, _, err := c.auditOf("gone")
	require.ErrorIs(t, err, memory.ErrNoRecords)
	records, report, err := c.auditOf("fresh")
	require.NoError(t, err, "a state without a ledger")
	assert.Empty(t, records.Broken)
	assert.Empty(t, report.Findings)
}

// TestArchivesAreComputedAgain: from the segments that the branch had before each of them,
// as far as it has them.
func TestArchivesAreComputedAgain(t *testing.T) {
	t.Parallel()
	l := lived(t)
	honest := l.archived(t, 1)
	forge := func(n int) map[string]string {
		changes := l.archived(t, n)
		text := changes["archive.json"]
		changes["archive.json"] = strings.Replace(text, `"Iteration":`, `"Iteration":7`, 1)
		require.NotEqual(t, text, changes["archive.json"])
		changes[""] = strings.Replace(changes[""], history.Digest([]byte(text)), history.Digest([]byte(changes["archive.json"])), 1)
		return changes
	}
	gone := func(name string) map[string]*git.File {
		files := map[string]*git.File{}
		for file := range l.files(t, name) {
			files[file] = nil
		}
		files[name+".ledger/archive.json"] = nil
		return files
	}
	const wrong = "is not what the segments before it add up to"
	cases := map[string]struct {
		steps []map[string]string // nil is that all of it is removed
		says  string
	}{
		"honest":         {[]map[string]string{{}, honest, l.archived(t, 2)}, ""},
		"at-once":        {[]map[string]string{{}, {}, l.archived(t, 3)}, ""},
		"forged":         {[]map[string]string{{}, {}, forge(1)}, wrong},
		"forged-later":   {[]map[string]string{{}, honest, forge(2)}, wrong},
		"forged-first":   {[]map[string]string{{}, forge(1), honest}, wrong},
		"out-of-nothing": {[]map[string]string{nil, nil, honest}, wrong},
		"from-a-gap":     {[]map[string]string{{}, {"000001.jsonl": ""}, honest}, wrong},
		"from-a-forgery": {[]map[string]string{{}, {"000001.jsonl": string(l.segments[1])}, honest}, wrong},
		"removed":        {[]map[string]string{forge(1), nil, {}}, ""},
		"the-oldest":     {[]map[string]string{honest, honest, honest}, ""},
		"no-JSON-before": {[]map[string]string{{}, merged(honest, map[string]string{"archive.json": "{"}), honest}, "what was before it cannot be read: "},
	}
	c := newCheckout(t)
	var parents []string
	for step := range 3 {
		files := map[string]*git.File{}
		for name, test := range cases {
			for file := range gone(name) {
				if len(parents) > 0 {
					files[file] = nil
				}
			}
			if test.steps[step] == nil {
				continue
			}
			for file, text := range l.with(t, name, test.steps[step]) {
				files[file] = &git.File{Data: []byte(text)}
			}
		}
		parents = []string{c.atop(files, parents...)}
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, _, err := c.auditOf(name)
			require.NoError(t, err)
			said := strings.Join(records.Broken, "\n")
			if test.says == "" {
				assert.Empty(t, said)
				return
			}
			assert.Contains(t, said, test.says)
		})
	}
}

// TestHistoriesThatAreRewrittenAreFound: a ledger only ever grows, also where it is sealed
// meanwhile, and a program that was removed whole begins anew.
func TestHistoriesThatAreRewrittenAreFound(t *testing.T) {
	t.Parallel()
	l := lived(t)
	note := func(n int) string {
		return fmt.Sprintf(`{"schema":1,"event":"note","time":"2026-01-01T00:00:00Z","run_id":"r","iteration":%d}`+"\n", n)
	}
	ledger := func(numbers ...int) map[string]string {
		var text strings.Builder
		for _, n := range numbers {
			text.WriteString(note(n))
		}
		return map[string]string{".md": "x", ".jsonl": text.String()}
	}
	whole := string(l.segments[0])
	for _, segment := range l.segments[1:] {
		whole += string(history.Body(segment))
	}
	whole += string(history.Body(l.open))
	asOne := map[string]string{".md": "x", ".jsonl": whole}
	sealed := func(changes map[string]string) map[string]string {
		files := map[string]string{}
		for file, text := range l.with(t, "", changes) {
			files[file] = text
		}
		return files
	}
	head, _, _ := strings.Cut(string(l.open), "\n")
	first := strings.Replace(head, `"segment":4`, `"segment":1`, 1) + "\n"
	const changes, removes = "changes or removes lines of the ledger that were there before", "removes the ledger, and leaves the state"
	cases := map[string]struct {
		steps []map[string]string
		says  map[int][]string // by step
	}{
		"grows":              {[]map[string]string{ledger(1), ledger(1, 2), ledger(1, 2, 3)}, nil},
		"stays":              {[]map[string]string{ledger(1), ledger(1), ledger(1)}, nil},
		"begins-later":       {[]map[string]string{nil, {".md": "x"}, ledger(1)}, nil},
		"without-an-end":     {[]map[string]string{{".md": "x", ".jsonl": strings.TrimSuffix(note(1), "\n")}, ledger(1, 2), ledger(1, 2)}, nil},
		"changed":            {[]map[string]string{ledger(1, 2), ledger(1, 3), ledger(1, 3, 4)}, map[int][]string{1: {changes}}},
		"changed-twice":      {[]map[string]string{ledger(1), ledger(2), ledger(3)}, map[int][]string{1: {changes}, 2: {changes}}},
		"put-back":           {[]map[string]string{ledger(1, 2), ledger(1, 3), ledger(1, 2)}, map[int][]string{1: {changes}, 2: {changes}}},
		"put-before":         {[]map[string]string{ledger(1), ledger(1), ledger(2, 1)}, map[int][]string{2: {changes}}},
		"shortened":          {[]map[string]string{ledger(1, 2), ledger(1, 2), ledger(1)}, map[int][]string{2: {changes}}},
		"emptied":            {[]map[string]string{ledger(1), ledger(), ledger(1)}, map[int][]string{1: {changes}}},
		"removed":            {[]map[string]string{ledger(1), {".md": "x"}, ledger(2)}, map[int][]string{1: {changes, removes}}},
		"begun-anew":         {[]map[string]string{ledger(1), nil, ledger(2)}, nil},
		"forged-before":      {[]map[string]string{ledger(1), ledger(2), nil}, nil},
		"sealed":             {[]map[string]string{asOne, sealed(nil), sealed(map[string]string{"": string(l.open) + note(13)})}, nil},
		"grown-and-sealed":   {[]map[string]string{{".md": "x", ".jsonl": whole[:strings.Index(whole, "\n")+1]}, sealed(nil), sealed(nil)}, nil},
		"sealed-and-grown":   {[]map[string]string{ledger(), asOne, sealed(map[string]string{"": string(l.open) + note(13)})}, nil},
		"sealed-as-another":  {[]map[string]string{asOne, sealed(map[string]string{"000001.jsonl": strings.Replace(string(l.segments[0]), "rejected", "accepted", 1)}), nil}, nil},
		"forged-in-sealing":  {[]map[string]string{asOne, asOne, sealed(map[string]string{"000002.jsonl": strings.Replace(string(l.segments[1]), "rejected", "accepted", 1)})}, map[int][]string{2: {changes}}},
		"lost-in-sealing":    {[]map[string]string{asOne, asOne, sealed(map[string]string{"000002.jsonl": ""})}, map[int][]string{2: {changes}}},
		"open-forged":        {[]map[string]string{asOne, asOne, sealed(map[string]string{"": strings.Replace(string(l.open), "rejected", "accepted", 1)})}, map[int][]string{2: {changes}}},
		"sealed-far":         {[]map[string]string{ledger(1), {".md": "x", ".jsonl": strings.Replace(string(l.open), `"segment":4`, `"segment":9000000000000000000`, 1)}, ledger(1)}, map[int][]string{1: {changes}, 2: {changes}}},
		"a-head-put-before":  {[]map[string]string{ledger(1), {".md": "x", ".jsonl": first + note(1) + note(2)}, nil}, nil},
		"a-head-put-on":      {[]map[string]string{ledger(1), ledger(1), {".md": "x", ".jsonl": first + note(1) + note(2)}}, map[int][]string{2: {changes}}},
		"unsealed-and-again": {[]map[string]string{sealed(nil), asOne, sealed(nil)}, map[int][]string{1: {changes}}},
	}
	c := newCheckout(t)
	var commits []string
	for step := range 3 {
		files := map[string]*git.File{}
		for name, test := range cases {
			if len(commits) > 0 {
				for file := range test.steps[step-1] {
					files[name+file] = nil
				}
			}
			for file, text := range test.steps[step] {
				files[name+file] = &git.File{Data: []byte(text)}
			}
			files[name+".tsv"] = &git.File{Data: []byte{byte('0' + step)}} // each commit changes something
		}
		var parents []string
		if len(commits) > 0 {
			parents = commits[len(commits)-1:]
		}
		commits = append(commits, c.atop(files, parents...))
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := memory.Rewritten(c.Memory, t.Context(), commits[2], name)
			require.NoError(t, err)
			var want []string
			for step, commit := range commits {
				for _, says := range test.says[step] {
					want = append(want, fmt.Sprintf("commit %.12s %s", commit, says))
				}
			}
			assert.Equal(t, want, found)
		})
	}
}

// TestALedgerThatWasTakenAwayIsNotBegunAnew: nobody would see that the program had one.
func TestALedgerThatWasTakenAwayIsNotBegunAnew(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	files := func(programs map[string][2]string) map[string]*git.File {
		all := map[string]*git.File{}
		for name, texts := range programs {
			for i, suffix := range []string{".md", ".jsonl"} {
				all[name+suffix] = nil
				if texts[i] != "" {
					all[name+suffix] = &git.File{Data: []byte(texts[i])}
				}
			}
		}
		return all
	}
	had := [2]string{"state\n", "line\n"}
	first := c.atop(files(map[string][2]string{"p": had, "blank": had, "whole": had, "fine": had, "young": {"state\n", ""}, "back": had}))
	second := c.atop(files(map[string][2]string{"p": {"state\n", ""}, "blank": {"state\n", "\n \n"}, "whole": {"", ""}, "back": {"state\n", ""}}), first)
	c.atop(files(map[string][2]string{"back": {"state\n", "line\n"}, "whole": {"state\n", ""}}), second)
	for name, taken := range map[string]bool{"p": true, "blank": true, "whole": false, "fine": false, "young": false, "back": false, "new": false} {
		before := c.has(memoryRef)
		_, err := c.Update(t.Context(), memory.Update{Program: name, Message: name, Apply: adding("more")})
		if !taken {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, "the ledger of "+name+" is gone and its state is not: commit "+second[:12]+" of branch memory/autoloop took it away", name)
		assert.NotContains(t, err.Error(), "\n")
		assert.Equal(t, before, c.has(memoryRef), name)
	}
	assert.Equal(t, []string{"line", "more"}, c.ledger("fine"))
	// The cure that the error names.
	_, err := c.Update(t.Context(), memory.Update{Program: "p", Message: "state too", Apply: func(memory.Files) (memory.Files, error) { return memory.Files{}, nil }})
	require.Error(t, err, "a run does not do it")
	c.atop(files(map[string][2]string{"p": {"", ""}}), c.has(memoryRef))
	c.add("p", "anew")
	assert.Equal(t, []string{"anew"}, c.ledger("p"))
	assert.True(t, bytes.Contains([]byte(c.text("p.md")), []byte("anew")))
}
