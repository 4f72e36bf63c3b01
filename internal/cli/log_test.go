package cli_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLogLooksWhereARunWrote: with --dir an iteration's output is somewhere else, and
// with the same --dir it is found there.
func TestLogLooksWhereARunWrote(t *testing.T) {
	t.Parallel()
	s := shopOf(t, "agent: command\nagent-command: echo 4 > value.txt\nmetric_direction: lower\nevaluation-runs: 1\n"+
		"isolation: off\n")
	dir := t.TempDir()
	a := s.iterate("--program", "p", "--dir", dir)
	require.Zero(t, a.code, a.errors)
	a = s.iterate("log", "p", "1", "--dir", dir)
	require.Zero(t, a.code, a.errors)
	assert.Contains(t, a.out, "\nall that its evaluations printed:\n  "+dir)
	a = s.iterate("log", "p", "1")
	require.Zero(t, a.code, a.errors)
	assert.NotContains(t, a.out, dir)
}
