package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/history/results"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

// Format names a workspace in its manifest.
const Format = "autoloop-skill-workspace"

// suffix is what a workspace's name has after the skill's.
const suffix = "-autoresearch"

// Workspace is the directory in which a skill is improved. The skill itself is
// elsewhere. Its JSON is the file manifest.json.
type Workspace struct {
	// Dir is its path.
	Dir string `json:"-"`
	// Skill is the path of the skill that it is for: in the file from the workspace, with
	// slashes, or absolute.
	Skill string `json:"skill"`
	// Best is the number of the best version, 0 for the original.
	Best int `json:"best_version"`
	// SuiteHash is over everything in v0's evals/.
	SuiteHash string `json:"suite_sha256"`
	// Applied is the version that the skill was made equal to last; nil when none
	// was.
	Applied *Applied `json:"applied"`
	// Executor made the measurements; nil is unknown.
	Executor *history.Executor `json:"executor,omitempty"`
	// Run is the one that has not ended, nil when the last one did.
	Run *Run `json:"run,omitempty"`
	// Whole says that the last run had all the iterations that it was asked for: neither
	// its reverts nor a perfect score ended it.
	Whole bool `json:"whole,omitempty"`
}

// Applied is what an application left in the skill's directory.
type Applied struct {
	Version int `json:"version"`
	// Digest is that of the skill's directory after it.
	Digest string `json:"digest"`
	// Before names the snapshot of what the skill was before a version was merged
	// into it; "" when nothing of its own was there.
	Before string `json:"before,omitempty"`
}

// workspaceJSON is the file manifest.json.
type workspaceJSON struct {
	Schema int    `json:"schema"`
	Format string `json:"format"`
	Workspace
}

// WorkspaceBeside is the workspace beside a skill.
func WorkspaceBeside(skill string) string { return filepath.Clean(skill) + suffix }

// WorkspaceOf is the workspace that a path names: that of a skill is the one beside it.
func WorkspaceOf(dir string) string {
	if _, err := os.Lstat(filepath.Join(dir, "SKILL.md")); err == nil {
		return WorkspaceBeside(dir)
	}
	return dir
}

// FreshDir is dir, or the first of dir-2, dir-3, … that is not there yet.
func FreshDir(dir string) string {
	fresh := dir
	for n := 2; ; n++ {
		if _, err := os.Lstat(fresh); err != nil {
			return fresh
		}
		fresh = fmt.Sprintf("%s-%d", filepath.Clean(dir), n)
	}
}

// Version is the snapshot of a version, 0 for the original.
func (w *Workspace) Version(n int) string { return filepath.Join(w.Dir, fmt.Sprintf("v%d", n)) }

// Candidate is the directory that a candidate is worked on in.
func (w *Workspace) Candidate() string { return filepath.Join(w.Dir, "candidate") }

// Iteration is the directory of an iteration's cases, eval-<id>; 0 is the
// original's.
func (w *Workspace) Iteration(n int) string {
	return filepath.Join(w.Dir, fmt.Sprintf("iteration-%d", n))
}

// CreateWorkspace makes the workspace dir of a skill, with the original as v0. It is an error when
// anything but what a killed attempt left is there, or when it is within the skill.
func CreateWorkspace(ctx context.Context, dir, skill string) (*Workspace, error) {
	place, _, err := apart(skill, dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755) //nolint:gosec // a workspace is for people, like the skill beside it
	}
	if err != nil {
		return nil, fmt.Errorf("make the workspace: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name := e.Name(); name == ".git" || name[0] != '.' && name != "v0.manifest.json" {
			return nil, fmt.Errorf("%s is no workspace and has %q in it; name an empty directory, or one that is not "+
				"there yet", dir, name)
		}
	}
	w := &Workspace{Dir: dir, Skill: place}
	taken, err := TakeSnapshot(ctx, skill, w.Version(0))
	if err != nil {
		return nil, err
	}
	w.SuiteHash = taken.Tree.Below("evals").Digest()
	return w, w.Save()
}

// ErrNoWorkspace says that a directory is no workspace, or is not there.
var ErrNoWorkspace = errors.New("no workspace")

// OpenWorkspace reads a workspace, or that of a skill. One without manifest.json, as other programs
// make it, is made one of ours: every version gets a manifest of what it has now, and
// warnings are told.
func OpenWorkspace(ctx context.Context, dir string, warnings io.Writer) (*Workspace, error) {
	dir = WorkspaceOf(dir)
	if ForeignWorkspace(dir) {
		fmt.Fprintf(warnings, "%s was made by another program: writing manifests of what its versions have now\n", dir)
		w, err := adopt(ctx, dir)
		if err != nil {
			return nil, fmt.Errorf("adopt the workspace: %w", err)
		}
		return w, nil
	}
	file := filepath.Join(dir, "manifest.json")
	const longest = 1 << 20
	data, err := files.ReadSmall(file, longest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is %w: it has neither manifest.json nor v0; `iterate skill PATH` makes one", dir, ErrNoWorkspace)
	}
	if err != nil {
		return nil, err
	}
	var in workspaceJSON
	if err := json.Unmarshal(data, &in); err != nil || in.Format != Format || in.Schema != Schema ||
		in.Applied != nil && !keptName().MatchString(in.Applied.Before) {
		return nil, fmt.Errorf("%s is no manifest of a workspace that this program reads, or was cut off; remove it, and "+
			"the versions are taken as they are", file)
	}
	in.Dir, in.Skill = dir, filepath.FromSlash(in.Skill)
	if in.Skill != "" && !filepath.IsAbs(in.Skill) {
		in.Skill = filepath.Join(dir, in.Skill)
	}
	return &in.Workspace, nil
}

// Save writes manifest.json, in one step, with the best version that results.tsv has; where that
// cannot be read, with the one that was known.
func (w *Workspace) Save() error {
	if table, err := w.Results(); err == nil {
		w.Best = table.Best
	}
	out := workspaceJSON{Schema, Format, *w}
	if here, err := resolve(w.Dir); err == nil {
		if relative, err := filepath.Rel(here, w.Skill); err == nil {
			out.Skill = relative
		}
	}
	out.Skill = filepath.ToSlash(out.Skill)
	return files.WriteJSON(w.file("manifest.json"), out)
}

func (w *Workspace) file(name string) string { return filepath.Join(w.Dir, name) }

// maxResults bounds results.tsv, in bytes.
const maxResults = 64 << 20

// Table is results.tsv with what follows from it.
type Table struct {
	Rows []results.Row
	// Best is the best version, Last the last iteration, and Start the version that later
	// ones are held against: the last that was measured without a change.
	Best, Last, Start int

	file *results.Table
}

// Row is the row of an iteration, nil when the table does not have it.
func (t Table) Row(n int) *results.Row {
	for i, row := range t.Rows {
		if row.Iteration == n {
			return &t.Rows[i]
		}
	}
	return nil
}

// Results reads results.tsv; a table without rows when it is not there.
func (w *Workspace) Results() (t Table, err error) {
	data, err := files.ReadSmall(w.file("results.tsv"), maxResults)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	if t.file, err = results.ParseQuoted(data); err != nil {
		return t, fmt.Errorf("%s: %w", w.file("results.tsv"), err)
	}
	t.Rows = t.file.Rows()
	for _, row := range t.Rows {
		t.Last = max(t.Last, row.Iteration)
		if row.Action != results.Reverted {
			t.Best = row.Iteration
		}
		if row.Action == results.Baseline {
			t.Start = row.Iteration
		}
	}
	return t, nil
}

// Append adds a row to results.tsv, in one step; the same row again changes
// nothing.
func (w *Workspace) Append(row results.Row) error {
	table, err := w.Results()
	if err != nil {
		return err
	}
	table.file.Append(row, metric.Higher)
	return files.WriteFile(w.file("results.tsv"), table.file.Bytes(), 0o644)
}

// Run is one that has begun and not ended: After is the iteration before it, Count
// how many it was asked for.
type Run struct {
	After int `json:"after"`
	Count int `json:"count"`
}

// Resumes reports whether a run of so many iterations finishes this one; nil is
// none.
func (r *Run) Resumes(count int) bool { return r != nil && r.Count == count }

// Done counts the iterations of the run that the table has, and how many of the
// last were reverted.
func (r *Run) Done(rows []results.Row) (iterations, reverts int) {
	for _, row := range rows {
		switch {
		case row.Iteration <= r.After || row.Action == results.Baseline:
		case row.Action == results.Reverted:
			iterations, reverts = iterations+1, reverts+1
		default:
			iterations, reverts = iterations+1, 0
		}
	}
	return iterations, reverts
}

// Hold keeps other runs from working in the workspace, until release is called
// or the process ends; it is an error when another does. What only reads need
// not hold it.
func (w *Workspace) Hold() (release func(), err error) {
	release, held, err := files.TryLock(w.Version(0), time.Second) // the one directory that is never replaced
	switch {
	case held:
		return nil, fmt.Errorf("another run works in %s: wait for its end, or name another --workspace", w.Dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s has lost its v0, which nothing can replace; begin a new workspace with --fresh: %w",
			w.Dir, err)
	}
	return release, errors.Join(err, files.ClearWrites(w.file("manifest.json")), files.ClearWrites(w.file("results.tsv")))
}

// keptName is the form of the names of what an application keeps.
var keptName = lazyregexp.New(`^(?:before-[a-z]+-[0-9]+)?$`)

// KeepSkill takes a snapshot of the skill as it is under the first free name of
// purpose-1, purpose-2, …, and returns the name.
func (w *Workspace) KeepSkill(ctx context.Context, purpose string) (name string, err error) {
	for n := 1; ; n++ {
		name = fmt.Sprintf("%s-%d", purpose, n)
		if _, err := os.Lstat(w.file(name)); errors.Is(err, fs.ErrNotExist) {
			_, err := TakeSnapshot(ctx, w.Skill, w.file(name))
			return name, err
		}
	}
}

var versionName = lazyregexp.New(`^v[0-9]+$`)

// ForeignWorkspace reports whether dir is a workspace that another program made: it has
// versions and no manifest.json.
func ForeignWorkspace(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, "v0"))
	if err != nil || !info.IsDir() {
		return false
	}
	_, err = os.Lstat(filepath.Join(dir, "manifest.json"))
	return errors.Is(err, fs.ErrNotExist)
}

// adopt writes manifest.json last, so that an interrupted adoption begins anew.
func adopt(ctx context.Context, dir string) (*Workspace, error) {
	w := &Workspace{Dir: dir}
	if name, found := strings.CutSuffix(filepath.Clean(dir), suffix); found {
		w.Skill = name
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		version := w.file(e.Name())
		if _, err := os.Lstat(ManifestFile(version)); err == nil || !e.IsDir() || !versionName().MatchString(e.Name()) {
			continue
		}
		found, err := Scan(ctx, version)
		if err == nil {
			err = saveManifest(version, found.Tree)
		}
		if err != nil {
			return nil, err
		}
	}
	original, err := Verify(ctx, w.Version(0))
	if err != nil {
		return nil, err
	}
	if _, err := w.Results(); err != nil {
		return nil, err
	}
	w.SuiteHash = original.Below("evals").Digest()
	w.Executor = &history.Executor{} // somebody else, so that the next run measures anew
	return w, w.Save()
}
