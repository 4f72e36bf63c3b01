package testbox_test

import (
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
	template, err := sandbox.Compose(t.Context(), filepath.Join(base, "template"), "x", nil, nil)
	require.NoError(t, err)
	box, err := testbox.Maker().Open(t.Context(), filepath.Join(base, "box"), template, []string{"A=1"})
	require.NoError(t, err)
	assert.DirExists(t, box.Home)
	assert.Subset(t, box.Env, []string{"HOME=" + box.Home, "A=1"})
	require.NoError(t, box.Close())
	assert.NoDirExists(t, box.Dir)
}
