package loop

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/metric"
	"github.com/org/autoloop/internal/program"
)

// TestInspections: two runs say whether the evaluation works and repeats itself; where
// it does not, as many follow as a comparison has, but no more than show how it scatters.
// Then the largest target file is broken in both ways.
func TestInspections(t *testing.T) {
	t.Parallel()
	shared := newLab(t)
	noisy := func(c call) evaluation.Result {
		if c.side == "incumbent" {
			return unlike(c)
		}
		return steady(c)
	}
	for name, c := range map[string]struct {
		front   string
		runs    func(call) evaluation.Result
		repeat  bool // no more than the two
		sides   string
		noisy   bool
		regime  string
		samples string
		problem string
	}{
		"steady":                         {"", steady, false, "iieg", false, "repeatable", "1 1", ""},
		"steady, two runs":               {"", steady, true, "ii", false, "repeatable", "1 1", ""},
		"one run is asked for":           {"evaluation-runs: 1", steady, false, "iieg", false, "single", "1 1", ""},
		"one run, and they differ":       {"evaluation-runs: 1", noisy, false, "iieg", true, "single", "4 2", ""},
		"noisy":                          {"", noisy, false, "iiiiiiiieg", true, "noisy", "4 2 8 5 1 4 2 8", ""},
		"noisy, two runs":                {"", noisy, true, "ii", true, "noisy", "4 2", ""},
		"several are asked for":          {"evaluation-runs: 5", steady, false, "iiiiieg", false, "noisy", "1 1 1 1 1", ""},
		"very many are asked for":        {"evaluation-runs: 400", steady, false, strings.Repeat("i", 30) + "eg", false, "noisy", strings.TrimSpace(strings.Repeat("1 ", 30)), ""},
		"many, and two runs":             {"evaluation-runs: 400", steady, true, "ii", false, "noisy", "1 1", ""},
		"it fails":                       {"", spoiled(steady, "incumbent", 0, failure), false, "i", false, "", "", "exit code 3"},
		"it fails the second time":       {"", spoiled(steady, "incumbent", 2, failure), false, "ii", false, "", "", "exit code 3"},
		"it fails later":                 {"", spoiled(noisy, "incumbent", 5, failure), false, "iiiii", true, "noisy", "4 2 8 5", "exit code 3"},
		"it prints null later":           {"", spoiled(noisy, "incumbent", 5, unscored), false, "iiiii", true, "noisy", "4 2 8 5", "not scored: it printed null"},
		"without a guardrail's number":   {guarded, steady, false, "i", false, "", "", `it prints no number "size"`},
		"broken files do not bother it":  {"", func(call) evaluation.Result { return ran("1") }, false, "iieg", false, "repeatable", "1 1", ""},
		"broken files make it fail":      {"", spoiled(spoiled(steady, "emptied", 0, failure), "garbled", 0, failure), false, "iieg", false, "repeatable", "1 1", ""},
		"broken files make a better one": {"", spoiled(steady, "emptied", 0, ran("7")), false, "iieg", false, "repeatable", "1 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _, _ := shared.on(t, c.front, c.runs)
			inspect := l.service.Inspect
			if c.repeat {
				inspect = l.service.Repeat
			}
			before := l.refs()
			got, err := inspect(t.Context())
			require.NoError(t, err)
			l.leavesNothing()
			assert.Equal(t, before, l.refs(), "nothing is written")
			assert.Equal(t, c.sides, l.sides())
			assert.Equal(t, c.noisy, got.Noisy)
			assert.Equal(t, c.regime, got.Rule.Regime)
			assert.Equal(t, c.samples, joined(got.Samples))
			assert.Contains(t, got.Problem, c.problem)
			assert.Equal(t, c.problem == "", got.Problem == "")
			assert.Len(t, got.Broken, strings.Count(c.sides, "e")*2)
			for i, broken := range got.Broken {
				assert.Equal(t, []any{"value.txt", []string{Emptied, Nonsense}[i]}, []any{broken.File, broken.How})
				assert.Equal(t, name == "broken files do not bother it", broken.Unnoticed)
				assert.Equal(t, name == "broken files make a better one" && i == 0, broken.Gain)
				assert.Equal(t, name == "broken files make it fail", broken.Problem != "")
			}
			if c.samples != "" {
				assert.Equal(t, "p", got.Program)
				assert.Equal(t, l.git("rev-parse", "main"), got.Commit)
				assert.Positive(t, got.Prepare)
				assert.Positive(t, got.Seconds)
			}
		})
	}
	l, _, _ := shared.on(t, "", steady)
	l.fails = func(call) error { return os.ErrPermission }
	_, err := l.service.Inspect(t.Context())
	require.ErrorIs(t, err, os.ErrPermission)
	l.leavesNothing()
}

// TestABreakageIsJudged by all that the unchanged files gave.
func TestABreakageIsJudged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, samples string
		direction      metric.Direction
		unnoticed      bool
		gain           bool
	}{
		{"5", "5", metric.Higher, true, false},
		{"5.0", "5", metric.Lower, true, false},
		{"6", "5", metric.Higher, false, true},
		{"6", "5", metric.Lower, false, false},
		{"4", "5", metric.Lower, false, true},
		{"5", "6 4 7", metric.Higher, true, false},
		{"7", "6 4 7", metric.Higher, true, false},
		{"4", "6 4 7", metric.Lower, true, false},
		{"7.5", "6 4 7", metric.Higher, false, true},
		{"3.5", "6 4 7", metric.Higher, false, false},
	} {
		broken := Breakage{Metric: metricOf(c.value)}
		broken.judge(numbers(strings.Fields(c.samples)...), c.direction)
		assert.Equal(t, []bool{c.unnoticed, c.gain}, []bool{broken.Unnoticed, broken.Gain}, "%+v", c)
	}
}

// TestHowFilesAreBroken: to nothing, or so that it is no program in any language; what is
// no file stays, and nothing outside the tree is touched.
func TestHowFilesAreBroken(t *testing.T) {
	t.Parallel()
	for _, how := range []string{Emptied, Nonsense} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir, outside := t.TempDir(), t.TempDir()
			write := func(dir, name, text string) { require.NoError(t, os.WriteFile(dir+"/"+name, []byte(text), 0o700)) } //nolint:gosec // a file of the test
			read := func(name string) string {
				text, err := os.ReadFile(name)
				require.NoError(t, err)
				return string(text)
			}
			write(dir, "a.sh", "echo 1\n")
			write(dir, "b.sh", "echo 2\n")
			write(outside, "c.sh", "echo 3\n")
			require.NoError(t, os.Mkdir(dir+"/sub", 0o700))
			require.NoError(t, os.Symlink(outside+"/c.sh", dir+"/link"))
			require.NoError(t, os.Symlink(outside, dir+"/up"))
			require.NoError(t, breakFiles(dir, how, "a.sh", "new/deep/d.sh", "sub", "link", "a.sh/below"))
			added := map[string]string{Emptied: "", Nonsense: nonsense}[how]
			assert.Equal(t, map[string]string{Emptied: "", Nonsense: "echo 1\n" + nonsense}[how], read(dir+"/a.sh"))
			assert.Equal(t, added, read(dir+"/new/deep/d.sh"), "a file that is not there is made")
			assert.Equal(t, "echo 2\n", read(dir+"/b.sh"))
			assert.DirExists(t, dir+"/sub")
			info, err := os.Stat(dir + "/a.sh")
			require.NoError(t, err)
			assert.NotZero(t, info.Mode()&0o100, "it can be run as before")
			for _, name := range []string{"../c.sh", "up/c.sh", "up/new.sh"} {
				require.Error(t, breakFiles(dir, how, name), name)
			}
			assert.Equal(t, "echo 3\n", read(outside+"/c.sh"))
			assert.NoFileExists(t, outside+"/new.sh")
			require.ErrorIs(t, breakFiles(dir+"/gone", how, "a.sh"), os.ErrNotExist)
			require.NoError(t, breakFiles(dir, how))
		})
	}
}

// TestTheFileThatIsBroken is the first that the script names of those that may change and
// have a content, else the largest of them.
func TestTheFileThatIsBroken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sizes := map[string]int{"small.txt": 1, "large.txt": 30, "larger.txt": 40, "largest.txt": 90, "empty.txt": 0, "sub/a.txt": 20, "bench.sh": 80}
	var entries []git.TreeEntry
	(&bed{t: t}).write(dir, func() map[string]string {
		files := map[string]string{}
		for name, size := range sizes {
			files[name] = strings.Repeat("x", size)
		}
		return files
	}())
	for _, name := range []string{"bench.sh", "empty.txt", "gone.txt", "large.txt", "larger.txt", "largest.txt", "small.txt", "sub/a.txt"} {
		entries = append(entries, git.TreeEntry{Mode: "100644", Path: name})
	}
	entries = append(entries, git.TreeEntry{Mode: "120000", Path: "link.txt"})
	require.NoError(t, os.Symlink("largest.txt", dir+"/link.txt"))
	for name, c := range map[string]struct{ script, targets, want string }{
		"the largest":                     {"make", "`*.txt`", "largest.txt"},
		"the first that is named":         {"cat large.txt small.txt", "`*.txt`", "large.txt"},
		"below a directory":               {"cd sub; cat a.txt", "`**/*.txt`", "sub/a.txt"},
		"named, and it may not change":    {"cat largest.txt small.txt", "`small.txt`", "small.txt"},
		"the evaluation itself is no one": {"sh bench.sh", "`*`", "largest.txt"},
		"named, but empty":                {"cat empty.txt", "`*.txt`", "largest.txt"},
		"named, but gone":                 {"cat gone.txt", "`*.txt`", "largest.txt"},
		"named, but a link":               {"cat link.txt", "`*.txt`", "largest.txt"},
		"of two the larger":               {"make", "`larg?.txt`, `larger.txt`", "larger.txt"},
		"nothing may change":              {"make", "`other/*`", ""},
		"nothing but an empty one":        {"make", "`empty.txt`", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := journalOf(t, "")
			text := strings.NewReplacer("cat value.txt", c.script, "`value.txt`", c.targets, "%s\n", "").Replace(bedProgram)
			j.program = program.Parse(j.program.File, []byte(text))
			require.Empty(t, j.program.Problems)
			assert.Equal(t, c.want, (&measurer{journal: j}).fileToBreak(entries, dir))
		})
	}
}

// TestACandidateThatLeavesNothing has only blank files, or removed them all.
func TestACandidateThatLeavesNothing(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ids, err := l.service.Repo.HashObjects(t.Context(), []byte(""), []byte(" \n\t\n"), []byte("x"))
	require.NoError(t, err)
	file := func(id string) git.DiffEntry { return git.DiffEntry{Path: "f", NewMode: "100644", NewID: id} }
	gone := git.DiffEntry{Path: "g", OldMode: "100644"}
	for name, c := range map[string]struct {
		changes []git.DiffEntry
		want    bool
	}{
		"no change":          {nil, true},
		"a file is gone":     {[]git.DiffEntry{gone}, true},
		"an empty file":      {[]git.DiffEntry{file(ids[0])}, true},
		"a blank file":       {[]git.DiffEntry{gone, file(ids[1]), file(ids[0])}, true},
		"a letter":           {[]git.DiffEntry{file(ids[2])}, false},
		"a letter in one":    {[]git.DiffEntry{file(ids[0]), file(ids[2]), gone}, false},
		"a letter, twice":    {[]git.DiffEntry{file(ids[2]), file(ids[2])}, false},
		"nothing to look at": {[]git.DiffEntry{gone, gone}, true},
	} {
		got, err := leavesNothing(t.Context(), l.service.Repo, c.changes)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, name)
	}
}
