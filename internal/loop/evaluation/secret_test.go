package evaluation_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/loop/evaluation"
	"github.com/org/autoloop/internal/process"
)

// TestTailCutsNoSecret: wherever the kept end of the output begins, no part of a
// secret is in it.
func TestTailCutsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "abcdefghij0123456789KLMNOPQRST"
	e := &evaluation.Evaluator{Runner: process.NewRunner(), Masker: process.NewMasker([]string{"A_TOKEN=" + secret})}
	script := fmt.Sprintf("printf 'x%%.0s' $(seq 2000) >&2; printf '%%s' %s >&2; printf 'y%%.0s' $(seq 985) >&2; echo 1",
		secret)
	dir := t.TempDir()
	outcome, err := e.Run(t.Context(), evaluation.Request{
		Script: script, Dir: dir, Artifacts: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir},
		Timeout: time.Minute,
	})
	require.NoError(t, err)
	require.Empty(t, outcome.Problem)
	assert.Contains(t, outcome.Tail, "***yyy")
	assert.NotContains(t, outcome.Tail, secret[len(secret)-8:])
}
