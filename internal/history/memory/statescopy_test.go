package memory_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/tests/golden"
)

// copyOf is a directory with these files, as a checkout of the branch has them; a text that
// begins with "-> " is a link, a name that ends in a slash a directory.
func copyOf(t *testing.T, all ...map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, texts := range all {
		for name, text := range texts {
			file := filepath.Join(dir, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			target, link := strings.CutPrefix(text, "-> ")
			switch {
			case strings.HasSuffix(name, "/"):
				require.NoError(t, os.MkdirAll(file, 0o755))
			case link:
				require.NoError(t, os.Symlink(target, file))
			default:
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			}
		}
	}
	return dir
}

// TestPlacesOfStates: from a copy where there is one, else from the branch, else from
// nowhere.
func TestPlacesOfStates(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	dir := copyOf(t, map[string]string{"p.md": "copied\n", "q.md": "", "file": "x"})
	names := []string{"p", "q", "r"}
	load := func(s *memory.States) map[string][]byte {
		t.Helper()
		found, _, err := s.Load(t.Context(), names)
		require.NoError(t, err)
		return found
	}
	copied := &memory.States{Dir: dir}
	assert.Equal(t, map[string][]byte{"p": []byte("copied\n"), "q": {}}, load(copied), "an empty state is there")
	assert.False(t, copied.OnBranch())
	assert.Empty(t, load(&memory.States{}), "outside of a repository")
	assert.Empty(t, load(&memory.States{Dir: filepath.Join(dir, "gone")}))

	young := &memory.States{Branch: c.Memory}
	assert.Empty(t, load(young), "no branch yet")
	others, err := young.Others(t.Context(), names)
	require.NoError(t, err)
	assert.Empty(t, others)
	log, err := young.Ledger(t.Context(), "p")
	require.NoError(t, err)
	assert.Nil(t, log)

	c.begin(map[string]string{"p.md": "branch\n", "s.md": "other\n"})
	for _, place := range []string{"", filepath.Join(dir, "gone"), filepath.Join(dir, "file")} {
		s := &memory.States{Dir: place, Branch: c.Memory}
		assert.Equal(t, map[string][]byte{"p": []byte("branch\n")}, load(s), place)
		assert.True(t, s.OnBranch())
		assert.Empty(t, s.Warnings)
	}
	both := &memory.States{Dir: dir, Branch: c.Memory}
	assert.Equal(t, map[string][]byte{"p": []byte("copied\n"), "q": {}}, load(both))
	assert.False(t, both.OnBranch())
	assert.Len(t, both.Warnings, 1)
}

// TestStatesThatCannotBeReadKeepNoOtherBack: it is said whose they are and why, and those
// of the other programs are read.
func TestStatesThatCannotBeReadKeepNoOtherBack(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	all := map[string]string{"p.md": "one\n", "q.md": "two\n", "dir.md/x": "x", "loop.md": "-> loop.md"}
	c.begin(all)
	for name, s := range map[string]memory.States{
		"branch": {Branch: c.Memory}, "copy": {Branch: c.Memory, Dir: copyOf(t, all)},
	} {
		found, failed, err := s.Load(t.Context(), []string{"p", "gone", "dir", "q", "loop"})
		require.NoError(t, err, name)
		assert.Equal(t, map[string][]byte{"p": []byte("one\n"), "q": []byte("two\n")}, found, name)
		require.Len(t, failed, 2, name)
		for program, says := range map[string]string{"dir": "040000", "loop": "120000"} {
			if name == "branch" {
				says = "it is no regular file there (mode " + says + "); remove it, or put the state back"
				require.EqualError(t, failed[program], says)
			} else {
				require.ErrorContains(t, failed[program], "read state of ")
			}
		}
		assert.Empty(t, s.Warnings, "the copy has the same states")
		others, err := s.Others(t.Context(), []string{"p"})
		require.NoError(t, err)
		assert.Len(t, others, 1, "what cannot be read is left out: %s", name)
	}
}

// TestLedgersBesideStates: the same from the branch and from a copy of it; a program that
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
	for place, s := range map[string]*memory.States{"branch": {Branch: c.Memory}, "copy": {Dir: copyOf(t, all)}} {
		_, _, err := s.Load(t.Context(), nil)
		require.NoError(t, err)
		log, err := s.Ledger(t.Context(), "p")
		require.NoError(t, err, place)
		var keys []string
		for e := range history.Of[*history.Set](slices.All(log.Events)) {
			keys = append(keys, e.Key)
		}
		assert.Equal(t, []string{"a", "b", "c", "d"}, keys, place)
		for name := range broken {
			log, err := s.Ledger(t.Context(), name)
			require.Error(t, err, "%s: %s", place, name)
			assert.Nil(t, log, "%s: %s", place, name)
			assert.Contains(t, err.Error(), "000003.json", "%s: %s", place, name)
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
	c.begin(map[string]string{"p.md": "one\n", "q.md": "one\n"})
	dir := copyOf(t, map[string]string{"p.md": "one\n", "q.md": "one\n", "of-no-branch.md": "x"})
	warnings := func(branch *memory.Memory) string {
		s := memory.States{Dir: dir, Branch: branch}
		_, _, err := s.Load(t.Context(), []string{"p", "q", "of-no-branch"})
		require.NoError(t, err)
		return strings.ReplaceAll(strings.Join(s.Warnings, "\n"), dir, "DIR")
	}
	assert.Empty(t, warnings(c.Memory))
	c.begin(map[string]string{"p.md": "two\n", "q.md": "two\n"})
	golden.Row(t, "two", warnings(c.Memory))
	assert.Empty(t, warnings(nil), "outside of a repository")
	c.user("update-ref", "-d", memoryRef)
	assert.Empty(t, warnings(c.Memory), "no branch that it could be behind")
}
