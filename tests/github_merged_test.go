package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
)

// meanwhile runs an iteration by run, and does something while its agent works.
func (h *hub) meanwhile(run, do func()) {
	h.t.Helper()
	begun, goOn := filepath.Join(h.side, "begun"), filepath.Join(h.side, "go-on")
	done := make(chan struct{})
	var ended atomic.Bool
	go func() {
		defer close(done)
		defer func() { assert.NoError(h.t, os.WriteFile(goOn, nil, 0o600)) }() // also when do ends the test
		for h.t.Context().Err() == nil && !ended.Load() {
			if _, err := os.Stat(begun); err == nil {
				do()
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	run()
	ended.Store(true)
	<-done
}

// waitingAtTwo is onIssue whose agent waits for duringTheAgent at iteration 2.
func waitingAtTwo() string {
	return strings.Replace(onIssue, "  value=",
		"  [ \"$AUTOLOOP_ITERATION\" != 2 ] || { touch \"$SIDE/begun\"; while [ ! -e \"$SIDE/go-on\" ]; do sleep "+
			"0.05; done; }\n  value=", 1)
}

// deletes merges a pull request as a repository does that deletes its branch then;
// GitHub keeps the commits.
func (h *hub) deletes(pull int) {
	for _, args := range [][]string{
		{"git", "-C", h.bare, "update-ref", fmt.Sprintf("refs/pull/%d/head", pull), "refs/heads/autoloop/p"},
		{"git", "-C", h.bare, "update-ref", "-d", "refs/heads/autoloop/p"},
	} {
		cmd := exec.CommandContext(h.t.Context(), args[0], args[1:]...)
		cmd.Env = h.env
		out, err := cmd.CombinedOutput()
		assert.NoError(h.t, err, "%v: %s", args, out)
	}
}
