package memory_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
)

// life is the ledger of a program, sealed by hand as docs/reference/ledger.md says: its first
// iterations have a segment each, far smaller than those that a run seals.
type life struct {
	events   []history.Event
	segments [][]byte
	open     []byte
	sum      *history.Checkpoint
}

// printed is what an evaluation of such a life printed.
var printed = strings.Repeat("printed\n", 20)

// lived is a life of so many segments, three by default, and nine iterations more.
func lived(t testing.TB, segments ...int) *life {
	t.Helper()
	sealed := cmp.Or(append(segments, 3)[0], 3)
	l := &life{sum: &history.Checkpoint{}}
	head := ""
	for number := 1; number <= sealed+9; number++ {
		value := metric.FromInt(int64(-number))
		is := history.Head{Run: fmt.Sprintf("run-%d", number), Time: time.Date(2026, 1, 1, 0, number, 0, 0, time.UTC), Iteration: number}
		events := []history.Event{
			&history.Started{Head: is, Lease: &history.Lease{Host: "h"}},
			&history.Measured{Head: is, Role: history.Candidate, Metric: &value, Output: printed},
			&history.Decided{Head: is, Outcome: history.Rejected, Metric: &value, Digest: fmt.Sprintf("digest-%d", number)},
			&history.Finished{Head: is, Outcome: history.Rejected},
		}
		l.events = append(l.events, events...)
		log, err := history.Parse(nil)
		require.NoError(t, err)
		require.NoError(t, log.Append(events...))
		if number > sealed {
			l.open = append(l.open, log.Bytes()...)
			continue
		}
		segment := []byte(head + string(log.Bytes()))
		l.segments = append(l.segments, segment)
		l.sum, err = l.sum.Extend(segment)
		require.NoError(t, err)
		head = fmt.Sprintf(`{"schema":2,"event":"segment","time":"sealed","segment":%d,"lines":%d,"before":"%s","numbers":"%s"}`+"\n",
			number+1, 4*number, history.Digest(segment), history.Digest(history.Forget(segment)))
	}
	l.open = append([]byte(head), l.open...)
	return l
}

// files are those of a program with this life.
func (l *life) files(t testing.TB, name string) map[string]string {
	t.Helper()
	sum, err := l.sum.Encode()
	require.NoError(t, err)
	texts := map[string]string{name + ".md": string(state.New(name).Render()), name + ".jsonl": string(l.open), name + ".ledger/checkpoint.json": string(sum)}
	for i, segment := range l.segments {
		short, err := history.Condense(segment)
		require.NoError(t, err)
		texts[fmt.Sprintf("%s.ledger/%06d.jsonl", name, i+1)] = string(segment)
		texts[fmt.Sprintf("%s.ledger/%06d.short.jsonl", name, i+1)] = string(short)
	}
	return texts
}

// with are the files of a program of that life with changes to its ledger's directory, or
// below "" to its open segment; "" removes.
func (l *life) with(t testing.TB, name string, changes map[string]string) map[string]string {
	t.Helper()
	texts := l.files(t, name)
	for file, text := range changes {
		at := name + ".ledger/" + file
		if file == "" {
			at = name + ".jsonl"
		}
		if texts[at] = text; text == "" {
			delete(texts, at)
		}
	}
	return texts
}

// archive is the file that stands for the first segments, in files of one segment each.
func (l *life) archive(t testing.TB, segments int) *history.Archive {
	t.Helper()
	a := &history.Archive{Sum: &history.Checkpoint{}}
	for i, segment := range l.segments[:segments] {
		next, err := a.Sum.Extend(segment)
		require.NoError(t, err)
		last, until := next.Iteration()
		a.Sum = next
		a.Files = append(a.Files, history.ArchiveFile{
			Name: fmt.Sprintf("part-%d.jsonl", i+1), SHA256: history.Digest(segment), Bytes: int64(len(segment)), First: i + 1, Last: i + 1, LastIteration: last, Until: until,
		})
	}
	return a
}

// archived are the changes that archive the first segments.
func (l *life) archived(t testing.TB, segments int) map[string]string {
	t.Helper()
	text, err := l.archive(t, segments).Encode()
	require.NoError(t, err)
	log, err := history.Open(l.sum, l.open)
	require.NoError(t, err)
	require.NoError(t, log.Append(&history.Set{Head: history.Head{Time: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)}, Key: history.Archived, Value: history.Digest(text)}))
	changes := map[string]string{"archive.json": string(text), "": string(log.Bytes())}
	for number := 1; number <= segments; number++ {
		changes[fmt.Sprintf("%06d.jsonl", number)], changes[fmt.Sprintf("%06d.short.jsonl", number)] = "", ""
	}
	return changes
}

// begin makes the memory branch one commit with these files, and returns it.
func (c *checkout) begin(all ...map[string]string) string {
	c.t.Helper()
	files := map[string]*git.File{}
	for _, texts := range all {
		for name, text := range texts {
			mode := git.ModeFile
			target, link := strings.CutPrefix(text, "-> ")
			if link {
				text, mode = target, git.ModeSymlink
			}
			files[name] = &git.File{Mode: mode, Data: []byte(text)}
		}
	}
	return c.atop(files)
}

// atop makes the memory branch a commit of these files, on top of the parents.
func (c *checkout) atop(files map[string]*git.File, parents ...string) string {
	c.t.Helper()
	base := ""
	if len(parents) > 0 {
		base = parents[0]
	}
	tree, err := c.Repo.WriteFiles(c.t.Context(), base, files)
	require.NoError(c.t, err)
	commit, err := c.Repo.CommitTree(c.t.Context(), tree, parents, "by hand\n", c.Now())
	require.NoError(c.t, err)
	require.NoError(c.t, c.Repo.UpdateRefs(c.t.Context(), "by hand", git.RefUpdate{Ref: memoryRef, New: commit, Old: git.Any}))
	return commit
}

// merged are changes one after the other.
func merged(all ...map[string]string) map[string]string {
	whole := map[string]string{}
	for _, one := range all {
		maps.Copy(whole, one)
	}
	return whole
}

// told are events in short: the kind, and the iteration.
func told(events []history.Event) []string {
	var list []string
	for _, e := range events {
		line, _ := history.Line(e)
		kind, _, _ := bytes.Cut(line[bytes.Index(line, []byte(`"event":"`))+9:], []byte(`"`))
		list = append(list, fmt.Sprintf("%s %d", kind, e.Header().Iteration))
	}
	return list
}
