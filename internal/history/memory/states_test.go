package memory_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/tests/golden"
	"github.com/org/autoloop/tests/testdir"
)

// load has the states of a copy, of a branch, or of one of them.
func load(t *testing.T, dir string, branch *memory.Memory) *memory.States {
	t.Helper()
	s := &memory.States{Dir: dir, Branch: branch}
	require.NoError(t, s.Load(t.Context()))
	return s
}

// TestPlacesOfStates: from a copy where there is one, else from the branch, else from
// nowhere.
func TestPlacesOfStates(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	dir := testdir.New(t, testdir.Files{"p.md": "copied\n", "q.md": "", "file": "x"})
	gone, other := filepath.Join(dir, "gone"), filepath.Join(dir, "file")
	copied := map[string][]byte{"p": []byte("copied\n"), "q": {}} // an empty state is there
	young := load(t, "", c.Memory)
	assert.Empty(t, young.Texts, "no branch yet")
	log, err := young.Ledger(t.Context(), "p")
	require.NoError(t, err)
	assert.Nil(t, log)
	c.begin(map[string]string{"p.md": "branch\n", "s.md": "other\n"})
	branch := map[string][]byte{"p": []byte("branch\n"), "s": []byte("other\n")}
	for _, test := range []struct {
		dir    string
		branch *memory.Memory
		want   map[string][]byte
	}{
		{dir, nil, copied},
		{"", nil, nil},
		{gone, nil, nil},
		{"", c.Memory, branch},
		{gone, c.Memory, branch},
		{other, c.Memory, branch},
		{dir, c.Memory, copied},
	} {
		s := load(t, test.dir, test.branch)
		assert.Equal(t, test.want, s.Texts)
		assert.Equal(t, test.dir == dir, s.Copied)
		assert.Equal(t, s.Copied && test.branch != nil, len(s.Warnings) > 0)
	}
}

// TestStatesThatCannotBeReadKeepNoOtherBack: it is said whose they are and why, and those
// of the other programs are read.
func TestStatesThatCannotBeReadKeepNoOtherBack(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	all := map[string]string{"p.md": "one\n", "q.md": "two\n", "dir.md/x": "x", "loop.md": "-> loop.md"}
	c.begin(all)
	dir := testdir.New(t, all)
	for place, s := range map[string]*memory.States{"branch": load(t, "", c.Memory), "copy": load(t, dir, nil)} {
		assert.Equal(t, map[string][]byte{"p": []byte("one\n"), "q": []byte("two\n")}, s.Texts, place)
		require.Len(t, s.Failed, 2, place)
		for _, program := range []string{"dir", "loop"} {
			require.ErrorContains(t, s.Failed[program], "file")
		}
	}
	require.NoError(t, os.Truncate(filepath.Join(dir, "p.md"), 65<<20))
	assert.ErrorContains(t, load(t, dir, nil).Failed["p"], "bytes")
}

// TestLedgersBesideStates: they are the branch's, also where there is a copy; a program that
// never ran has none.
func TestLedgersBesideStates(t *testing.T) {
	t.Parallel()
	const at = ".iterations/000/00000"
	all := map[string]string{
		"p" + at + "0.json": iteration(0, "a"), "p" + at + "1.json": iteration(1, "b", "c"),
		"p.iterations/001/001000.json": iteration(1000, "d"),
		"p.iterations/README":          "{", "p.iterations/000/1.json": "{", "p.iterations/001/000001.json": "{",
		"p" + at + "0.json.bak": "{", // are not ours
	}
	broken := map[string]string{
		"a-link": "-> ../../p.iterations/000/000000.json", "a-link-without-end": "-> /dev/zero", "no-JSON": "{\n",
		"another":            iteration(4, "a"),
		"of-a-newer-version": strings.Replace(iteration(3), `"schema":1`, `"schema":3`, 1),
	}
	for name, text := range broken {
		all[name+at+"0.json"], all[name+at+"3.json"] = iteration(0), text
	}
	all["a-directory"+at+"3.json/x"] = "x"
	c := newCheckout(t)
	c.begin(all)
	for place, s := range map[string]*memory.States{
		"branch": load(t, "", c.Memory), "copy": load(t, t.TempDir(), c.Memory),
	} {
		log, err := s.Ledger(t.Context(), "p")
		require.NoError(t, err, place)
		assert.Equal(t, []string{"a", "b", "c", "d"}, keys(log), place)
		for name := range broken {
			log, err := s.Ledger(t.Context(), name)
			require.ErrorContains(t, err, "000003.json", "%s: %s", place, name)
			assert.Nil(t, log, "%s: %s", place, name)
		}
		log, err = s.Ledger(t.Context(), "gone")
		require.NoError(t, err)
		assert.Nil(t, log, place)
	}
}

// TestCopiesThatAreBehindAreSaid: a copy is told by its states.
func TestCopiesThatAreBehindAreSaid(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	copied := map[string]map[string]string{
		"the same":          {"p.md": "one\n", "q.md": "two\n"},
		"of a new program":  {"p.md": "one\n", "s.md": "four\n"},
		"two older ones":    {"q.md": "2\n", "r.md": "3\n"},
		"another last line": {"p.md": "one"},
	}
	says := func(branch *memory.Memory, files map[string]string) string {
		s := load(t, testdir.New(t, files), branch)
		return strings.ReplaceAll(strings.Join(s.Warnings, "\n"), s.Dir, "DIR")
	}
	assert.Empty(t, says(c.Memory, copied["two older ones"]), "no branch that it could be behind")
	c.begin(map[string]string{"p.md": "one\n", "q.md": "two\n", "r.md": "three\n"})
	for name, files := range copied {
		golden.Row(t, name, says(c.Memory, files))
	}
	assert.Empty(t, says(nil, copied["two older ones"]), "outside of a repository")
}
