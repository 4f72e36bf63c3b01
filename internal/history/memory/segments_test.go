package memory_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/history/state"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/tests/long"
)

// iterate records one iteration, whose events have about 8 KB, in two updates as a run
// does.
func (c *checkout) iterate(number int) {
	c.t.Helper()
	run := fmt.Sprintf("run-%d", number)
	at := time.Date(2026, 1, 1, 0, number, 0, 0, time.UTC)
	value := metric.FromInt(int64(-number))
	is := history.Head{Run: run, Time: at, Iteration: number}
	c.record(run, &history.Started{Head: is, Lease: &history.Lease{Host: "h"}})
	c.record(run,
		&history.Measured{Head: is, Role: history.Candidate, Metric: &value, Output: strings.Repeat(cmp.Or(c.output, "printed\n"), 1000)},
		&history.Decided{Head: is, Outcome: history.Rejected, Metric: &value, Digest: fmt.Sprintf("digest-%d", number)},
		&history.Finished{Head: is, Outcome: history.Rejected})
}

func (c *checkout) record(message string, events ...history.Event) {
	c.t.Helper()
	_, err := c.Update(c.t.Context(), memory.Update{Program: "p", Message: message, KeepDetails: c.keepDetails, Apply: func(current memory.Files) (memory.Files, error) {
		log, err := current.Log()
		require.NoError(c.t, err)
		require.NoError(c.t, log.Append(events...))
		doc := state.New("p")
		return memory.Files{State: doc.Render(), Ledger: log.Bytes()}, nil
	}})
	require.NoError(c.t, err)
}

// sealed is a checkout with so many iterations.
func sealed(t *testing.T, iterations int) *checkout {
	t.Helper()
	return copied(t, recorded.at(t, iterations))
}

func copied(t *testing.T, from string) *checkout {
	t.Helper()
	c := &checkout{t: t, env: userEnv(t), dir: filepath.Join(t.TempDir(), "repo")}
	copyCheckout(t, from, c.dir)
	c.openMemory("")
	return c
}

// lives are checkouts by their number of iterations. Many tests begin with one: each is
// recorded once, from the longest that is shorter, and tests have copies.
type lives struct {
	mu   sync.Mutex
	dirs map[int]string
}

var recorded = lives{dirs: map[int]string{}}

// at is the directory of the checkout with so many iterations.
func (l *lives) at(t *testing.T, iterations int) string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if dir, found := l.dirs[iterations]; found {
		return dir
	}
	from := 0
	for shorter := range l.dirs {
		if shorter < iterations {
			from = max(from, shorter)
		}
	}
	var c *checkout
	if from == 0 {
		c = newCheckout(t)
	} else {
		c = copied(t, l.dirs[from])
	}
	for number := from + 1; number <= iterations; number++ {
		c.iterate(number)
		if slices.Contains([]int{12, 30, 40, 60}, number) || number == iterations {
			l.keep(t, c, number)
		}
	}
	return l.dirs[iterations]
}

// keep copies a checkout to where it outlives the test.
func (l *lives) keep(t *testing.T, c *checkout, iterations int) {
	t.Helper()
	dir, err := os.MkdirTemp("", "life-") //nolint:usetesting // TestMain removes it
	require.NoError(t, err)
	l.dirs[iterations] = filepath.Join(dir, "repo")
	copyCheckout(t, c.dir, l.dirs[iterations])
}

func copyCheckout(t *testing.T, from, to string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput()
	require.NoError(t, err, string(out))
}

// names are the sealed files of the program on the branch.
func (c *checkout) names() []string {
	return strings.Fields(c.user("ls-tree", "-r", "--name-only", memoryRef, "p.ledger/"))
}

// put changes files of the branch in a commit as a person would; "" removes.
func (c *checkout) put(texts map[string]string) {
	c.t.Helper()
	files := map[string]*git.File{}
	for name, text := range texts {
		files[name] = nil
		if text != "" {
			files[name] = &git.File{Data: []byte(text)}
		}
	}
	tree, err := c.Repo.WriteFiles(c.t.Context(), memoryRef, files)
	require.NoError(c.t, err)
	c.user("update-ref", memoryRef, c.user("commit-tree", "-m", "by hand", "-p", memoryRef, tree))
}

func (c *checkout) text(name string) string {
	c.t.Helper()
	out, err := c.Repo.Cat(c.t.Context(), memoryRef+":"+name)
	require.NoError(c.t, err)
	require.False(c.t, out[0].Missing(), name)
	return string(out[0].Data)
}

// audited are the program's records as its audit reads them.
func (c *checkout) audited(archives ...string) (audit.Records, error) {
	c.t.Helper()
	records, _, err := c.report(archives...)
	return records, err
}

func (c *checkout) report(archives ...string) (audit.Records, audit.Report, error) {
	c.t.Helper()
	a := audit.New(decision.Known(), nil)
	records, err := c.Records(c.t.Context(), a, "p", "autoloop/p", nil, archives...)
	return records, a.Report(records), err
}

func (c *checkout) numbers() (decided []int, summary history.Summary) {
	c.t.Helper()
	files, _, err := c.Read(c.t.Context(), "p")
	require.NoError(c.t, err)
	require.NoError(c.t, files.Segments(c.t.Context(), func(events []history.Event) error {
		for e := range history.Of[*history.Decided](slices.All(events)) {
			decided = append(decided, e.Iteration)
		}
		return nil
	}))
	log, err := files.Log()
	require.NoError(c.t, err)
	return decided, log.Summary()
}

func TestLedgersAreSealed(t *testing.T) {
	t.Parallel()
	c := sealed(t, 60)
	names := c.names()
	require.Greater(t, len(names), 6)
	assert.Equal(t, []string{"p.ledger/000001.jsonl", "p.ledger/000001.short.jsonl"}, names[:2])
	assert.Contains(t, names, "p.ledger/checkpoint.json")
	assert.Less(t, len(c.text("p.jsonl")), 200<<10)
	decided, summary := c.numbers()
	require.Len(t, decided, 60)
	assert.Equal(t, 60, decided[59])
	assert.Equal(t, 60, summary.Iteration)
	assert.Equal(t, 60, summary.Decided())
	assert.Equal(t, 60, summary.Dropped())

	first := c.user("rev-parse", memoryRef+":p.ledger/000001.jsonl")
	for i := 61; i <= 80; i++ {
		c.iterate(i)
	}
	assert.Greater(t, len(c.names()), len(names), "more is sealed")
	assert.Equal(t, first, c.user("rev-parse", memoryRef+":p.ledger/000001.jsonl"), "what is sealed stays as it is")

	files, _, err := c.Read(t.Context(), "p")
	require.NoError(t, err)
	short, err := files.Short(t.Context())
	require.NoError(t, err)
	past := history.Replay(short)
	assert.Len(t, past.Attempts, 80)
	for text, want := range map[string]bool{`"digest-3"`: true, `"digest-99"`: false} {
		assert.Equal(t, want, files.Sealed.MayHave(strings.Trim(text, `"`)), text)
	}
}

// TestLatestNeedsOnlyWhatIsEnough: segments are read side by side, and are as if they had
// been read one after the other from the last. One that need not be read may be broken.
func TestLatestNeedsOnlyWhatIsEnough(t *testing.T) {
	t.Parallel()
	const decided = `"event":"decided"`
	c := sealed(t, 60)
	latest := func(segments int) (iterations []int, asked int, err error) {
		files, _, err := c.Read(t.Context(), "p")
		require.NoError(t, err)
		events, err := files.Sealed.Latest(t.Context(), func([]history.Event) bool { asked++; return asked == segments }, decided)
		for e := range history.Of[*history.Decided](slices.All(events)) {
			iterations = append(iterations, e.Iteration)
		}
		return iterations, asked, err
	}
	all, count, err := latest(0)
	require.NoError(t, err)
	require.Greater(t, count, 4)
	for i, iteration := range all {
		require.Equal(t, i+1, iteration)
	}
	for broken := 1; broken <= 2; broken++ {
		c.put(map[string]string{fmt.Sprintf("p.ledger/%06d.short.jsonl", broken): `{` + decided + "\n"})
		for segments := 1; segments <= count-broken; segments++ {
			some, asked, err := latest(segments)
			require.NoError(t, err, "%d of %d segments", segments, count)
			require.Equal(t, segments, asked)
			require.Equal(t, all[len(all)-len(some):], some)
		}
		_, _, err := latest(0)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "\n")
	}
}

// TestLargeLedgersOfBefore: what an older version wrote as one file is sealed when the
// next run begins, and not a byte of it changes.
func TestLargeLedgersOfBefore(t *testing.T) {
	t.Parallel()
	c := sealed(t, 40)
	c.putWhole()
	decided, _ := c.numbers()
	require.Len(t, decided, 40)

	c.iterate(41)
	assert.Greater(t, len(c.names()), 6)
	decided, summary := c.numbers()
	assert.Len(t, decided, 41)
	assert.Equal(t, 41, summary.Decided())
	records, err := c.audited()
	require.NoError(t, err)
	assert.Empty(t, records.Broken)
	assert.Empty(t, records.Rewritten)
}

func TestCheckpointsAreComputedWhereTheyAreMissing(t *testing.T) {
	t.Parallel()
	c := sealed(t, 40)
	_, want := c.numbers()
	copied := filepath.Join(t.TempDir(), "copy")
	for name, text := range map[string]string{
		"as it is": c.text("p.ledger/checkpoint.json"), "missing": "", "unreadable": "{", "older": c.text("p.ledger/checkpoint.json")[:20] + "}",
		"of another version": strings.Replace(c.text("p.ledger/checkpoint.json"), `"version":6`, `"version":99`, 1),
	} {
		c.put(map[string]string{"p.ledger/checkpoint.json": text})
		_, got := c.numbers()
		assert.Equal(t, want.Attempts, got.Attempts, name)
		assert.Equal(t, want.Decided(), got.Decided(), name)

		c.user("worktree", "add", "--quiet", copied, memoryRef)
		for _, states := range []memory.States{{Branch: c.Memory}, {Dir: copied}} {
			_, err := states.Load(t.Context(), []string{"p"})
			require.NoError(t, err)
			log, err := states.Ledger(t.Context(), "p")
			require.NoError(t, err, name)
			summary := log.Summary()
			assert.Equal(t, want.Decided(), summary.Decided(), name)
		}
		c.user("worktree", "remove", "--force", copied)
	}
	require.NoFileExists(t, copied)
}

func TestRemovingALedgerRemovesItsSegments(t *testing.T) {
	t.Parallel()
	c := sealed(t, 30)
	c.add("q", "stays")
	_, err := c.Update(t.Context(), memory.Update{Program: "p", Message: "gone", Apply: func(memory.Files) (memory.Files, error) { return memory.Files{}, nil }})
	require.NoError(t, err)
	assert.Equal(t, "q.jsonl\nq.md", c.user("ls-tree", "-r", "--name-only", memoryRef))
}

func TestAuditFindsBrokenSegments(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	c := sealed(t, 60)
	honest := c.user("rev-parse", memoryRef)
	one, two, three := c.text("p.ledger/000001.jsonl"), c.text("p.ledger/000002.jsonl"), c.text("p.ledger/000003.jsonl")
	records, err := c.audited()
	require.NoError(t, err)
	require.Empty(t, records.Broken)
	require.Empty(t, records.Rewritten)
	forged := strings.Replace(two, `"outcome":"rejected"`, `"outcome":"accepted"`, 1)
	require.NotEqual(t, two, forged)
	for name, test := range map[string]struct {
		files map[string]string
		says  []string
	}{
		"forged":     {map[string]string{"p.ledger/000002.jsonl": forged}, []string{"segment 3, line 1: it goes on after a segment with the digest", "000002.short.jsonl: it is not what segment 2 gives"}},
		"reordered":  {map[string]string{"p.ledger/000002.jsonl": three, "p.ledger/000003.jsonl": two}, []string{"segment 2, line 1: it says that it is segment 3", "segment 3, line 1: it says that it is segment 2"}},
		"missing":    {map[string]string{"p.ledger/000002.jsonl": ""}, []string{"segment 2: it is not there", "segment 3, line 1: it goes on after"}},
		"doubled":    {map[string]string{"p.ledger/000003.jsonl": two}, []string{"segment 3, line 1: it says that it is segment 2"}},
		"the first":  {map[string]string{"p.ledger/000001.jsonl": one[:len(one)-1]}, []string{"segment 2, line 1: it goes on after"}},
		"no JSON":    {map[string]string{"p.ledger/000002.jsonl": two + "{\n"}, []string{"segment 2: ledger line"}},
		"checkpoint": {map[string]string{"p.ledger/checkpoint.json": strings.Replace(c.text("p.ledger/checkpoint.json"), `"Iteration":`, `"Iteration":1`, 1)}, []string{"checkpoint.json is not what the segments add up to"}},
		"short":      {map[string]string{"p.ledger/000001.short.jsonl": c.text("p.ledger/000002.short.jsonl")}, []string{"000001.short.jsonl: it is not what segment 1 gives"}},
		"open":       {map[string]string{"p.jsonl": strings.Replace(c.text("p.jsonl"), `"before":"`, `"before":"0`, 1)}, []string{"it goes on after a segment with the digest"}},
	} {
		c.put(test.files)
		records, err := c.audited()
		require.NoError(t, err, name)
		for _, says := range test.says {
			assert.Contains(t, strings.Join(records.Broken, "\n"), says, name)
		}
		c.user("update-ref", memoryRef, honest)
	}
}

// TestRewrittenSegmentsAreFound: a ledger that is forged and sealed anew is consistent
// in itself, and does not go on from what the branch had.
func TestRewrittenSegmentsAreFound(t *testing.T) {
	long.Only(t, long.Hostile)
	t.Parallel()
	c := sealed(t, 40)
	open := bytes.Replace([]byte(c.text("p.jsonl")), []byte(`"outcome":"rejected"`), []byte(`"outcome":"inconclusive"`), 1)
	c.put(map[string]string{"p.jsonl": string(open)})
	for i := 41; i <= 60; i++ {
		c.iterate(i)
	}
	records, err := c.audited()
	require.NoError(t, err)
	assert.Empty(t, records.Broken, "what is sealed goes on from one to the next")
	require.Len(t, records.Rewritten, 1)
	assert.Contains(t, records.Rewritten[0], "changes or removes lines of the ledger that were there before")

	// Another ledger, consistent in itself and sealed farther, in place of this one.
	other := newCheckout(t)
	other.output = "forged\n"
	for i := range 60 {
		other.iterate(i + 1)
	}
	files := map[string]string{"p.jsonl": other.text("p.jsonl")}
	for _, name := range other.names() {
		files[name] = other.text(name)
	}
	again := sealed(t, 40)
	again.put(files)
	records, err = again.audited()
	require.NoError(t, err)
	assert.Empty(t, records.Broken)
	assert.Len(t, records.Rewritten, 1)
}

// putWhole makes the branch one commit with the ledger in one file, as an older version
// left it.
func (c *checkout) putWhole() {
	c.t.Helper()
	whole, doc := c.allLines(), c.text("p.md")
	c.user("update-ref", "-d", memoryRef)
	tree, err := c.Repo.WriteFiles(c.t.Context(), "", map[string]*git.File{"p.jsonl": {Data: []byte(whole)}, "p.md": {Data: []byte(doc)}})
	require.NoError(c.t, err)
	c.user("update-ref", memoryRef, c.user("commit-tree", "-m", "before", tree))
}
