package memory

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// TestWhatChangedIsWritten: the changes turn the files of before into those of now, and
// have nothing that stays as it is. A file that is empty is there, nil is not.
func TestWhatChangedIsWritten(t *testing.T) {
	t.Parallel()
	contents := [][]byte{nil, {}, []byte("a"), []byte("b")}
	all := func(yield func(Files) bool) {
		for i := range 64 {
			if !yield(Files{State: contents[i%4], Results: contents[i/4%4], Ledger: contents[i/16]}) {
				return
			}
		}
	}
	onBranch := func(f Files) map[string]string {
		there := map[string]string{}
		for name, data := range map[string][]byte{"p.md": f.State, "p.results.tsv": f.Results, "p.jsonl": f.Ledger} {
			if data != nil {
				there[name] = string(data)
			}
		}
		return there
	}
	for before := range all {
		for now := range all {
			there, want := onBranch(before), onBranch(now)
			for name, file := range changed("p", before, now) {
				was, had := there[name]
				if file == nil {
					require.True(t, had, "%s is removed where it is", name)
					delete(there, name)
					continue
				}
				require.True(t, !had || was != string(file.Data), "%s is written when it differs", name)
				there[name] = string(file.Data)
			}
			require.Equal(t, want, there)
		}
	}
}

// TestABranchHasToBeWhereItWas: Old is held against where the branch counts as being, but
// where the caller does not care, and where our own push moved it and got no further.
func TestABranchHasToBeWhereItWas(t *testing.T) {
	t.Parallel()
	const a, b, c = "aaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccc"
	for name, test := range map[string]struct {
		old, next, at string
		doubtful      bool
		says          string
	}{
		"where it was":                  {old: a, next: b, at: a},
		"new":                           {next: b},
		"anywhere":                      {old: git.Any, next: b, at: c},
		"anywhere, and new":             {old: git.Any, next: b},
		"moved":                         {old: a, next: b, at: c, says: "autoloop/x is at cccccccccccc, expected was aaaaaaaaaaaa"},
		"made by others":                {next: b, at: c, says: "autoloop/x is at cccccccccccc, expected was no commit"},
		"removed":                       {old: a, next: b, says: "autoloop/x is at no commit, expected was aaaaaaaaaaaa"},
		"where it was to go":            {old: a, next: b, at: b, says: "autoloop/x is at bbbbbbbbbbbb, expected was aaaaaaaaaaaa"},
		"where our push moved it":       {old: a, next: b, at: b, doubtful: true},
		"removed by our push":           {old: a, doubtful: true},
		"elsewhere, and our push broke": {old: a, next: b, at: c, doubtful: true, says: "autoloop/x is at cccccccccccc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &writing{Update: Update{Branch: &git.RefUpdate{Ref: "refs/heads/autoloop/x", Old: test.old, New: test.next}}}
			if test.doubtful {
				w.doubtful = []string{"dddddddddddddddddddd"}
			}
			err := w.checkBranch([]stand{{ref: memoryRef}, {ref: "refs/heads/autoloop/x", head: test.at}})
			if test.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrBranchMoved)
			assert.ErrorContains(t, err, test.says)
		})
	}
	require.NoError(t, (&writing{}).checkBranch([]stand{{ref: memoryRef}}), "no branch")
}

// TestTheBranchOfAPushThatBrokeIsMovedLater: when the records of an earlier attempt got
// through and the branch stayed as it was when that began.
func TestTheBranchOfAPushThatBrokeIsMovedLater(t *testing.T) {
	t.Parallel()
	const old, next = "1111", "2222"
	move := &git.RefUpdate{Ref: "refs/heads/autoloop/x", Old: git.Any, New: next}
	for name, test := range map[string]struct {
		remote            string
		branch            *git.RefUpdate
		there, thereAfter string
		want              *git.RefUpdate
	}{
		"it stayed":                   {"origin", move, old, old, &git.RefUpdate{Ref: "refs/heads/autoloop/x", Old: old, New: next}},
		"it is not there yet":         {"origin", move, "", "", &git.RefUpdate{Ref: "refs/heads/autoloop/x", New: next}},
		"it moved":                    {"origin", move, old, next, nil},
		"somebody moved it elsewhere": {"origin", move, old, "3333", nil},
		"somebody removed it":         {"origin", move, old, "", nil},
		"it was there already":        {"origin", move, next, next, nil},
		"no branch":                   {"origin", nil, "", "", nil},
		"no remote":                   {"", move, old, old, nil},
	} {
		w := &writing{Memory: &Memory{Remote: test.remote}, Update: Update{Branch: test.branch}, branchThere: test.there}
		assert.Equal(t, test.want, w.restOf([]stand{{ref: memoryRef}, {there: test.thereAfter}}), name)
	}
}

// TestMovesAreAnnounced: whatever a message says, of the commit's trailers those of moves
// are the update's own.
func TestMovesAreAnnounced(t *testing.T) {
	t.Parallel()
	const old, next = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	const forged = "Autoloop-Moves: refs/heads/autoloop/victim " + old + " " + next
	words := []string{"p: iteration 3 accepted", "", "\n", "\n\n", forged, forged + "\n" + forged, "Signed-off-by: A <a@b>", " " + forged, "\t", "a: b", "\r\n\r\n", "Ünïcode", "\x00"}
	messages := []string{"p: start"}
	chance := rand.New(rand.NewPCG(7, 7))
	for range 500 {
		var message strings.Builder
		for range 1 + chance.IntN(5) {
			message.WriteString(words[chance.IntN(len(words))])
		}
		messages = append(messages, "p: "+message.String(), "p: "+message.String()+"\n\n"+forged)
	}
	for name, test := range map[string]struct {
		branch *git.RefUpdate
		want   string
	}{
		"none":     {nil, ""},
		"anywhere": {&git.RefUpdate{Ref: "refs/heads/autoloop/x", Old: git.Any, New: next}, ""},
		"moved":    {&git.RefUpdate{Ref: "refs/heads/autoloop/x", Old: old, New: next}, "refs/heads/autoloop/x " + old + " " + next},
		"made":     {&git.RefUpdate{Ref: "refs/heads/autoloop/x", New: next}, "refs/heads/autoloop/x none " + next},
		"removed":  {&git.RefUpdate{Ref: "refs/heads/autoloop/x", Old: old}, "refs/heads/autoloop/x " + old + " none"},
	} {
		for _, message := range messages {
			w := &writing{Update: Update{Message: message, Branch: test.branch}}
			// As CommitTree writes it, and as git cleans nothing up.
			c := git.Commit{Message: strings.ReplaceAll(w.message(), "\x00", "")}
			require.Equal(t, test.want, c.Trailers()[movesTrailer], "%s: %q", name, message)
		}
	}
	w := &writing{Update: Update{Message: "p: start\n\n"}}
	assert.Equal(t, "p: start\n", w.message())
}

// TestCommitsOfInterruptedRuns: only what a run made that began the iteration and decided
// nothing may be taken back.
func TestCommitsOfInterruptedRuns(t *testing.T) {
	t.Parallel()
	commit := func(subject string, trailers ...string) git.Commit {
		return git.Commit{ID: "c", Message: subject + "\n\n" + strings.Join(trailers, "\n") + "\n"}
	}
	of := func(run string, iteration int) history.Head { return history.Head{Run: run, Iteration: iteration} }
	started := func(run string, iteration int) history.Event { return &history.Started{Head: of(run, iteration)} }
	own := commit("[Autoloop: p] Iteration 3: faster", "Autoloop-Iteration: 3", "Autoloop-Metric: 7", "Autoloop-Run: r")
	begun := []history.Event{started("r", 3)}
	for name, test := range map[string]struct {
		commit git.Commit
		events []history.Event
		want   bool
	}{
		"begun and not decided":              {own, begun, true},
		"begun twice":                        {own, []history.Event{started("r", 3), started("r", 3)}, true},
		"given up":                           {own, append(begun, &history.Finished{Head: of("r", 3)}), true},
		"measured":                           {own, append(begun, &history.Measured{Head: of("r", 3), Role: history.Candidate}), true},
		"others decided meanwhile":           {own, append(begun, &history.Decided{Head: of("other", 3), Commit: "d"}), true},
		"an earlier decision of others":      {own, append([]history.Event{&history.Decided{Head: of("other", 2)}}, begun...), true},
		"decided":                            {own, append(begun, &history.Decided{Head: of("r", 3)}), false},
		"decided before it began anew":       {own, append([]history.Event{&history.Decided{Head: of("r", 3)}}, begun...), false},
		"decided as another iteration":       {own, append(begun, &history.Decided{Head: of("r", 4)}), false},
		"never begun":                        {own, nil, false},
		"begun by others":                    {own, []history.Event{started("other", 3)}, false},
		"another iteration":                  {own, []history.Event{started("r", 2), started("r", 4)}, false},
		"a decision of others names it":      {own, append(begun, &history.Decided{Head: of("other", 3), Commit: "c"}), false},
		"a baseline was measured of it":      {own, append(begun, &history.Measured{Head: of("other", 3), Role: history.Baseline, Commit: "c"}), false},
		"a pull request ended with it":       {own, append(begun, &history.Set{Head: of("other", 3), Key: history.PullEnded, Commit: "c"}), false},
		"it was pushed":                      {own, append(begun, &history.Pushed{Head: of("other", 3), Commit: "c"}), false},
		"CI turned it down":                  {own, append(begun, &history.Checked{Head: of("other", 3), Commit: "c"}), false},
		"of another program":                 {commit("[Autoloop: pq] Iteration 3: x", "Autoloop-Iteration: 3", "Autoloop-Run: r"), begun, false},
		"of a longer name":                   {commit("[Autoloop: p]q Iteration 3: x", "Autoloop-Iteration: 3", "Autoloop-Run: r"), begun, false},
		"a person's":                         {commit("Make it faster", "Autoloop-Iteration: 3", "Autoloop-Run: r"), begun, false},
		"a quotation":                        {commit("Revert \"[Autoloop: p] Iteration 3: x\"", "Autoloop-Iteration: 3", "Autoloop-Run: r"), begun, false},
		"without trailers":                   {git.Commit{ID: "c", Message: "[Autoloop: p] Iteration 3: x\n"}, []history.Event{started("", 3), started("", 0)}, false},
		"without a run":                      {commit("[Autoloop: p] Iteration 3: x", "Autoloop-Iteration: 3"), begun, false},
		"without an iteration":               {commit("[Autoloop: p] Iteration 3: x", "Autoloop-Run: r"), begun, false},
		"a number that is written otherwise": {commit("[Autoloop: p] Iteration 3: x", "Autoloop-Iteration: 03", "Autoloop-Run: r"), begun, false},
		"trailers in the middle":             {git.Commit{ID: "c", Message: "[Autoloop: p] Iteration 3: x\n\nAutoloop-Iteration: 3\nAutoloop-Run: r\n\nAnd more.\n"}, begun, false},
	} {
		assert.Equal(t, test.want, ofInterruptedRun(test.commit, "p", test.events), name)
	}
}

// TestNamesOfSegments: a name is that of one kind of file and of one number from 1, or of
// none.
func TestNamesOfSegments(t *testing.T) {
	t.Parallel()
	forms := []string{segmentForm, condensedForm, numbersForm}
	kinds := func(name string) (found []string, number int) {
		for _, form := range forms {
			n := 0
			if scans(name, form, &n) {
				found, number = append(found, form), n
			}
		}
		return found, number
	}
	for _, form := range forms {
		for _, n := range []int{1, 2, 9, 10, 999_999, 1_000_000, 123_456_789} {
			found, number := kinds(fmt.Sprintf(form, n))
			require.Equal(t, []string{form}, found, n)
			require.Equal(t, n, number)
		}
	}
	for _, name := range []string{
		"", ".jsonl", "000000.jsonl", "-00001.jsonl", "+00001.jsonl", "1.jsonl", "0000001.jsonl", "00001.jsonl", " 00001.jsonl", "000001 .jsonl", "0x0001.jsonl",
		"000001", "000001.json", "000001.jsonl.bak", "000001.JSONL", "000001.numbers", "000001.short.json", "000001..jsonl", "000001.other.jsonl", "1_0000.jsonl",
		"9223372036854775808.jsonl", "99999999999999999999.short.jsonl", "٠٠٠٠٠١.jsonl", checkpointFile, archiveFile,
	} {
		found, _ := kinds(name)
		assert.Empty(t, found, "%q", name)
	}
}

// TestEventsAreFoundByTheirLines: as if every line were looked at for each of the texts,
// and no other line has to be readable.
func TestEventsAreFoundByTheirLines(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"schema":2,"event":"segment","time":"head digest-1","segment":2,"lines":9,"before":"x"}`, `{"event":"decided","run_id":"r1","digest":"digest-1"}`,
		`{"event":"note","text":"digest-1 and digest-2"}`, `{"event":"decided","run_id":"r2","digest":"digest-2"}`, `no JSON at all`, `{"event":"decided","run_id":"r3","digest":"digest-11"}`,
	}
	runs := func(texts ...string) (list []string, err error) {
		events, err := having([]byte(strings.Join(lines, "\n")), texts)
		for _, e := range events {
			list = append(list, string(e.Header().Event)+e.Header().Run)
		}
		return list, err
	}
	for _, test := range []struct {
		texts, want []string
	}{
		{nil, nil},
		{[]string{"digest-3"}, nil},
		{[]string{`"digest-1"`}, []string{"decidedr1"}},
		{[]string{"digest-1"}, []string{"decidedr1", "note", "decidedr3"}},
		{[]string{"digest-2"}, []string{"note", "decidedr2"}},
		{[]string{`"digest-2"`, `"digest-1"`}, []string{"decidedr1", "decidedr2"}},
		{[]string{`"event":"decided"`}, []string{"decidedr1", "decidedr2", "decidedr3"}},
		{[]string{"head"}, nil}, // the head of a segment is no event
	} {
		found, err := runs(test.texts...)
		require.NoError(t, err)
		assert.Equal(t, test.want, found, test.texts)
	}
	found, err := runs("JSON")
	require.ErrorContains(t, err, "ledger line 1")
	assert.Empty(t, found)
}

// TestSegmentsAreReadFromTheLast: of as many as it takes, whatever the others are like.
func TestSegmentsAreReadFromTheLast(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, test := range []struct{ count, archived int }{{0, 0}, {1, 0}, {3, 0}, {9, 0}, {9, 4}, {4, 4}, {5, 4}} {
		s := &Sealed{count: test.count}
		if test.archived > 0 {
			s.archive = &history.Archive{Sum: &history.Checkpoint{Chain: history.Chain{Segments: test.archived}}}
		}
		there := test.count - test.archived
		for wanted := 1; wanted <= there+1; wanted++ {
			for _, bad := range []int{0, test.count - wanted, test.count - wanted + 1} { // none, the first that is not needed, the last that is
				asked := map[int]bool{}
				seen := 0
				events, err := s.latest(func([]history.Event) bool { seen++; return seen == wanted }, []string{"run"}, func(number int) ([]byte, error) {
					asked[number] = true
					if number == bad {
						return nil, broken
					}
					return fmt.Appendf(nil, `{"event":"note","run_id":"run","iteration":%d}`+"\n", number), nil
				})
				if bad > test.archived && bad > test.count-wanted {
					require.ErrorIs(t, err, broken)
					require.Empty(t, events)
					continue
				}
				require.NoError(t, err)
				var numbers, want []int
				for _, e := range events {
					numbers = append(numbers, e.Header().Iteration)
				}
				for number := max(test.count-wanted, test.archived) + 1; number <= test.count; number++ {
					want = append(want, number)
				}
				require.Equal(t, want, numbers, "the last %d of %d after %d", wanted, test.count, test.archived)
				for number := range maps.Keys(asked) {
					require.Greater(t, number, test.archived, "what is archived is not there")
				}
			}
		}
	}
}

// TestWhatAProgramMayBeCalled: a name is the beginning of a file's at the root of the
// branch.
func TestWhatAProgramMayBeCalled(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"p", "a.b", "p.results", "ü", "a b", "-x", "x.."} {
		require.NoError(t, checkName(name), name)
	}
	for _, name := range []string{"", ".", "..", ".p", "a/b", "/", "a\\b", "a\x00b", "a\nb"} {
		assert.ErrorContains(t, checkName(name), "is no name of a program", "%q", name)
	}
}

// TestWhatABranchMayNotBeBelow: a branch cannot be where the directories of another are.
func TestWhatABranchMayNotBeBelow(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string][]string{
		memoryRef:                  {"refs/heads/memory"},
		"refs/heads/autoloop/a":    {"refs/heads/autoloop"},
		"refs/heads/autoloop/a/b":  {"refs/heads/autoloop/a", "refs/heads/autoloop"},
		"refs/heads/x":             nil,
		"refs/remotes/origin/a/b":  nil,
		"refs/heads/autoloop//a/b": {"refs/heads/autoloop/a", "refs/heads/autoloop"},
	} {
		got := obstacles(ref)
		assert.Equal(t, want, got, ref)
		values := map[string]string{ref: "1", ref + "/deeper": "1", "refs/heads/memories": "1", "refs/heads": "1"}
		require.NoError(t, obstructed(ref, values, ""))
		for _, above := range got {
			var blocked *git.BlockedError
			require.ErrorAs(t, obstructed(ref, map[string]string{above: "1"}, "origin"), &blocked)
			assert.Equal(t, git.BlockedError{Ref: ref, By: above, Remote: "origin"}, *blocked)
		}
	}
}

// TestOnlyFilesOfSomeSizeAreRead: what is no file, or too large to be read, is named with
// what to do about it.
func TestOnlyFilesOfSomeSizeAreRead(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{git.ModeFile, git.ModeExecutable} {
		require.NoError(t, checkEntry(git.Sized{TreeEntry: git.TreeEntry{Mode: mode, Path: "p.md"}, Size: MaxFile}))
		err := checkEntry(git.Sized{TreeEntry: git.TreeEntry{Mode: mode, Path: "p.md"}, Size: MaxFile + 1})
		require.EqualError(t, err, "p.md on branch memory/autoloop has 67108865 bytes, more than 67108864; shorten it there")
	}
	for _, mode := range []string{git.ModeSymlink, git.ModeSubmodule, git.ModeDirectory, "100664", ""} {
		err := checkEntry(git.Sized{TreeEntry: git.TreeEntry{Mode: mode, Path: "p.jsonl"}, Size: 1})
		require.EqualError(t, err, "p.jsonl on branch memory/autoloop is no regular file (mode "+mode+"); remove it there")
	}
}

// TestFilesWithoutSegments: a ledger in one file starts from nothing and has no archive.
func TestFilesWithoutSegments(t *testing.T) {
	t.Parallel()
	line := []byte(`{"schema":1,"event":"decided","time":"2026-01-01T00:00:00Z","run_id":"r","iteration":1,"outcome":"rejected"}` + "\n")
	for name, ledger := range map[string][]byte{"no ledger": nil, "an empty one": {}, "one line": line, "two lines": bytes.Repeat(line, 2)} {
		f := Files{Ledger: ledger}
		start := f.Start()
		assert.Zero(t, start.Decided(), name)
		assert.NotNil(t, start.Settings, name)
		assert.Nil(t, f.Archive(), name)
		log, err := f.Log()
		require.NoError(t, err)
		short, err := f.Short(t.Context())
		require.NoError(t, err)
		assert.Equal(t, log.Events, short, name)
		require.NoError(t, f.Segments(t.Context(), func(events []history.Event) error {
			assert.Equal(t, log.Events, events, name)
			return nil
		}))
		assert.Len(t, short, bytes.Count(ledger, []byte("\n")), name)
		assert.Equal(t, string(ledger), string(log.Bytes()), name)
	}
	broken := Files{Ledger: append(bytes.Clone(line), "{\n"...)}
	_, err := broken.Short(t.Context())
	require.ErrorContains(t, err, "ledger line 2")
	require.ErrorContains(t, broken.Segments(t.Context(), func([]history.Event) error { return nil }), "ledger line 2")
	stop := errors.New("enough")
	require.ErrorIs(t, Files{Ledger: line}.Segments(t.Context(), func([]history.Event) error { return stop }), stop)
}
