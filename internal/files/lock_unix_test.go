//go:build unix

package files_test

import (
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
)

func TestLockHoldsOthersOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := files.Lock(dir)
	require.NoError(t, err)
	_, held, err := files.TryLock(dir, 0)
	require.NoError(t, err)
	assert.True(t, held)
	var let atomic.Bool
	early := make(chan bool)
	go func() {
		release, err := files.Lock(dir)
		tooEarly := err != nil || !let.Load()
		if err == nil {
			release()
		}
		early <- tooEarly
	}()
	for range 1000 {
		runtime.Gosched() // the other is likely waiting by now
	}
	let.Store(true)
	unlock()
	assert.False(t, <-early)
	unlock, held, err = files.TryLock(dir, 0)
	require.NoError(t, err)
	assert.False(t, held)
	unlock()
	_, _, err = files.TryLock(filepath.Join(dir, "none"), 0)
	assert.ErrorIs(t, err, os.ErrNotExist)
}
