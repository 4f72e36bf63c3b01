//go:build unix

package git_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func makePipe(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(path, 0o600))
}
