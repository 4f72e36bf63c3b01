package sandbox_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChangesOfAHostileAgent(t *testing.T) {
	t.Parallel()
	box, in := open(t, newDir(t, map[string]string{"a": "1\n"}), nil)
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", in.at("pipe")).Run())
	deep := in.path + strings.Repeat("/d", 200)
	require.NoError(t, os.MkdirAll(deep, 0o755))
	in.put("big", "", 0o644)
	require.NoError(t, os.Truncate(in.at("big"), 3<<30))
	changes, err := box.Changes(t.Context())
	require.NoError(t, err)
	assert.Contains(t, changes.Diff, "Binary files /dev/null and b/pipe")
	assert.Contains(t, changes.Diff, "Binary files /dev/null and b/big differ")
}

// TestChangesThatCannotBeLookedAt are errors.
func TestChangesThatCannotBeLookedAt(t *testing.T) {
	t.Parallel()
	box, in := open(t, newDir(t, map[string]string{"a": "x\n"}), nil)
	in.put("b", "x\n", 0o644)
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(stopped)
	_, err := box.Changes(ctx)
	require.ErrorIs(t, err, stopped)
	require.NoError(t, os.RemoveAll(filepath.Join(filepath.Dir(filepath.Dir(box.Dir)), "template")))
	_, err = box.Changes(t.Context())
	require.ErrorIs(t, err, fs.ErrNotExist, "of what it is compared with nothing is left")
}
