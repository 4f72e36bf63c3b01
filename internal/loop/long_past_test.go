package loop

import (
	"context"
	"fmt"
	"math/rand/v2"
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

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// longPast is a program with so long a past that most of it is sealed, beside the same
// past in one piece.
type longPast struct {
	repo    *git.Repo
	program *program.Program
	whole   []history.Event
	bytes   []byte
	records *records // of the ledger in one piece, which nobody changes
}

// longPastOf is made once and only read.
var longPastOf = sync.OnceValues(func() (*longPast, error) {
	dir, err := os.MkdirTemp("", "past-") // below a directory that is removed with all of it
	if err != nil {
		return nil, err
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	ctx := context.Background()
	if out, err := gitIn(ctx, dir, env, "init", "--quiet", "repo"); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	p := program.Parse(".autoloop/programs/p.md", fmt.Appendf(nil, bedProgram, "strategy: openevolve"))
	past := &longPast{program: p, whole: inventedPast(560)}
	if past.repo, err = git.Open(ctx, filepath.Join(dir, "repo"), env); err != nil {
		return nil, err
	}
	log, err := history.Parse(nil)
	if err != nil {
		return nil, err
	}
	if err := log.Append(past.whole...); err != nil {
		return nil, err
	}
	past.bytes = log.Bytes()
	m := &memory.Memory{Repo: past.repo, Now: func() time.Time { return midday }}
	_, err = m.Update(ctx, memory.Update{Program: "p", Message: "a long past", Apply: func(memory.Files) (memory.Files, error) {
		b, err := openRecords(p, memory.Files{})
		if err != nil {
			return memory.Files{}, err
		}
		files, err := b.files(p, nil)
		files.Ledger = past.bytes
		return files, err
	}})
	if err != nil {
		return nil, err
	}
	past.records, err = past.inOnePiece()
	return past, err
})

// inOnePiece are the records without sealed segments.
func (past *longPast) inOnePiece() (*records, error) {
	return openRecords(past.program, memory.Files{Ledger: past.bytes})
}

func gitIn(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, env
	return cmd.CombinedOutput()
}

// inventedPast are the events of so many iterations: with several proposals, with
// candidates that waited for CI, with runs that were put off or never came back, under
// evaluators that come and go.
func inventedPast(iterations int) []history.Event {
	chance := rand.New(rand.NewPCG(11, 1))
	at := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	best, evaluator, runs := int64(10_000), "e0", 0
	var events []history.Event
	for n := 1; n <= iterations; n++ {
		add := func(e history.Event) {
			at = at.Add(time.Duration(1+chance.IntN(60)) * time.Second)
			e = history.Stamp(e, fmt.Sprintf("run-%d", runs), at)
			e.Header().Iteration = n
			events = append(events, e)
		}
		begin := func() {
			at = at.Add(time.Duration(chance.IntN(300)) * time.Minute)
			runs++
			usd := metric.MustValue("0.5")
			add(&history.Started{Lease: &history.Lease{Host: "h", PID: runs}, Reserved: &history.Reserved{Tokens: 9, CostUSD: &usd}})
		}
		begin()
		switch chance.IntN(25) {
		case 0: // it never came back
			begin()
		case 1:
			later := at.Add(time.Hour)
			add(&history.Finished{NotBefore: &later, Work: history.Work{Agent: "slow", Durations: map[string]float64{"propose": 4}}})
			begin()
		case 2:
			add(&history.Set{Key: fmt.Sprintf("setting-%d", n%9), Value: fmt.Sprint(n)})
		}
		if n == 1 || chance.IntN(90) == 0 {
			evaluator = fmt.Sprintf("e%d", chance.IntN(3))
			add(&history.Measured{
				Role: history.Baseline, Metric: new(metric.FromInt(best)), Samples: []metric.Value{metric.FromInt(best)}, Evaluator: evaluator, Definition: "d" + evaluator,
				Direction: metric.Lower, Commit: "base", BaseBranch: "main", Output: "was",
			})
		}
		tokens, usd := chance.Int64N(900), metric.MustValue("0.25")
		work := history.Work{
			Agent: "tuner", Summary: fmt.Sprintf("step %d", n), Usage: &metric.Usage{InputTokens: &tokens, OutputTokens: &tokens, CostUSD: &usd}, Durations: map[string]float64{"propose": 2},
			Params: map[string]metric.Value{"a": metric.FromInt(int64(n))},
		}
		for proposal := range chance.IntN(3) {
			patch := strings.Repeat(fmt.Sprintf("+line %d\n", n), chance.IntN(8))
			e := &history.Proposed{
				Proposal: proposal + 1, Outcome: history.Rejected, Digest: fmt.Sprintf("other-%d.", chance.IntN(900)), Evaluator: evaluator, Definition: "d" + evaluator,
				PreviousBest: new(metric.FromInt(best)), Patch: patch, Work: work,
			}
			if chance.IntN(5) > 0 {
				e.Metric = new(metric.FromInt(best + chance.Int64N(50)))
			}
			add(e)
		}
		add(&history.Measured{Role: history.Candidate, Metric: new(metric.FromInt(best - 1)), Samples: []metric.Value{metric.FromInt(best - 1)}, Output: strings.Repeat("printed ", chance.IntN(60))})
		e := &history.Decided{
			Outcome:   []history.Outcome{history.Rejected, history.Rejected, history.Inconclusive, history.Error, history.Accepted, history.PendingCI}[chance.IntN(6)],
			Evaluator: evaluator, Definition: "d" + evaluator, Digest: fmt.Sprintf("digest-%d.", chance.IntN(600)), Reasons: []string{"because"}, Work: work,
			PreviousBest: new(metric.FromInt(best)), Best: new(metric.FromInt(best)),
		}
		if e.Outcome == history.Accepted || e.Outcome == history.PendingCI {
			best -= chance.Int64N(5) + 1
			e.Metric, e.Best, e.Commit = new(metric.FromInt(best)), new(metric.FromInt(best)), fmt.Sprintf("c%d", n)
		}
		add(e)
		if e.Outcome == history.PendingCI {
			add(&history.Finished{Outcome: history.PendingCI})
			begin()
			e.Outcome = []history.Outcome{history.Accepted, history.CIFixExhausted}[chance.IntN(2)]
			add(e)
		}
		add(&history.Finished{Outcome: e.Outcome})
		if chance.IntN(30) == 0 {
			add(&history.Paused{Reason: "rest"})
			add(&history.Resumed{})
		}
	}
	return events
}

// newLongPast opens the records as they are stored, beside those of one ledger, which must
// stay as they are.
func newLongPast(t *testing.T) (stored, whole *records, past *longPast) {
	t.Helper()
	past, err := longPastOf()
	require.NoError(t, err)
	require.Empty(t, past.program.Problems)
	files, _, err := (&memory.Memory{Repo: past.repo, Now: func() time.Time { return midday }}).Read(t.Context(), "p")
	require.NoError(t, err)
	require.NotNil(t, files.Sealed)
	stored, err = openRecords(past.program, files)
	require.NoError(t, err)
	require.Less(t, len(stored.log.Events), len(past.whole)/3, "most of it is sealed")
	return stored, past.records, past
}

// facts are what attempts have that is kept of them for ever.
func facts(attempts []history.Attempt) (list []string) {
	for _, a := range attempts {
		list = append(list, fmt.Sprint(a.Iteration, a.Outcome, a.Time, history.ValueText(a.Metric), history.ValueText(a.PreviousBest), a.Deviation, a.Params, a.Focus, a.Took, a.Summary, a.Definition))
	}
	return list
}

// TestTheWholePast: what is sealed adds up to what it did, however it is stored.
func TestTheWholePast(t *testing.T) {
	t.Parallel()
	stored, whole, past := newLongPast(t)
	same, err := whole.past(t.Context())
	require.NoError(t, err)
	assert.Same(t, &whole.sum, same, "a ledger in one piece is all there")
	got, err := stored.past(t.Context())
	require.NoError(t, err)
	assert.Less(t, len(stored.sum.Attempts), 200)
	assert.Equal(t, facts(whole.sum.Attempts), facts(got.Attempts))
	assert.Equal(t, whole.sum.Tried, got.Tried)
	assert.Equal(t, whole.sum.Settings, got.Settings)
	assert.Equal(t, whole.sum.Best, got.Best)
	assert.Equal(t, whole.sum.Iteration, got.Iteration)
	assert.Len(t, got.Proposals, len(whole.sum.Proposals))

	short, err := stored.short(t.Context())
	require.NoError(t, err)
	again, err := stored.short(t.Context())
	require.NoError(t, err)
	require.Len(t, again, len(short), "it is the same when it is read again")
	assert.Same(t, short[0], again[0], "and is read once")
	assert.Same(t, stored.log.Events[0], short[len(short)-len(stored.log.Events)], "the open segment comes last")
	at := 0 // what is left of the whole is in its order
	for _, e := range short {
		for ; history.KindOf(past.whole[at]) != history.KindOf(e) || !past.whole[at].Header().Time.Equal(e.Header().Time); at++ {
			require.NotContains(t, []history.Kind{"decided", "proposed", "started", "finished", "set"}, history.KindOf(past.whole[at]), "it is left out")
		}
		at++
	}
	all, err := whole.short(t.Context())
	require.NoError(t, err)
	assert.Len(t, all, len(past.whole))
}

// TestWhatWasTriedLongAgo: a change is known again, however long ago it was decided, as
// long as the evaluator is the same.
func TestWhatWasTriedLongAgo(t *testing.T) {
	t.Parallel()
	stored, _, past := newLongPast(t)
	whole, err := past.inOnePiece()
	require.NoError(t, err)
	known := 0
	check := func(stored, whole *records, digests ...string) {
		for _, digest := range digests {
			got, found, err := stored.tried(t.Context(), digest)
			require.NoError(t, err)
			want, is := whole.sum.Tried[digest]
			require.Equal(t, is, found, digest)
			require.Equal(t, want, got, digest)
			same, found, err := whole.tried(t.Context(), digest)
			require.NoError(t, err)
			require.Equal(t, is, found, digest)
			require.Equal(t, want, same)
			if is {
				known++
			}
		}
	}
	check(stored, whole, "", "digest", "digest-601.", `","event":"decided`)
	require.Zero(t, known)
	for n := 0; n < 600; n += 40 {
		check(stored, whole, fmt.Sprintf("digest-%d.", n))
	}
	for n := 0; n < 900; n += 60 {
		check(stored, whole, fmt.Sprintf("other-%d.", n))
	}
	assert.Greater(t, known, 4)
	assert.Less(t, known, 25)

	last := slices.Collect(history.Of[*history.Decided](slices.All(stored.log.Events)))
	fresh := &history.Measured{Role: history.Baseline, Metric: new(metric.FromInt(1)), Evaluator: "e9", Definition: "d", Direction: metric.Lower}
	for _, b := range []*records{stored, whole} {
		require.NoError(t, b.log.Append(history.Stamp(fresh, "now", midday)))
		b.sum.Add(b.log.Events[len(b.log.Events)-1])
	}
	known = 0
	for n := 0; n < 600; n += 150 {
		check(stored, whole, fmt.Sprintf("digest-%d.", n), last[len(last)-1].Digest)
	}
	assert.Zero(t, known, "under another evaluator nothing was tried")
}

// TestWhatTheTunerLearnsFrom: the latest iterations with all that the tuner needs of them,
// and how many came before. That number is even, so that what the tuner does every second
// time goes on as it did.
func TestWhatTheTunerLearnsFrom(t *testing.T) {
	t.Parallel()
	stored, _, past := newLongPast(t)
	whole, err := past.inOnePiece()
	require.NoError(t, err)
	same, earlier, err := whole.trials(t.Context())
	require.NoError(t, err)
	assert.Same(t, &whole.sum, same)
	assert.Zero(t, earlier)
	for range 3 {
		latest, earlier, err := stored.trials(t.Context())
		require.NoError(t, err)
		assert.Contains(t, []int{500, 501}, len(latest.Attempts))
		assert.Equal(t, len(whole.sum.Attempts), earlier+len(latest.Attempts))
		assert.Zero(t, earlier%2)
		assert.Equal(t, trialFacts(whole.sum.Attempts[earlier:]), trialFacts(latest.Attempts))
		r := &team{}
		var want, got []string
		for _, trial := range r.trials(position{identity: identity{Definition: "de1"}}, &whole.sum) {
			if trial.Iteration > earlier {
				want = append(want, fmt.Sprint(trial))
			}
		}
		for _, trial := range r.trials(position{identity: identity{Definition: "de1"}}, latest) {
			got = append(got, fmt.Sprint(trial))
		}
		assert.Len(t, got, len(want))
		next := whole.sum.Iteration + 1
		for _, b := range []*records{stored, whole} {
			require.NoError(t, b.log.Append(history.Stamp(&history.Decided{Head: history.Head{Iteration: next}, Outcome: history.Rejected}, "now", midday)))
			b.sum.Add(b.log.Events[len(b.log.Events)-1])
		}
	}
}

// trialFacts are what the tuner learns from an attempt.
func trialFacts(attempts []history.Attempt) (list []string) {
	for _, a := range attempts {
		list = append(list, fmt.Sprint(a.Iteration, a.Outcome, history.ValueText(a.Metric), history.ValueText(a.PreviousBest), a.Deviation, a.Params, a.Definition))
	}
	return list
}

// TestAPopulationOfTheLatest: as many of the latest candidates as make a population, with
// their patches, in their order and with none between them left out.
func TestAPopulationOfTheLatest(t *testing.T) {
	t.Parallel()
	stored, whole, _ := newLongPast(t)
	everything, err := whole.proposals(t.Context(), "e0")
	require.NoError(t, err)
	require.Len(t, everything, len(whole.sum.Proposals))
	for _, evaluator := range []string{"e0", "e1", "e2", "e9"} {
		got, err := stored.proposals(t.Context(), evaluator)
		require.NoError(t, err)
		require.Equal(t, everything[len(everything)-len(got):], got, "patches and all")
		members := func(list []history.Proposal) (count int) {
			for _, p := range list {
				if p.Metric != nil && p.Patch != "" && p.Evaluator == evaluator {
					count++
				}
			}
			return count
		}
		assert.Equal(t, min(members(everything), mostMembers), min(members(got), mostMembers), evaluator)
	}
}

// TestEventsSinceATime: all that happened from then on, and no more of the past than it
// takes.
func TestEventsSinceATime(t *testing.T) {
	t.Parallel()
	stored, whole, past := newLongPast(t)
	kinds := []string{decidedLine, proposedLine}
	of := func(events []history.Event, from time.Time) (list []string) {
		for _, e := range events {
			if kind := history.KindOf(e); !e.Header().Time.Before(from) && (kind == "decided" || kind == "proposed") {
				list = append(list, fmt.Sprint(kind, e.Header().Iteration, e.Header().Time))
			}
		}
		return list
	}
	first, last := past.whole[0].Header().Time, past.whole[len(past.whole)-1].Header().Time
	open := stored.log.Events[0].Header().Time
	few := 0
	for _, from := range []time.Time{first.Add(-time.Hour), first, first.Add(last.Sub(first) / 3), first.Add(last.Sub(first) / 2), open.Add(-time.Second), open, open.Add(time.Second), last, last.Add(time.Hour)} {
		got, err := stored.since(t.Context(), from, kinds...)
		require.NoError(t, err)
		require.Equal(t, of(past.whole, from), of(got, from), from.String())
		if !from.Before(open) {
			assert.Len(t, got, len(stored.log.Events), "the open segment alone is read")
		}
		if len(got) < len(past.whole)/3 {
			few++
		}
		all, err := whole.since(t.Context(), from, kinds...)
		require.NoError(t, err)
		assert.Len(t, all, len(past.whole))
	}
	assert.Greater(t, few, 4, "not all is read for what was lately")
	stored.log.Events = nil
	got, err := stored.since(t.Context(), last.Add(time.Hour), kinds...)
	require.NoError(t, err)
	assert.NotEmpty(t, got, "the last that is sealed, where the open segment has nothing")
}

// TestEventsWithAText: every event of the ledger with one of the texts in it, and all of
// the open segment.
func TestEventsWithAText(t *testing.T) {
	t.Parallel()
	stored, whole, past := newLongPast(t)
	count := func(events []history.Event, is func(history.Event) bool) (n int) {
		for _, e := range events {
			if is(e) {
				n++
			}
		}
		return n
	}
	baseline := func(e history.Event) bool { m, is := e.(*history.Measured); return is && m.Role == history.Baseline }
	finished := func(e history.Event) bool { return history.KindOf(e) == "finished" }
	got, err := stored.having(t.Context(), baselineLine)
	require.NoError(t, err)
	assert.Equal(t, count(past.whole, baseline), count(got, baseline))
	assert.Less(t, count(got, finished), count(past.whole, finished))
	both, err := stored.having(t.Context(), baselineLine, `"event":"finished"`)
	require.NoError(t, err)
	assert.Equal(t, []int{count(past.whole, baseline), count(past.whole, finished)}, []int{count(both, baseline), count(both, finished)})
	none, err := stored.having(t.Context(), "no line has this")
	require.NoError(t, err)
	assert.Equal(t, stored.log.Events, none)
	all, err := whole.having(t.Context(), "no line has this")
	require.NoError(t, err)
	assert.Len(t, all, len(past.whole))
}

// TestWhatPeopleAreShown: so many events, in their order, and how many that leaves out.
func TestWhatPeopleAreShown(t *testing.T) {
	t.Parallel()
	stored, whole, past := newLongPast(t)
	events, left, err := stored.shown()
	require.NoError(t, err)
	assert.Equal(t, len(past.whole), len(events)+left)
	assert.Greater(t, left, len(past.whole)/2)
	assert.True(t, slices.IsSortedFunc(events, func(a, b history.Event) int { return a.Header().Time.Compare(b.Header().Time) }))
	assert.Equal(t, stored.log.Events, events[len(events)-len(stored.log.Events):])
	events, left, err = whole.shown()
	require.NoError(t, err)
	assert.Equal(t, []int{len(past.whole), 0}, []int{len(events), left})
}

// TestWhatWasSpentSinceALongTime is exact also where only whole days are known at first.
func TestWhatWasSpentSinceALongTime(t *testing.T) {
	t.Parallel()
	_, whole, past := newLongPast(t)
	inexact := 0
	for n := range 4 {
		stored, _, _ := newLongPast(t)
		since := past.whole[len(past.whole)*(3-n)/4].Header().Time
		want := whole.sum.Spent(since)
		if stored.sum.Spent(since).Iterations != want.Iterations {
			inexact++
		}
		require.NoError(t, stored.countExactly(t.Context(), since))
		got := stored.spent(since)
		assert.InDelta(t, want.Minutes, got.Minutes, 1e-6)
		got.Minutes = want.Minutes
		assert.Equal(t, want, got, since.String())
		require.NoError(t, whole.countExactly(t.Context(), since))
		assert.Equal(t, want, whole.spent(since))
	}
	assert.Positive(t, inexact)
}

// TestAPastThatCannotBeRead is an error wherever it is needed, and never a past that has
// nothing in it. What is not needed may be broken.
func TestAPastThatCannotBeRead(t *testing.T) {
	t.Parallel()
	past, err := longPastOf()
	require.NoError(t, err)
	since := past.whole[20].Header().Time
	readers := map[string]func(b *records) error{
		"short":       func(b *records) error { _, err := b.short(t.Context()); return err },
		"past":        func(b *records) error { _, err := b.past(t.Context()); return err },
		"having":      func(b *records) error { _, err := b.having(t.Context(), "x"); return err },
		"since":       func(b *records) error { _, err := b.since(t.Context(), since, decidedLine); return err },
		"trials":      func(b *records) error { _, _, err := b.trials(t.Context()); return err },
		"proposals":   func(b *records) error { _, err := b.proposals(t.Context(), "e9"); return err },
		"tried":       func(b *records) error { _, _, err := b.tried(t.Context(), firstDigest(past)); return err },
		"spent":       func(b *records) error { return b.countExactly(t.Context(), since) },
		"latest":      func(b *records) error { _, err := b.since(t.Context(), midday, decidedLine); return err },
		"shown":       func(b *records) error { _, _, err := b.shown(); return err },
		"tried never": func(b *records) error { _, _, err := b.tried(t.Context(), "no such digest"); return err },
	}
	for name, c := range map[string]struct {
		form  string
		fails string
	}{
		"as it is":             {"", ""},
		"what is kept at hand": {"p.ledger/%06d.short.jsonl", "having past short since spent trials tried"},
		"the segments":         {"p.ledger/%06d.jsonl", "proposals"},
	} {
		dir := filepath.Join(t.TempDir(), "repo")
		env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
		out, err := gitIn(t.Context(), past.repo.Root, env, "clone", "--quiet", "--shared", "--no-checkout", "--branch="+memory.MemoryBranch, ".", dir)
		require.NoError(t, err, "%s", out)
		repo, err := git.Open(t.Context(), dir, env)
		require.NoError(t, err)
		head, is, err := repo.Resolve(t.Context(), "refs/heads/"+memory.MemoryBranch)
		require.NoError(t, err)
		require.True(t, is)
		if c.form != "" {
			changed := map[string]*git.File{}
			entries, err := repo.LsTree(t.Context(), head)
			require.NoError(t, err)
			for number := range len(entries) {
				if file := fmt.Sprintf(c.form, number); slices.ContainsFunc(entries, func(e git.TreeEntry) bool { return e.Path == file }) {
					changed[file] = &git.File{Data: []byte(`{"event":"decided"} {"event":"proposed"} "role":"baseline" x` + "\n")}
				}
			}
			require.Greater(t, len(changed), 2)
			tree, err := repo.WriteFiles(t.Context(), head, changed)
			require.NoError(t, err)
			out, err := gitIn(t.Context(), dir, env, "update-ref", "refs/heads/"+memory.MemoryBranch, strings.TrimSpace(commitOf(t, dir, env, tree)))
			require.NoError(t, err, "%s", out)
		}
		var failed []string
		for reader, read := range readers {
			files, _, err := (&memory.Memory{Repo: repo, Now: func() time.Time { return midday }}).Read(t.Context(), "p")
			require.NoError(t, err, name)
			opened, err := openRecords(past.program, files)
			require.NoError(t, err, name)
			if err := read(opened); err != nil {
				failed = append(failed, reader)
				require.ErrorContains(t, err, "read the ledger: ", reader)
			}
		}
		slices.Sort(failed)
		assert.Equal(t, c.fails, strings.Join(failed, " "), name)
	}
}

func firstDigest(past *longPast) string {
	for e := range history.Of[*history.Decided](slices.All(past.whole)) {
		return e.Digest
	}
	return ""
}

func commitOf(t *testing.T, dir string, env []string, tree string) string {
	t.Helper()
	out, err := gitIn(t.Context(), dir, append(env, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"), "commit-tree", "-m", "broken", tree)
	require.NoError(t, err, "%s", out)
	return string(out)
}
