package testbox_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/suite/sandbox"
	"github.com/org/autoloop/tests/testbox"
)

func TestSandboxHasAHome(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	empty := func(ctx context.Context, dir string) (*sandbox.Template, error) {
		return sandbox.Compose(ctx, dir, "x", nil, nil)
	}
	box, err := testbox.Maker().Open(t.Context(), filepath.Join(base, "box"), empty, []string{"A=1"})
	require.NoError(t, err)
	assert.DirExists(t, box.Home)
	assert.Subset(t, box.Env, []string{"HOME=" + box.Home, "A=1"})
	require.NoError(t, box.Close())
	assert.NoDirExists(t, box.Dir)
}
