package loop

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/prompt"
)

// parsed is a program with these lines of frontmatter, this target and this script.
func parsed(t *testing.T, front, target, script string) *program.Program {
	t.Helper()
	p := program.Parse(".autoloop/programs/p.md",
		fmt.Appendf(nil, "---\n%s\n---\n## Goal\nx\n## Target\n%s\n## Evaluation\n```sh\n%s\n```\n", front,
			target, script))
	require.Empty(t, p.Problems)
	return p
}

// TestSummaryOfAnAttempt is what the agent says, in a line without links, else what it
// changed.
func TestSummaryOfAnAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said    string
		changed []string
		want    string
	}{
		{"made it faster", []string{"a"}, "made it faster"},
		{"", []string{"a"}, "change a"},
		{" \n", []string{"a", "b", "c"}, "change a, b, c"},
		{"", []string{"a", "b", "c", "d"}, "change a, b, c"},
	} {
		assert.Equal(t, c.want, summary(c.said, c.changed))
	}
	long := summary(strings.Repeat("long ", 100), nil)
	assert.LessOrEqual(t, len([]rune(long)), 170)
	for _, said := range []string{"fixes #12", "@somebody look", "[x](https://example.com)", "<!-- x -->"} {
		assert.NotContains(t, summary(said, nil), said, "nobody is told by it")
	}
	assert.NotContains(t, summary("", []string{"a\nb"}), "\n")
}

// TestProtectedFilesOfCandidates names the files that the target opens all the same.
func TestProtectedFilesOfCandidates(t *testing.T) {
	t.Parallel()
	entries := func(paths ...string) (list []git.TreeEntry) {
		for _, path := range paths {
			list = append(list, git.TreeEntry{Mode: git.ModeFile, Path: path})
		}
		return list
	}
	for name, c := range map[string]struct {
		front, target, script string
		files                 []git.TreeEntry
		want                  []string
	}{
		"everything": {
			"", "- `**`", "sh run.sh",
			entries("run.sh", "src/a", ".autoloop/programs/p.md"),
			[]string{"run.sh", ".autoloop/programs/p.md"},
		},
		"what it protects itself": {
			"", "- `src/**`\n\nDo NOT modify `src/x` and `src/y/*`.", "true",
			entries("src/a"),
			[]string{"src/x", "src/y/*"},
		},
		"a script that the frontmatter opens": {
			"target: [run.sh, src/a]", "x", "sh run.sh", entries("run.sh", "src/a"),
			[]string{},
		},
	} {
		r := &run{thread: threadOf(&journal{session: sessionOf(parsed(t, c.front, c.target, c.script))})}
		assert.Equal(t, c.want, r.never(position{entries: c.files}), name)
	}
}

// TestUsageOfAll: what is unknown of one is unknown of all, and the order does not matter.
func TestUsageOfAll(t *testing.T) {
	t.Parallel()
	five, seven := int64(5), int64(7)
	known := func(tokens *int64) *attempt {
		a := &attempt{agent: agentNamed("a")}
		a.Usage = &metric.Usage{InputTokens: tokens}
		return a
	}
	tuned := func() *attempt {
		a := known(nil)
		a.agent = agent.Tuner{}
		return a
	}
	for name, c := range map[string]struct {
		all  []*attempt
		want *int64
	}{
		"the tuner alone":      {[]*attempt{tuned()}, nil},
		"two":                  {[]*attempt{known(&five), known(&seven)}, new(int64(12))},
		"one does not say":     {[]*attempt{known(&five), known(nil)}, nil},
		"one that never began": {[]*attempt{known(nil)}, nil},
	} {
		assert.Equal(t, c.want, together(c.all).Usage.InputTokens, name)
	}
	assert.Equal(t, int64(5), five, "what each used stays")
}

// TestTakeNotes: the agent's file is read and goes, unless it is the repository's own or is
// no regular file; nothing secret is taken, also where only a part of it is read.
func TestTakeNotes(t *testing.T) {
	t.Parallel()
	const secret, directory, link = "hunter2-hunter2-hunter2", "directory", "link"
	filler := func(size int) string { return strings.Repeat("x", size-1) + "\n" }
	for name, c := range map[string]struct {
		text    string
		tracked bool
		want    history.Notes
		stays   bool
	}{
		"notes": {
			text: "LESSON: one\nIDEA: two\nFORECLOSED: three\n",
			want: history.Notes{Lessons: []string{"one"}, Ideas: []string{"two"}, Foreclosed: []string{"three"}},
		},
		"the repository's own":       {text: "LESSON: one\n", tracked: true, stays: true},
		"a link":                     {text: link, stays: true},
		"what is beyond is not read": {text: filler(prompt.MaxNotes) + "LESSON: one\n"},
		"a secret at the end of it": {
			text: filler(prompt.MaxNotes-20) + "LESSON: a " + secret + " ok\n",
			want: history.Notes{Lessons: []string{"a *** ok"}},
		},
	} {
		around := t.TempDir()
		dir := filepath.Join(around, "tree")
		path := filepath.Join(dir, prompt.NotesFile)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(around, "outside.txt"), []byte("LESSON: stolen\n"), 0o600))
		switch c.text {
		case directory:
			require.NoError(t, os.Mkdir(path, 0o700))
		case link:
			require.NoError(t, os.Symlink("../outside.txt", path))
		default:
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		}
		at := position{}
		if c.tracked {
			at.entries = []git.TreeEntry{{Mode: git.ModeFile, Path: prompt.NotesFile}}
		}
		assert.Equal(t, !c.tracked, handsBack(at), name)
		for range 2 {
			got, err := takeNotes(at, dir, process.NewMasker(nil, secret))
			require.NoError(t, err, name)
			assert.Equal(t, c.want, got, name)
			_, err = os.Lstat(path)
			assert.Equal(t, c.stays, err == nil, name)
			c.want = history.Notes{} // they are taken once
		}
	}
	_, err := takeNotes(position{}, filepath.Join(t.TempDir(), "gone"), process.Masker{})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestSuiteIsPartOfEvaluator(t *testing.T) {
	t.Parallel()
	p := program.Parse("p.md", []byte("---\nskill: s\n---\n## Target\n`s/`\n"))
	r := &journal{session: &session{Service: &Service{Program: p}}}
	hash := func(evals, skill string) string {
		found, err := r.identify([]git.TreeEntry{
			{Path: "s/SKILL.md", ID: skill},
			{Path: "s/evals/evals.json", ID: evals},
		})
		require.NoError(t, err)
		return found.Evaluator
	}
	assert.Equal(t, hash("a", "1"), hash("a", "2"))
	assert.NotEqual(t, hash("a", "1"), hash("b", "1"))
}

// TestEachProposalIsATrial of its own, where an iteration had several.
func TestEachProposalIsATrial(t *testing.T) {
	t.Parallel()
	decided := func(iteration int, definition string) history.Attempt {
		return history.Attempt{Decided: &history.Decided{
			Head: history.Head{Iteration: iteration}, Definition: definition,
		}}
	}
	proposed := &history.Proposed{Decided: *decided(2, "d").Decided}
	past := &records{Summary: history.Summary{
		Attempts:  []history.Attempt{decided(1, "d"), decided(2, "d"), decided(3, "")},
		Proposals: []*history.Proposed{proposed, proposed},
	}}
	var told []int
	trials, _ := past.trials("d")
	for _, trial := range trials {
		told = append(told, trial.Iteration)
	}
	assert.Equal(t, []int{1, 2, 2}, told)
}
