package setup

import (
	"context"
	"embed"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/process"
)

// DemoProgram is the program of the demo: the round trip of a courier.
const DemoProgram = "round"

// DemoBest is the shortest trip, in minutes.
const DemoBest = 197

//go:embed all:demo
var demoFiles embed.FS

// DemoRepository writes the program of the demo with all that it needs, and makes
// the first commit.
func DemoRepository(ctx context.Context, dir string, environ []string, now time.Time) error {
	root, err := fs.Sub(demoFiles, "demo")
	if err == nil {
		err = os.CopyFS(dir, root)
	}
	if err != nil {
		return err
	}
	date := now.UTC().Format(time.RFC3339)
	// Nothing else speaks to git.
	environ = slices.DeleteFunc(slices.Clone(environ),
		func(variable string) bool { return strings.HasPrefix(variable, "GIT_") })
	environ = append(environ, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	for _, args := range [][]string{
		{"git", "init", "--quiet", "--initial-branch=main"},
		{"git", "add", "--all"},
		{
			"git", "-c", "user.name=Demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgSign=false",
			"-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", "Start the demo",
		},
	} {
		if _, err := process.Output(ctx, dir, environ, nil, args...); err != nil {
			return err
		}
	}
	return nil
}
