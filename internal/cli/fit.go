package cli

import (
	"context"

	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

// fit measures a program that fits the repository and the directory that the
// caller is in, under a name, "" for its kind's, and of a kind, "" for any.
func (a *App) fit(ctx context.Context, name, kind string, tell func(string)) (*setup.Fitted, error) {
	tracked, err := a.trackedFiles(ctx)
	if err != nil {
		return nil, misuse.Errorf("the repository has no commit yet: commit your files first")
	}
	fitter := setup.Fitter{
		Root: a.Checkout, Here: a.Path(a.RepoDir), Tracked: tracked, Measure: a.repeat, Tell: tell,
		Installed: func(command string) bool {
			_, err := process.LookPath(command, a.Env.Dir, a.Environ)
			return err == nil
		},
	}
	return fitter.Fit(ctx, a.source().Directory(), name, kind)
}

// repeat runs a program's evaluation twice on the unchanged files, and once on a target
// file that is broken in each of these ways, in trees of its own.
func (a *App) repeat(ctx context.Context, p *program.Program, ways ...string) (loop.Inspection, error) {
	measured := *a
	measured.removals = nil
	defer measured.close()
	if err := measured.useRunDir(); err != nil {
		return loop.Inspection{}, err
	}
	service, _, err := measured.measurer(ctx, p)
	if err != nil {
		return loop.Inspection{}, err
	}
	return service.Inspect(ctx, 0, ways...)
}
