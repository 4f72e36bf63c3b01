package process_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/process"
)

// path is the PATH of the programs that the tests run.
var path = "PATH=" + os.Getenv("PATH")

func TestOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	input := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)

	out := must(process.Output(t.Context(), dir, []string{path}, bytes.NewReader(input), "cat"))
	assert.True(t, bytes.Equal(input, out), "standard input of 4 MiB comes back")

	out = must(process.Output(t.Context(), dir, []string{"A=b"}, nil, "/usr/bin/env"))
	assert.Equal(t, "A=b\n", string(out), "nothing is inherited")

	out = must(process.Output(t.Context(), dir, []string{path}, nil, "pwd"))
	assert.Equal(t, dir, strings.TrimSpace(string(out)))
}

func TestOutputFailure(t *testing.T) {
	t.Parallel()
	out, err := process.Output(t.Context(), t.TempDir(), []string{path}, nil, "sh", "-c",
		"echo half; echo why >&2; exit 3")
	var exit *process.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 3, exit.Code)
	assert.Equal(t, "why\n", string(exit.Stderr))
	assert.Equal(t, "half\n", string(out))
	require.EqualError(t, err, "sh: exit code 3: why")

	_, err = process.Output(t.Context(), t.TempDir(), []string{path}, nil, "no-such-program")
	require.ErrorIs(t, err, process.ErrNotFound)
	_, err = process.Output(t.Context(), t.TempDir(), []string{"PATH=.:"}, nil, "sh")
	require.ErrorIs(t, err, process.ErrNotFound, "relative entries of PATH are not searched")
}

func TestOutputCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := process.Output(ctx, t.TempDir(), []string{path}, nil, "sh", "-c", "sleep 60 | cat")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// must is the value of a call that may not fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
