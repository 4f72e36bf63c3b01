package loop

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/audit"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
)

// TestVerifyRefuses: a proposal that does not hold is refused in the job that made
// it too, and nothing of it is written.
func TestVerifyRefuses(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "evaluation-runs: 1", "1", "2", "3")
	require.Equal(t, history.Accepted, b.one().Outcome)
	run := b.service.begin()
	require.NoError(t, run.acquireLease(t.Context()))
	at, _, err := run.propose(t.Context())
	require.NoError(t, err)
	all, err := run.attempt(t.Context(), at)
	require.NoError(t, err)
	outside := b.treeWith("autoloop/p", map[string]string{"value.txt": "3\n", "other.txt": "touched\n"})
	for _, c := range []struct {
		name   string
		change func(p *Proposal)
	}{
		{"as it was proposed", func(*Proposal) {}},
		{"a loss is a gain", func(p *Proposal) {
			for _, m := range p.Measured {
				m.Metric, m.Samples = metricOf("1"), []metric.Value{*metricOf("1")}
				break
			}
			p.Decided.Metric, p.Decided.Best, p.Decided.Delta = metricOf("1"), metricOf("1"), "-1"
		}},
		{
			"another rule", func(p *Proposal) { p.Decided.Rule = &decision.Rule{Regime: "noisy"} },
		},
		{"a baseline that nothing asks for", func(p *Proposal) {
			p.Baseline = []*history.Measured{{Role: history.Baseline, Metric: metricOf("1")}}
		}},
		{
			"a rejection that improved", func(p *Proposal) {
				p.Decided.Outcome,
					p.Candidate = history.Rejected, ""
			},
		},
		{"a file outside the target", func(p *Proposal) { p.Candidate = outside }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := run.newProposal(forIteration, at)
			run.describe(p, at, all)
			require.True(t, p.Kept())
			c.change(p)
			before := b.refs()
			if c.name == "as it was proposed" {
				require.NoError(t, run.verify(t.Context(), at, p))
				_, err := run.verifyDecision(run.records, at, p)
				require.NoError(t, err)
				return
			}
			err = run.record(t.Context(), at, p)
			refused(t, err, "")
			assert.Equal(t, before, b.refs())
		})
	}
}

// brokenSuite says that a candidate is better, without a number.
type brokenSuite struct{}

func (brokenSuite) Run(_ context.Context, _ metric.Limit, trees ...string) (Suited, error) {
	if len(trees) > 1 {
		return Suited{Verdict: decision.Improved}, nil
	}
	return Suited{Incumbent: metricOf("1")}, nil
}

// TestRefusedProposalIsError: what verification refuses in one job is recorded
// as an error, and nothing of it is kept.
func TestRefusedProposalIsError(t *testing.T) {
	t.Parallel()
	b := newFixture(t, "", "1", "3")
	b.service.Suite, b.service.Program.Evaluation = brokenSuite{}, program.Tasks
	result := b.one()
	assert.Equal(t, history.Error, result.Outcome)
	require.Len(t, result.Reasons, 1)
	assert.Contains(t, result.Reasons[0].String(), "accepted without an improvement")
	assert.NotContains(t, b.refs(), "refs/heads/autoloop/")
	assert.Equal(t, history.Error, b.records().Decision.Outcome)

	_, _, err := b.service.Propose(t.Context())
	require.ErrorContains(t, err, "accepted without an improvement", "no bundle is made of it")
}

// widely is a repository whose program may change almost everything, and the position of
// its incumbent.
func widely(t *testing.T, incumbent map[string]*git.File) (b *fixture, r *run, at position) {
	t.Helper()
	b = newFixture(t, "evaluation-runs: 1\ntarget: ['**', value.txt]\nprotect: [other.txt]", "1")
	if incumbent != nil {
		commit := b.git("commit-tree", b.treeOf("main", incumbent), "-p", "main", "-m", "more")
		b.git("update-ref", "refs/heads/main", commit)
	}
	at.Head = b.git("rev-parse", "main")
	at.Start, at.PushOnto, at.Base, at.BaseBranch = at.Head, at.Head, at.Head, "main"
	r = b.service.begin()
	var err error
	at.entries, err = r.Repo.LsTree(t.Context(), at.Head)
	require.NoError(t, err)
	return b, r, at
}

func fileOf(data string) *git.File   { return &git.File{Data: []byte(data)} }
func linkTo(target string) *git.File { return &git.File{Mode: git.ModeSymlink, Data: []byte(target)} }

// TestFilesOfACandidate: what comes in a bundle is held against everything that an agent's
// own tree is held against.
func TestFilesOfACandidate(t *testing.T) {
	t.Parallel()
	const secret = "ghs_0123456789abcdefWRITER"
	b, r, at := widely(t, map[string]*git.File{
		".gitattributes": fileOf("*.bin filter=lfs\n"), "a.bin": fileOf("pointer\n"), "link": linkTo("value.txt"),
		"d/up":      linkTo("../value.txt"),
		"known.txt": fileOf("token " + secret + "\n"), "bare/HEAD": fileOf("ref: x\n"), "bare/objects/x": fileOf("x"),
	})
	r.Masker = process.NewMasker(nil, secret, "value.txt")
	for name, c := range map[string]map[string]*git.File{
		"nothing":                 nil,
		"a link that leaves":      {"new": linkTo("../x")},
		"a filter below":          {"d/.gitattributes": fileOf("* filter=x\n")},
		"a secret":                {"value.txt": fileOf("1\n" + secret)},
		"a secret as a name":      {secret: fileOf("x")},
		"a secret that was there": {"known.txt": fileOf("my token " + secret + "\n")},
	} {
		t.Run(name, func(t *testing.T) {
			candidate := b.treeOf(at.Head, c)
			p := r.newProposal(forIteration, at)
			p.Candidate, p.Decided = candidate, &history.Decided{Outcome: history.Accepted}
			p.Decided.Changed, p.Decided.Digest, p.Decided.LeavesNothing = []string{"forged"}, "forged", true
			err := r.verifyCandidate(t.Context(), at, p)
			refused(t, err, "")
			if err != nil {
				return
			}
			assert.Equal(t, strings.Fields(b.git("diff-tree", "-r", "--name-only", at.Head, candidate)),
				p.Decided.Changed,
				"what git says is recorded, and not what the bundle says")
			assert.NotEqual(t, "forged", p.Decided.Digest)
		})
	}
}

// TestFixIsComparedWithItsStart, and described against the incumbent.
func TestFixIsComparedWithItsStart(t *testing.T) {
	t.Parallel()
	b, r, at := widely(t, nil)
	on := b.treeOf(at.Head, map[string]*git.File{"value.txt": fileOf("2\n"), "other.txt": fileOf("a person's\n")})
	at.Start = on
	verify := func(candidate string) (*Proposal, error) {
		p := r.newProposal(forFix, at)
		p.Candidate, p.Decided = candidate, &history.Decided{Outcome: history.PendingCI}
		return p, r.verifyCandidate(t.Context(), at, p)
	}
	p, err := verify(b.treeOf(on, map[string]*git.File{"new.txt": fileOf("x")}))
	require.NoError(t, err)
	assert.Equal(t, []string{"new.txt", "other.txt", "value.txt"}, p.Decided.Changed)
	_, err = verify(b.treeOf(on, map[string]*git.File{"other.txt": fileOf("x")}))
	require.ErrorContains(t, err, "is protected by the program (modified)")
	_, err = verify(on)
	require.ErrorContains(t, err, "no change proposed")
}

// TestHeldCandidateLeavesNothing is one whatever its bundle says.
func TestHeldCandidateLeavesNothing(t *testing.T) {
	t.Parallel()
	b, r, at := widely(t, nil)
	for name, c := range map[string]struct {
		files map[string]*git.File
		held  bool
		want  bool
	}{
		"the file is gone": {map[string]*git.File{"value.txt": nil}, true, true},
		"it is not held":   {map[string]*git.File{"value.txt": nil}, false, false},
	} {
		p := r.newProposal(forIteration, at)
		p.Candidate, p.Decided = b.treeOf(at.Head, c.files),
			&history.Decided{Outcome: history.Accepted, LeavesNothing: !c.want}
		if c.held {
			p.Measured = []*history.Measured{{Role: decision.Emptied, Stage: decision.Held}}
		}
		require.NoError(t, r.verifyCandidate(t.Context(), at, p), name)
		if c.held {
			assert.Equal(t, c.want, p.Decided.LeavesNothing, name)
		}
	}
}

// TestFilesAreWhatWasMeasured, or nothing of them is taken.
func TestFilesAreWhatWasMeasured(t *testing.T) {
	t.Parallel()
	b, r, at := widely(t, nil)
	candidate := b.treeOf(at.Head,
		map[string]*git.File{
			"value.txt": fileOf("2\n"), "new.bin": fileOf("\x00\x01\x02"), "empty": fileOf(""),
			"link": linkTo("value.txt"), "other.txt": nil,
		})
	files, err := changedFiles(t.Context(), b.service.Repo, at.Head, candidate)
	require.NoError(t, err)
	write := func(candidate string, files ...File) error {
		return r.writeCandidate(t.Context(), at.Head,
			&Proposal{Manifest: Manifest{Candidate: candidate}, Files: files})
	}
	require.NoError(t, write(candidate, files...))
	before := b.refs()
	and := func(more File) []File { return append(slices.Clone(files), more) }
	for name, c := range map[string]struct {
		candidate string
		files     []File
	}{
		"for another tree": {
			b.treeOf(at.Head, map[string]*git.File{"value.txt": fileOf("3\n")}), files,
		},
		"a file more": {candidate, and(File{Path: "more", Mode: git.ModeFile})},
		"upwards": {
			candidate, and(File{Path: "../value.txt", Mode: git.ModeFile}),
		},
		"a mode of two rows": {
			candidate, and(File{Path: "more", Mode: "100644\x00"}),
		},
	} {
		refused(t, write(c.candidate, c.files...), name)
	}
	assert.Equal(t, before, b.refs())
	assert.Empty(t, b.git("status", "--porcelain"), "the user's index and files are not touched")
}

const (
	ourSecret   = "0123456789abcdef"
	theirSecret = "fedcba9876543210"
	aPassword   = "password"
)

var secrets = process.NewMasker([]string{"OUR_TOKEN=" + ourSecret, "A_PASSWORD=" + aPassword}, theirSecret)

// secretTrialRepo has a file with a secret and one without, and one whose name has one.
func secretTrialRepo(t *testing.T) *trialRepo {
	t.Helper()
	l := newTrialRepo(t)
	l.commit(map[string]string{
		"has.txt": "token " + ourSecret + "\n", "has-not.txt": "no token\n",
		"of-" + ourSecret: "x\n",
	})
	return l
}

// TestLeakedSecrets: a secret in a changed file or its name that the incumbent's file has
// not, also when that has another one; in a working tree and in a bundle alike.
func TestLeakedSecrets(t *testing.T) {
	t.Parallel()
	shared := secretTrialRepo(t)
	base := shared.git("rev-parse", "main")
	const modified, added, gone = decision.Modified, decision.Added, decision.Deleted
	for name, c := range map[string]struct {
		path, text string
		kind       decision.ChangeKind
		leaks      bool
	}{
		"a secret":                    {"has-not.txt", "x " + ourSecret + "\n", modified, true},
		"in the name of a new file":   {"x-" + ourSecret + "/y", "", added, true},
		"a password, which is a word": {"new.txt", "the password is " + aPassword, added, false},
		"the secret that was there":   {"has.txt", ourSecret + "\n" + ourSecret + "\n", modified, false},
		"another than was there":      {"has.txt", "token " + theirSecret + "\n", modified, true},
		"a file that is gone":         {"of-" + ourSecret, "", gone, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes := []decision.Change{{Path: c.path, Kind: c.kind, NewMode: "100644"}}
			if c.kind != gone {
				ids, err := shared.service.Repo.HashObjects(t.Context(), []byte(c.text))
				require.NoError(t, err)
				changes[0].NewBlob = ids[0]
			}
			reasons, err := leaks(t.Context(), shared.service.Repo, base, secrets, changes)
			require.NoError(t, err)
			assert.Equal(t, c.leaks, len(reasons) == 1, "%v", reasons)
			for _, reason := range reasons {
				assert.NotContains(t, reason.String(), ourSecret)
				assert.Contains(t, reason.String(), "has a secret in it")
			}
		})
	}
}

// TestSecretsInWordsOfAgents of ours or of its own, and is bounded.
func TestSecretsInWordsOfAgents(t *testing.T) {
	t.Parallel()
	a := &attempt{masker: secrets, reply: agent.Reply{
		Summary: "with " + ourSecret + "\nand " + strings.Repeat("long ", 1000), Model: "m " + theirSecret,
		Failure: &agent.Failure{Message: "no " + ourSecret}, Idle: &agent.Failure{Message: theirSecret},
	}}
	a.mask()
	assert.True(t, strings.HasPrefix(a.reply.Summary, "with *** and long long"), a.reply.Summary)
	assert.LessOrEqual(t, len([]rune(a.reply.Summary)), agent.MaxSummary)
	assert.Equal(t, []string{"m ***", "no ***", "***"},
		[]string{a.reply.Model, a.reply.Failure.Message, a.reply.Idle.Message})
	none := &attempt{reply: agent.Reply{Summary: "as it is"}}
	none.mask()
	assert.Equal(t, agent.Reply{Summary: "as it is"}, none.reply)
}

// auditOf is what an audit finds in the ledger.
func auditOf(events []history.Event) []audit.Finding {
	return slices.DeleteFunc(audit.Of(audit.Records{Events: events}, nil).Findings,
		func(f audit.Finding) bool { return f.Where != audit.Ledger })
}
