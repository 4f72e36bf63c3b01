package tests

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/github/githubtest"
	"github.com/org/autoloop/tests/long"
)

func TestDoctorRunsTheEvaluationsOfIssuesToo(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"})
	h.program(onIssue)
	h.Change(func(s *githubtest.State) {
		s.OpenIssue("mallory", "Mine", strings.Replace(onIssue, "printf", "touch \"$SIDE/ran\"; printf", 1), time.Now(),
			"autoloop-program")
		noisy := strings.Replace(onIssue, `$(cat value.txt)`,
			`$(cat value.txt).$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')`,
			1)
		s.OpenIssue("alice", "Noisy", noisy, time.Now(), "autoloop-program")
	})
	a := h.binary("iterate", "doctor")
	assert.Regexp(t, `program p +the evaluation runs and repeats itself: 10; a run takes [0-9.e-]+ s, and its tree `+
		`and setup [0-9.e-]+ s`, a.stdout)
	assert.Regexp(t, `program noisy +the evaluation runs and is noisy: \[10\.`, a.stdout)
	assert.Regexp(t, `issue programs +issue #2 is not run +mallory is NONE`, a.stdout)
	assert.NoFileExists(t, filepath.Join(h.side, "ran"))

	a = h.binary("iterate", "doctor", "p")
	require.Zero(t, a.code, a.stderr)
	assert.Contains(t, a.stdout, "one run")
	h.Change(func(s *githubtest.State) { s.Issue(1).Body = strings.Replace(onIssue, "printf", "exit 3; printf", 1) })
	a = h.binary("iterate", "doctor")
	assert.Equal(t, 1, a.code)
	assert.Regexp(t, `FAIL +program p +the evaluation cannot be used`, a.stdout)
}
