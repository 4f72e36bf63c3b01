package loop

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/process"
)

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
	at.Base, at.BaseBranch = at.Head, "main"
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
	r.recorder.Masker = process.NewMasker(nil, secret, "value.txt")
	for name, c := range map[string]struct {
		files map[string]*git.File
		says  string // "" when it is taken
	}{
		"nothing": {nil, "no change proposed"},
		"a link that leaves": {
			map[string]*git.File{"new": linkTo("../x")},
			`"new": is a link that leaves the tree`,
		},
		"a filter below": {
			map[string]*git.File{"d/.gitattributes": fileOf("* filter=x\n")},
			`"d/.gitattributes": chooses a filter`,
		},
		"a secret": {
			map[string]*git.File{"value.txt": fileOf("1\n" + secret)},
			"it has a secret of this job in it",
		},
		"a secret as a name":      {map[string]*git.File{secret: fileOf("x")}, "it has a secret of this job in it"},
		"a secret that was there": {map[string]*git.File{"known.txt": fileOf("my token " + secret + "\n")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			candidate := b.treeOf(at.Head, c.files)
			p := r.proposer.newProposal(proposal.Iteration, at)
			p.Candidate, p.Decided = candidate, &history.Decided{Outcome: history.Accepted}
			p.Decided.Changed, p.Decided.Digest, p.Decided.LeavesNothing = []string{"forged"}, "forged", true
			err := r.recorder.verifyCandidate(t.Context(), at, at.Head, p)
			requireRefusal(t, err, c.says, name)
			if err != nil {
				assert.NotContains(t, err.Error(), secret)
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
	verify := func(candidate string) (*proposal.Proposal, error) {
		p := r.proposer.newProposal(proposal.Fix, at)
		p.Candidate, p.Decided = candidate, &history.Decided{Outcome: history.PendingCI}
		return p, r.recorder.verifyCandidate(t.Context(), at, on, p)
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
		p := r.proposer.newProposal(proposal.Iteration, at)
		p.Candidate, p.Decided = b.treeOf(at.Head, c.files),
			&history.Decided{Outcome: history.Accepted, LeavesNothing: !c.want}
		if c.held {
			p.Measured = []history.Event{&history.Measured{Role: history.Emptied, Stage: decision.Held}}
		}
		require.NoError(t, r.recorder.verifyCandidate(t.Context(), at, at.Head, p), name)
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
	write := func(candidate string, files ...proposal.File) error {
		return r.recorder.writeCandidate(t.Context(), at.Head,
			&proposal.Proposal{Manifest: proposal.Manifest{Candidate: candidate}, Files: files})
	}
	require.NoError(t, write(candidate, files...))
	before := b.refs()
	and := func(more proposal.File) []proposal.File { return append(slices.Clone(files), more) }
	for name, c := range map[string]struct {
		candidate string
		files     []proposal.File
		says      string
	}{
		"for another tree": {
			b.treeOf(at.Head, map[string]*git.File{"value.txt": fileOf("3\n")}), files,
			"it brings other files than those that were measured",
		},
		"a file more": {candidate, and(proposal.File{Path: "more", Mode: git.ModeFile}), "it brings other files"},
		"upwards": {
			candidate, and(proposal.File{Path: "../value.txt", Mode: git.ModeFile}),
			"its files cannot be written",
		},
		"a mode of two rows": {
			candidate, and(proposal.File{Path: "more", Mode: "100644\x00"}),
			"is no regular file and no link",
		},
	} {
		requireRefusal(t, write(c.candidate, c.files...), c.says, name)
	}
	assert.Equal(t, before, b.refs())
	assert.Empty(t, b.git("status", "--porcelain"), "the user's index and files are not touched")
}
