package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// left is a repository with the state and the branch of a program that ran once
// and whose file is gone.
func left(t *testing.T) *shop { return leftOn(t, "main") }

// leftOn is left with a default branch of another name.
func leftOn(t *testing.T, branch string) *shop {
	t.Helper()
	s := newShop(t)
	s.git("branch", "--move", branch)
	s.file(".autoloop/programs/p.md", "---\n"+changing+"---\n"+goodTarget+evaluation)
	s.file("value.txt", "5\n")
	s.commit()
	a := s.iterate("--program", "p")
	require.Zero(t, a.code, a.errors)
	require.Contains(t, s.git("branch", "--list"), "autoloop/p")
	return s
}

func TestPruneRemovesTheBranchForGood(t *testing.T) {
	s := left(t)
	s.git("rm", "--quiet", "-r", ".autoloop")
	s.commit()
	a := s.iterate("prune", "--yes")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "p: removed: state, branch autoloop/p\n")
	assert.NotContains(t, s.git("branch", "--list"), "autoloop/p")
	s.file(".autoloop/programs/q.md", "---\n"+changing+"---\n"+goodTarget+evaluation)
	s.commit()
	require.Zero(t, s.iterate("--program", "q").code)
	assert.NotContains(t, s.git("branch", "--list"), "autoloop/p", "no later update brings it back")
	assert.Equal(t, "nothing is left of programs that are gone\n", s.iterate("prune").out)
}

func TestPruneKeepsProgramsOfOtherDirectories(t *testing.T) {
	s := newShop(t)
	const text = "---\n" + changing + "---\n" + goodTarget + evaluation
	s.file("tools/programs/p.md", text)
	s.file("tools/programs/gone.md", text)
	s.file("docs/gone.md", "# What gone did\n")
	s.file("value.txt", "5\n")
	s.commit()
	for _, name := range []string{"p", "gone"} {
		a := s.iterate("--program", name, "--programs", "tools/programs")
		require.Zero(t, a.code, a.errors)
	}
	s.git("rm", "--quiet", "tools/programs/gone.md")
	s.commit()
	a := s.iterate("prune", "--yes")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "kept (its file is tools/programs/p.md")
	assert.Contains(t, a.out, "gone: removed: state", "a page that has its name is no program")
	assert.Contains(t, s.git("show", "memory/autoloop:p.md"), "Machine State")
}

func TestPruneKeepsWhatADefaultBranchOfAnyNameHas(t *testing.T) {
	s := leftOn(t, "trunk")
	s.git("checkout", "--quiet", "-b", "feature")
	s.git("rm", "--quiet", "-r", ".autoloop")
	s.commit()
	a := s.iterate("prune", "--yes")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "p: kept (its file is in trunk)")
	assert.Contains(t, s.git("branch", "--list"), "autoloop/p")

	s.git("branch", "main")
	assert.Contains(t, s.iterate("prune", "--yes").out, "p: kept (its file is in ",
		"a branch of the usual name says nothing of the one that the program is for")
	s.git("branch", "--quiet", "-D", "main")
	s.git("checkout", "--quiet", "trunk")
	s.git("merge", "--quiet", "feature")
	assert.Contains(t, s.iterate("prune", "--yes").out, "p: removed", "gone from every branch that a person made")
}

func TestPruneAsksTheRemoteForItsDefaultBranch(t *testing.T) {
	s := left(t)
	s.git("branch", "--move", "main", "trunk")
	shared := t.TempDir()
	s.git("clone", "--quiet", "--bare", ".", shared)
	s.git("--git-dir", shared, "symbolic-ref", "HEAD", "refs/heads/trunk")
	s.git("remote", "add", "origin", shared)
	s.git("checkout", "--quiet", "-b", "main")
	s.git("rm", "--quiet", "-r", ".autoloop")
	s.commit()
	s.git("branch", "--quiet", "-D", "trunk")
	a := s.iterate("prune", "--yes", "--remote", "origin")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "p: kept (its file is in ")
	assert.Contains(t, s.git("--git-dir", shared, "branch", "--list"), "autoloop/p")
}

func TestDirectoryInPlaceOfState(t *testing.T) {
	s := left(t)
	s.git("checkout", "--quiet", "memory/autoloop")
	s.git("rm", "--quiet", "p.md")
	s.file("p.md/file", "x\n")
	s.git("add", "--all")
	s.git("commit", "--quiet", "--message", "odd")
	s.git("checkout", "--quiet", "--force", "main")
	a := s.scheduler()
	assert.Nil(t, s.plan()["selected"], a.out)
	assert.Contains(t, a.out, "is no regular file there (mode 040000)")
	assert.NotContains(t, s.iterate("status").out, "it never ran")
}
