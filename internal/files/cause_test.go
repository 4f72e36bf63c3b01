package files_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/files"
)

func TestCauseHasNoPaths(t *testing.T) {
	t.Parallel()
	_, err := os.Open("/no/such/place")
	assert.NotContains(t, files.Cause(err).Error(), "/")
	require.ErrorIs(t, files.Cause(err), fs.ErrNotExist)
	assert.Equal(t, files.Cause(err), files.Cause(fmt.Errorf("read it: %w", err)),
		"the words around it name the file too")
	other := errors.New("other")
	assert.Equal(t, other, files.Cause(other))
}
