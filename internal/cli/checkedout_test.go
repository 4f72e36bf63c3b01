package cli_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAProgramBranchThatIsCheckedOutIsAnErrorOfTheProgram(t *testing.T) {
	s := left(t)
	s.file(".autoloop/programs/q.md", "---\n"+changing+"---\n"+goodTarget+evaluation)
	s.commit()
	s.git("worktree", "add", "--quiet", filepath.Join(t.TempDir(), "elsewhere"), "autoloop/p")
	for range 3 {
		require.Zero(t, s.scheduler("--program", "p").code)
		a := s.iterate()
		assert.NotZero(t, a.code)
		assert.Contains(t, a.errors, "branch autoloop/p is checked out in ")
	}
	state := s.git("show", "memory/autoloop:p.md")
	assert.Contains(t, state, "| Consecutive Errors | 3 |")
	assert.Contains(t, state, "| Paused | true |")
	assert.Contains(t, state, "is checked out in ")
}
