package skill

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/skill/workspace"
	"github.com/org/autoloop/internal/suite/evalrun"
	"github.com/org/autoloop/internal/suite/evals"
)

// SuiteEvals measures versions by the suite of v0.
type SuiteEvals struct {
	Workspace *workspace.Workspace
	Suited    *evalrun.Skill
	Options   evalrun.Options
	// Dir is a directory in which snapshots are unpacked.
	Dir string
	// Begin is told what goes on from now, and Tell of the cases.
	Begin, Tell func(string)
}

// Measure runs the suite for the skill in dir.
func (e *SuiteEvals) Measure(ctx context.Context, label, dir, out string) (Measured, error) {
	version, err := e.version(ctx, e.Suited, dir)
	if err != nil {
		return Measured{}, err
	}
	result, err := evalrun.Run(ctx, version, out, e.labelled(label))
	var fault *misuse.Error
	if ctx.Err() == nil && errors.As(err, &fault) {
		return Measured{Fault: plain.Short(err.Error(), lineWidth)}, nil
	}
	if err != nil {
		return Measured{}, err
	}
	return e.measured(result), nil
}

// labelled are the options of a run whose cases are told with what they are of.
func (e *SuiteEvals) labelled(label string) evalrun.Options {
	o := e.Options
	e.Begin(label + ": the cases run")
	o.Progress = func(done, total int, c evals.CaseScore) {
		e.Tell(label + ": " + c.Line(done, total))
	}
	return o
}

// version is a suite of v0 with the skill in dir. The inputs of its cases are
// those of v0 too, whatever a candidate made of them.
func (e *SuiteEvals) version(ctx context.Context, suited *evalrun.Skill, dir string) (*evalrun.Skill, error) {
	version := *suited
	var err error
	if version.Inputs, err = e.unpacked(ctx, suited.Dir); err != nil {
		return nil, err
	}
	version.Dir, err = e.unpacked(ctx, dir)
	return &version, err
}

// unpacked is a snapshot with the modes that it stands for: on disk it is
// read-only, and a case would be another one with that than with a candidate.
// Any other directory is returned as it is.
func (e *SuiteEvals) unpacked(ctx context.Context, dir string) (string, error) {
	if _, err := os.Lstat(workspace.ManifestFile(dir)); errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	place := filepath.Join(e.Dir, filepath.Base(dir))
	_, err := workspace.Restore(ctx, dir, place)
	return place, err
}

// Read takes together what earlier calls of Measure left.
func (e *SuiteEvals) Read(outs ...string) (Measured, error) {
	result, err := evalrun.ReadAll(e.Suited, outs...)
	if err != nil {
		return Measured{}, err
	}
	return e.measured(result), nil
}

// maxFailures bounds what an improver hears of failures, in bytes.
const maxFailures = 4000

func (e *SuiteEvals) measured(r evalrun.Result) Measured {
	return Measured{
		Graded: e.Suited.Graded(), Rate: r.Rate, Runs: r.Runs(),
		Failures: e.Options.Masker.String(evalrun.Failures(r, maxFailures)),
	}
}
