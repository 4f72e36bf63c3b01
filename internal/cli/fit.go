package cli

import (
	"context"

	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/process"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/setup"
)

// Fit measures a program that fits the repository and the directory that the
// caller is in, under a name, "" for its kind's, and of a kind, "" for any.
func (d *dependencies) Fit(ctx context.Context, name, kind string, tell func(string)) (*setup.Fitted, error) {
	tracked, err := d.TrackedFiles(ctx)
	if err != nil {
		return nil, misuse.Errorf("the repository has no commit yet: commit your files first")
	}
	fitter := setup.Fitter{
		Root: d.Repo.Root, Here: d.Env.Path(d.Options.RepoDir), Tracked: tracked, Measure: d.Repeat, Tell: tell,
		Installed: func(command string) bool {
			_, err := process.LookPath(command, d.Env.Dir, d.Env.Environ)
			return err == nil
		},
	}
	return fitter.Fit(ctx, d.Source().Directory(), name, kind)
}

// Repeat runs a program's evaluation twice on the unchanged files, and once on a target
// file that is broken in each of these ways, in trees of its own.
func (d *dependencies) Repeat(ctx context.Context, p *program.Program, ways ...string) (loop.Inspection, error) {
	measured := *d
	remove, err := measured.MakeRunDir()
	if err != nil {
		return loop.Inspection{}, err
	}
	defer remove()
	runner, err := measured.Runner(ctx, p, d.Env.Stderr)
	if err != nil {
		return loop.Inspection{}, err
	}
	service, err := measured.Measurer(p, runner)
	if err != nil {
		return loop.Inspection{}, err
	}
	return service.Inspect(ctx, 0, ways...)
}
