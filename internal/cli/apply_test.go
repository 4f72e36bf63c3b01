package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keptShop is a shop whose program p kept two gains, 446 → 440 → 432.
func keptShop(t *testing.T) *shop {
	t.Helper()
	s := newShop(t)
	s.file(".autoloop/programs/p.md",
		"---\nagent: command\nagent-command: sed -n ${AUTOLOOP_ITERATION}p tries > value.txt\n"+
			"metric_direction: lower\nevaluation-runs: 1\nisolation: off\n---\n"+goodTarget+evaluation)
	s.file("value.txt", "446\n")
	s.file("tries", "440\n450\n432\n")
	s.commit()
	a := s.iterate("--program", "p", "-n", "3")
	require.Zero(t, a.code, a.errors)
	return s
}

// TestApplySaysWhatIsGained: before anything is merged, and also of what was not
// merged before.
func TestApplySaysWhatIsGained(t *testing.T) {
	t.Parallel()
	s := keptShop(t)
	a := s.iterate("apply", "p")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "\n446 → 432 in 2 commits\nnothing was merged\n")
	s.git("merge", "--quiet", "--no-edit", "autoloop/p~1")
	a = s.iterate("apply", ".autoloop/programs/p.md", "--yes")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "\n440 → 432 in 1 commit\n")
	assert.Equal(t, "432\n", s.git("show", "HEAD:value.txt"))
	assert.Contains(t, s.iterate("apply", "p").out, "autoloop/p is merged already")
}

// TestApplySaysNoNumberOfAnotherCommit: what was undone has taken its gain with it.
func TestApplySaysNoNumberOfAnotherCommit(t *testing.T) {
	t.Parallel()
	s := keptShop(t)
	a := s.iterate("undo", "p", "3")
	require.Zero(t, a.code, a.errors)
	a = s.iterate("apply", "p")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "\n3 commits, not all of them measured and kept yet\nnothing was merged\n")
	s.file("tries", "440\n450\n432\n500\n")
	s.git("commit", "--quiet", "--all", "--message", "another try")
	a = s.iterate("--program", "p")
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, s.iterate("apply", "p").out, "\n446 → 440 in 1 commit\n", "what was undone does not count")
}

// TestFlagIsShownBeforeMerge: by apply, and in the list of the log.
func TestFlagIsShownBeforeMerge(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.file(".autoloop/programs/p.md",
		"---\nagent: command\nagent-command: echo 4 > value.txt\nmetric_direction: lower\nevaluation-runs: 1\n"+
			"isolation: off\n---\n"+goodTarget+evaluation)
	s.file("value.txt", "446\n")
	s.commit()
	a := s.iterate("--program", "p")
	require.Zero(t, a.code, a.errors)
	const flag = "flagged: 446 → 4 is a jump"
	for _, words := range [][]string{{"apply", "p"}, {"log", "p"}} {
		a = s.iterate(words...)
		require.Zero(t, a.code, a.errors)
		assert.Contains(t, a.out, flag, words)
		assert.NotContains(t, a.out, "held", "it was kept")
	}
}

// TestNamesAndFilesAlike: each command takes a program by its name and by its
// file, and says what was probably meant.
func TestNamesAndFilesAlike(t *testing.T) {
	t.Parallel()
	s := keptShop(t)
	s.file(".autoloop/programs/speed/program.md", "---\n"+changing+"---\n"+goodTarget+evaluation)
	s.commit()
	for _, c := range []struct {
		run    func(...string) answer
		before []string
	}{
		{s.iterate, []string{"validate"}},
		{s.iterate, []string{"replay"}},
		{s.iterate, []string{"apply"}},
		{s.iterate, []string{"log"}},
		{s.iterate, []string{"doctor"}},
		{s.iterate, []string{"--dry-run", "--program"}},
	} {
		for _, word := range []string{"p", ".autoloop/programs/p.md", s.root + "/.autoloop/programs/p.md"} {
			a := c.run(append(c.before, word)...)
			assert.Zero(t, a.code, "%v %s: %s", c.before, word, a.errors)
		}
		for _, word := range []string{"spede", ".autoloop/programs/spede.md"} {
			a := c.run(append(c.before, word)...)
			assert.Equal(t, 2, a.code, "%v %s", c.before, word)
			assert.Contains(t, a.errors, `; did you mean "speed"?`, "%v %s", c.before, word)
		}
	}
	a := s.iterate("validate", "speed", ".autoloop/programs/speed")
	assert.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, ".autoloop/programs/speed/program.md: ok")
}

// TestApplyShowsWhatATerminalWouldObey: nothing of a candidate is obeyed where its diff is read.
func TestApplyShowsWhatATerminalWouldObey(t *testing.T) {
	t.Parallel()
	s := keptShop(t)
	s.git("switch", "--quiet", "autoloop/p")
	s.file("value.txt", "432 \x1b]8;;http://evil.test\x07\u202e\x1b[8m\n")
	s.git("commit", "--quiet", "--all", "--message", "hide")
	s.git("switch", "--quiet", "main")
	a := s.iterate("apply", "p", "--yes")
	require.Zero(t, a.code, a.errors)
	for _, hidden := range []string{"\x1b", "\x07", "\u202e"} {
		assert.NotContains(t, a.out, hidden)
	}
	assert.Contains(t, a.out, "+432 ␛]8;;http://evil.test␇<U+202E>␛[8m\n")
	assert.NotContains(t, a.out, "Fast-forward", "git's own words")
	assert.Contains(t, a.out, "autoloop/p is merged\n")
}
