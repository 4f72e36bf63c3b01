package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/github/ci"
	"github.com/org/autoloop/internal/github/commands"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/tests/golden"
)

// made is a bundle of the next iteration.
func (b *fixture) made() *Proposal {
	b.t.Helper()
	made, result, err := b.service.Propose(b.t.Context())
	require.NoError(b.t, err)
	require.NotNil(b.t, made, "%v", result.Reasons)
	made.ID = "bundle of " + made.Run
	return made
}

// edited is a bundle, as it is read, with other fields in its events of one kind.
func edited(t *testing.T, p *Proposal, kind string, fields map[string]any) *Proposal {
	t.Helper()
	text, err := json.Marshal(p)
	require.NoError(t, err)
	var all map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&all))
	switch events := all[kind].(type) {
	case map[string]any:
		maps.Copy(events, fields)
	case []any:
		for _, event := range events {
			into, _ := event.(map[string]any)
			maps.Copy(into, fields)
		}
	default:
		require.Empty(t, kind)
	}
	text, err = json.Marshal(all)
	require.NoError(t, err)
	made := &Proposal{ID: p.ID}
	require.NoError(t, json.Unmarshal(text, made))
	return made
}

// refused holds that an error is a refusal, for the reason that testdata has, or none.
func refused(t *testing.T, err error, name string) {
	t.Helper()
	if err == nil {
		golden.Row(t, name, err)
		return
	}
	var refused *RefusedError
	require.ErrorAs(t, err, &refused, name)
	golden.Row(t, name, regexp.MustCompile(`[0-9a-f]{12,}|run-\d+|\d+:\d\d:\d\d`).ReplaceAllString(refused.Reason, "*"))
}

// refuses holds that a bundle is refused, and changes nothing.
func (b *fixture) refuses(t *testing.T, forged *Proposal, name string) {
	t.Helper()
	before := b.refs()
	_, err := b.service.Publish(t.Context(), edited(t, forged, "", nil))
	refused(t, err, name)
	assert.Equal(t, before, b.refs(), name)
}

// TestPublishRefuses what is not of this program, of these records and of these branches,
// and changes nothing for it. The bundle as it was made is recorded after all that.
func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	const secret = "ghs_0123456789abcdefWRITER"
	b := newFixture(t, "evaluation-runs: 1", "1", "3", "5")
	b.commit(map[string]string{"other.txt": "a person's\n"})
	require.Equal(t, history.Accepted, b.one().Outcome)
	made := b.made()
	b.service.Masker = process.NewMasker(nil, secret)
	ones := strings.Repeat("1", 40)
	for name, c := range map[string]func(m *Proposal){
		"another program":         func(m *Proposal) { m.Program = "q" },
		"another repository":      func(m *Proposal) { m.Repository = "o/r" },
		"a base that is not here": func(m *Proposal) { m.Base = ones },
		"other records":           func(m *Proposal) { m.Records = strings.Repeat("1", 64) },
		"the iteration after":     func(m *Proposal) { m.Iteration = 3 },
		"another default branch":  func(m *Proposal) { m.BaseBranch = "master" },
		"an earlier base":         func(m *Proposal) { m.Base = b.git("rev-parse", "main~1") },
		"another branch":          func(m *Proposal) { m.Branch = ones },
		"another incumbent":       func(m *Proposal) { m.Incumbent = ones },
		"another candidate":       func(m *Proposal) { m.Candidate = m.Incumbent },
		"no candidate":            func(m *Proposal) { m.Candidate, m.Files = "", nil },
		"a secret in its events": func(m *Proposal) {
			*m = *edited(t, m, "decided", map[string]any{"agent": secret})
		},
		"another decision": func(m *Proposal) {
			*m = *edited(t, m, "decided", map[string]any{"best": json.Number("9")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			forged := edited(t, made, "", nil)
			c(forged)
			b.refuses(t, forged, "")
		})
	}
	result, err := b.service.Publish(t.Context(), edited(t, made, "", nil))
	require.NoError(t, err)
	assert.Equal(t, history.Accepted, result.Outcome)
	assert.Equal(t, "5", b.kept())
	b.refuses(t, made, "once more")
}

// TestPublishWhereNothingMayBegin: a pause that one job disregards holds in the
// other, and so does the lease of a run that only the other job sees.
func TestPublishWhereNothingMayBegin(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nplateau: 1", "4", "3", "6")
	require.Contains(t, b.one().Stopped, "paused: plateau")
	b.service.Force = true
	forced := b.made()
	b.service.Force = false
	b.refuses(t, forced, "a pause")
	b.service.Force = true
	b.start()
	seen := b.made()
	b.service.Alive = func(history.Lease) bool { return true }
	b.refuses(t, seen, "a lease")
	b.service.Alive = func(history.Lease) bool { return false }
	result, err := b.service.Publish(t.Context(), seen)
	require.NoError(t, err)
	assert.Equal(t, history.Accepted, result.Outcome)
}

// TestForgedFix is refused: it has to be of the commit that waits, and made from the
// same files. Then the true one is recorded.
func TestForgedFix(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1\nci-wait: 0m", "1")
	calls := 0
	b.proposeInTurn(&calls, "3", "4")
	f := onGitHub(t, b)
	f.ci = []ci.Result{red("build", "error: x")}
	b.twoJobs()
	iteration := b.made
	made := iteration()
	require.Equal(t, forFix, made.Kind)
	before := b.refs()
	ones := strings.Repeat("1", 40)
	for name, c := range map[string]func(m *Proposal){
		"of another commit":     func(m *Proposal) { m.Branch = m.Base },
		"as the next iteration": func(m *Proposal) { m.Kind, m.Iteration = forIteration, 2 },
		"of another base":       func(m *Proposal) { m.Base = ones },
		"accepted by itself": func(m *Proposal) {
			*m = *edited(t, m, "decided", map[string]any{"outcome": "accepted"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			forged := edited(t, made, "", nil)
			c(forged)
			b.refuses(t, forged, "")
		})
	}
	f.down = true
	_, err := b.service.Publish(t.Context(), edited(t, made, "", nil))
	require.ErrorContains(t, err, "no iteration waits for CI with commit", "CI cannot be read")
	f.down, f.ci = false, []ci.Result{green()}
	b.refuses(t, made, "CI is green now")
	f.ci = []ci.Result{red("build", "error: x")}
	pending := b.git("rev-parse", "autoloop/p")
	theirs := b.git("commit-tree", "autoloop/p^{tree}", "-p", pending, "-m", "a person's")
	b.git("update-ref", "refs/heads/autoloop/p", theirs)
	_, err = b.service.Publish(t.Context(), edited(t, made, "", nil))
	require.ErrorContains(t, err, "is stale: branch autoloop/p has moved")
	b.git("update-ref", "refs/heads/autoloop/p", pending)
	assert.Equal(t, before, b.refs())

	// What the bundle says of CI is not believed.
	f.ci = []ci.Result{red("build", "error: x"), green()}
	result, err := b.service.Publish(t.Context(), edited(t, made, "checked", map[string]any{
		"signature": "forged", "reasons": decision.Says("forged"),
		"failing_checks": []any{map[string]any{"name": "forged"}},
		"commit":         ones,
	}))
	require.NoError(t, err)
	assert.Equal(t, history.Accepted, result.Outcome, "%v", result.Reasons)
	for _, e := range history.Of[*history.Checked](b.records().log.Events) {
		assert.Equal(t, pending, e.Commit)
		assert.Equal(t, []history.Check{{Name: "build"}}, e.Failing)
		assert.NotContains(t, fmt.Sprint(e.Signature, e.Reasons), "forged")
	}
}

// TestWhichCommandsComeFirst: those that change what the next iteration is, as long as they
// are not applied.
func TestWhichCommandsComeFirst(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "", "1")
	for name, c := range map[string]struct {
		pull     *commands.Pull
		settings history.Settings
		kinds    []commands.CommandKind
		place    commands.Place
	}{
		"what changes nothing": {kinds: []commands.CommandKind{
			commands.Run, commands.Status, commands.Instruct,
			commands.Note, commands.Wrong,
		}},
		"pause": {kinds: []commands.CommandKind{commands.Pause}},
		"one that is applied": {
			settings: history.Settings{CommandsUntil: "5 0 0"},
			kinds:    []commands.CommandKind{commands.Pause},
		},
		"on a line, not applied": {
			settings: history.Settings{CommandsUntil: "9 4 0"},
			kinds:    []commands.CommandKind{commands.Pause}, place: commands.Lines,
		},
		"one that was closed": {pull: &commands.Pull{Number: 8}},
	} {
		run := b.service.begin()
		comment := commands.Comment{Address: commands.Address{ID: 5, Place: c.place}}
		for _, kind := range c.kinds {
			comment.Commands = append(comment.Commands, commands.Command{Kind: kind})
		}
		run.comments = &commands.Heard{Pull: c.pull, Comments: []commands.Comment{comment}}
		golden.Row(t, name, run.firstOf(&records{Summary: history.Summary{Settings: c.settings}}))
	}
}

// TestRecordsDigestIgnoresAnswers but for what was answered meanwhile: a bundle holds for them.
func TestRecordsDigestIgnoresAnswers(t *testing.T) {
	t.Parallel()
	digest := func(state, results string, events ...history.Event) string {
		files := memory.Files{Ledger: &history.Log{}}
		if state != "" {
			files.State, files.Results = []byte(state), []byte(results)
		}
		require.NoError(t, files.Ledger.Append(events...))
		return recordsDigest(files)
	}
	begun := &history.Started{Head: history.Head{Iteration: 1}}
	talk := []history.Event{
		&history.Answered{Key: "5", Reason: "ok"}, wasSet(history.IssueNumber, "7"), wasSet(history.Author, "a"),
		wasSet(history.CommandsUntil, "5 0 0"),
	}
	same := digest("state", "results", begun)
	assert.Equal(t, same, digest("state", "results", append(slices.Clone(talk), begun)...))
	assert.Equal(t, same, digest("state", "results", append([]history.Event{begun}, talk...)...))
	for name, other := range map[string]string{
		"another state":   digest("State", "results", begun),
		"another setting": digest("state", "results", begun, wasSet(history.TargetMetric, "5")),
		"comments read":   digest("state", "results", begun, wasSet(history.HeardUntil, "5 0 0")),
	} {
		assert.NotEqual(t, same, other, name)
	}
	assert.Equal(t, recordsDigest(memory.Files{}), digest("", "", talk...), "also where there was nothing yet")
}

// refusing makes the remote of a run refuse to move the program branch.
func refusing(r *run, refuses func(move git.RefUpdate) error) {
	store := r.store
	r.store = func(ctx context.Context, u memory.Update) (string, error) {
		if u.Branch != nil {
			if err := refuses(*u.Branch); err != nil {
				apply := u.Apply
				u.Apply = func(files memory.Files) (memory.Files, error) {
					if _, applied := apply(files); applied != nil {
						return files, applied
					}
					return files, err
				}
			}
		}
		return store(ctx, u)
	}
}

// refusal is what the remote says.
func refusal(words string) error {
	return &git.RejectedError{Remote: "origin", Refs: []git.Rejection{{Ref: "refs/heads/autoloop/p", Reason: words}}}
}

// in runs an iteration in one job, or publishes what the first of two made, with a store
// whose remote answers so.
func (b *fixture) in(jobs int, remote func(git.RefUpdate) error) (render.Result, error) {
	b.t.Helper()
	if jobs == 1 {
		run := b.service.begin()
		refusing(run, remote)
		return run.through(b.t.Context(), run.iterate)
	}
	made := b.made()
	run := b.service.begin()
	refusing(run, remote)
	return run.through(b.t.Context(), func(ctx context.Context) error { return run.publish(ctx, made) })
}

// TestBranchStaysOnOwnBase where the remote refuses the default branch's workflow
// files: the gain is kept without them.
func TestBranchStaysOnOwnBase(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1, 2} {
		b := newFixture(t, "evaluation-runs: 1", "1", "3", "5")
		b.one()
		old := b.git("rev-parse", "autoloop/p")
		b.commit(map[string]string{"other.txt": "a person's\n"})
		main := b.git("rev-parse", "main")
		remote := func(move git.RefUpdate) error {
			if known, err := b.service.Repo.IsAncestor(t.Context(), main, move.New); err != nil || known {
				return refusal(noWorkflows)
			}
			return nil
		}
		result, err := b.in(jobs, remote)
		require.NoError(t, err, jobs)
		assert.Equal(t, history.Accepted, result.Outcome, "%v", result.Reasons)
		assert.Equal(t, "5", b.kept())
		assert.Equal(t, "untouched", b.git("show", "autoloop/p:other.txt"))
		assert.Equal(t, old, b.git("rev-parse", "autoloop/p~1"))
		assert.Equal(t, main, b.records().WorkflowsRefused)
		assert.Equal(t, old, b.records().Decision.Parent)
		assert.Empty(t, auditOf(b.records().log.Events), jobs)
	}
}
