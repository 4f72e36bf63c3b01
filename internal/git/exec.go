package git

import (
	"bytes"
	"context"
	"errors"

	"github.com/org/autoloop/internal/command"
)

// start runs git once. An exit code other than 0 is no error here.
func start(ctx context.Context, dir string, env []string, stdin []byte, args []string) (stdout []byte, stderr string, code int, err error) {
	out, err := command.Output(ctx, dir, env, bytes.NewReader(stdin), append([]string{"git"}, args...)...)
	var exit *command.ExitError
	switch {
	case errors.Is(err, command.ErrNotFound):
		return nil, "", 0, ErrNoGit
	case errors.As(err, &exit):
		return out, string(exit.Stderr), exit.Code, nil
	}
	return out, "", 0, err
}
