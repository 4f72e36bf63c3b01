package git

import (
	"bytes"
	"context"
	"errors"

	"github.com/org/autoloop/internal/process"
)

// start runs one git process to its end. A failure of git's own is an exit
// code, anything else an error.
func start(ctx context.Context, dir string, env []string, stdin []byte, args []string) (stdout []byte, stderr string,
	code int, err error,
) {
	stdout, err = process.Output(ctx, dir, env, bytes.NewReader(stdin), append([]string{"git"}, args...)...)
	var exit *process.ExitError
	switch {
	case errors.Is(err, process.ErrNotFound):
		return nil, "", 0, ErrNoGit
	case errors.As(err, &exit):
		return stdout, string(exit.Stderr), exit.Code, nil
	}
	return stdout, "", 0, err
}
