package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// Beside is the workspace beside a skill.
func Beside(skill string) string { return filepath.Clean(skill) + suffix }

// Of is the workspace that a path names: that of a skill is the one beside it.
func Of(dir string) string {
	if _, err := os.Lstat(filepath.Join(dir, "SKILL.md")); err == nil {
		return Beside(dir)
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

// Create makes the workspace dir of a skill, with the original as v0. What is
// there of an interrupted attempt is used; a finished one is an error, and so is
// a directory with anything else in it, or one within the skill.
func Create(ctx context.Context, dir, skill string) (*Workspace, error) {
	if _, err := os.Lstat(filepath.Join(dir, "manifest.json")); err == nil {
		return nil, fmt.Errorf("%s is a workspace already", dir)
	}
	place, _, err := apart(skill, dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755) //nolint:gosec // a workspace is for people, like the skill beside it
	}
	if err != nil {
		return nil, fmt.Errorf("make the workspace: %w", err)
	}
	if err := vacant(dir); err != nil {
		return nil, err
	}
	w := &Workspace{Dir: dir, Skill: place}
	taken, err := Take(ctx, skill, w.Version(0))
	if err != nil {
		return nil, err
	}
	w.SuiteHash = taken.Tree.Below("evals").Digest()
	return w, w.Save()
}

// OpenWorkspace reads a workspace. One that has no manifest.json, but a v0, as
// scripts make it, is taken as it is.
func OpenWorkspace(dir string) (*Workspace, error) {
	switch err := isDirectory(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no workspace %s: a run of `iterate skill PATH` makes one", dir)
	case err != nil:
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	file := filepath.Join(dir, "manifest.json")
	const longest = 1 << 20
	data, err := files.ReadSmall(file, longest)
	if errors.Is(err, fs.ErrNotExist) {
		w := &Workspace{Dir: dir}
		if name, found := strings.CutSuffix(filepath.Clean(dir), suffix); found {
			w.Skill = name
		}
		if _, err := os.Lstat(w.Version(0)); err != nil {
			return nil, fmt.Errorf("%s is no workspace: it has neither manifest.json nor v0", dir)
		}
		return w, nil
	}
	if err != nil {
		return nil, err
	}
	var in workspaceJSON
	if err := json.Unmarshal(data, &in); err != nil || in.Format != Format {
		return nil, fmt.Errorf("%s is no manifest of a workspace, or was cut off", file)
	}
	if in.Schema != Schema {
		return nil, fmt.Errorf("%s has the schema %d, and this program reads %d", file, in.Schema, Schema)
	}
	if a := in.Applied; a != nil && !keptName().MatchString(a.Before) {
		return nil, fmt.Errorf("%s: %q is no snapshot of an application", file, a.Before)
	}
	if in.Best < 0 {
		return nil, fmt.Errorf("%s: there is no version %d", file, in.Best)
	}
	in.Dir, in.Skill = dir, filepath.FromSlash(in.Skill)
	if in.Skill != "" && !filepath.IsAbs(in.Skill) {
		in.Skill = filepath.Join(dir, in.Skill)
	}
	return &in.Workspace, nil
}

// Save writes manifest.json, in one step.
func (w *Workspace) Save() error {
	out := workspaceJSON{Schema, Format, *w}
	if here, err := resolve(w.Dir); err == nil {
		if relative, err := filepath.Rel(here, w.Skill); err == nil {
			out.Skill = relative
		}
	}
	out.Skill = filepath.ToSlash(out.Skill)
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	return w.put(filepath.Join(w.Dir, "manifest.json"), append(text, '\n'))
}

// put writes one of the workspace's files, and removes what a killed process
// left of that.
func (w *Workspace) put(file string, data []byte) error {
	unlock, err := files.Lock(w.Dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := files.ClearWrites(file); err != nil {
		return err
	}
	return files.WriteFile(file, data, 0o644)
}

// maxResults bounds results.tsv, in bytes.
const maxResults = 64 << 20

func (w *Workspace) resultsFile() string { return filepath.Join(w.Dir, "results.tsv") }

// Results reads results.tsv; a table without rows when it is not there.
func (w *Workspace) Results() (*results.Table, error) {
	data, err := files.ReadSmall(w.resultsFile(), maxResults)
	if errors.Is(err, fs.ErrNotExist) {
		return results.ParseQuoted(nil)
	}
	if err != nil {
		return nil, err
	}
	table, err := results.ParseQuoted(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.resultsFile(), err)
	}
	return table, nil
}

// Append adds a row to results.tsv, in one step; the same row again changes
// nothing.
func (w *Workspace) Append(row results.Row) error {
	table, err := w.Results()
	if err != nil {
		return err
	}
	if err := table.Append(row, metric.Higher); err != nil {
		return err
	}
	return w.put(w.resultsFile(), table.Bytes())
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
	return release, err
}

// ownNames are the entries of a workspace.
var ownNames = lazyregexp.New(`^(v[0-9]+(\.manifest\.json)?|iteration-[0-9]+|triggers|candidate|results\.tsv|\..*)$`)

// vacant refuses a directory for a new workspace in which there is anything but
// what an interrupted attempt, or a script, made of a workspace: candidate and
// iterations are written over and removed.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	_, err = os.Lstat(ManifestFile(filepath.Join(dir, "v0")))
	begun := err == nil
	for _, e := range entries {
		hidden := e.Name()[0] == '.' && e.Name() != ".git"
		if !hidden && (!begun || !ownNames().MatchString(e.Name())) {
			return fmt.Errorf("%s is no workspace and has %q in it; name an empty directory, or one that is not "+
				"there yet", dir, e.Name())
		}
	}
	return nil
}

// keptName is the form of the names of what an application keeps.
var keptName = lazyregexp.New(`^(?:before-[a-z]+-[0-9]+)?$`)

// KeepSkill takes a snapshot of the skill as it is under the first free name of
// purpose-1, purpose-2, …, and returns the name. One of these that is the same
// already is used; none is ever overwritten.
func (w *Workspace) KeepSkill(ctx context.Context, purpose string) (name string, err error) {
	now, err := Scan(ctx, w.Skill)
	if err != nil {
		return "", fmt.Errorf("read the skill: %w", err)
	}
	for n := 1; ; n++ {
		name = fmt.Sprintf("%s-%d", purpose, n)
		place := filepath.Join(w.Dir, name)
		if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
			taken, err := Take(ctx, w.Skill, place)
			if err == nil && taken.Tree.Digest() != now.Digest() {
				err = errors.New("the skill changed while it was copied; run this again")
			}
			return name, err
		}
		if kept, err := Verify(ctx, place); err == nil && kept.Digest() == now.Digest() {
			return name, nil
		}
	}
}

// Undone is the snapshot that an undo puts back: what the skill was before its
// last application, when that was a merge, else v0.
func (w *Workspace) Undone() (name, dir string) {
	if w.Applied != nil && w.Applied.Before != "" {
		return w.Applied.Before, filepath.Join(w.Dir, w.Applied.Before)
	}
	return "v0", w.Version(0)
}

var versionName = lazyregexp.New(`^v[0-9]+$`)

// Foreign reports whether dir is a workspace that another program made: it has
// versions and no manifest of anything.
func Foreign(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, "v0"))
	if err != nil || !info.IsDir() {
		return false
	}
	for _, name := range []string{"manifest.json", "v0.manifest.json"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// Adopt makes a foreign workspace one of ours: every version gets a manifest of
// what it has now, v0 last, so that an interrupted adoption begins anew. The
// versions stay as they are.
func Adopt(ctx context.Context, dir string) (*Workspace, error) {
	w, err := OpenWorkspace(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for i := len(entries) - 1; i >= 0; i-- { // sorted, so that v0 comes after the others
		name := entries[i].Name()
		if !entries[i].IsDir() || !versionName().MatchString(name) {
			continue
		}
		tree, err := Scan(ctx, filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("adopt the workspace: %w", err)
		}
		if name == "v0" {
			w.SuiteHash = tree.Below("evals").Digest()
		}
		if err := syncManifest(ManifestFile(filepath.Join(dir, name)), tree); err != nil {
			return nil, fmt.Errorf("adopt the workspace: %w", err)
		}
	}
	table, err := w.Results()
	if err != nil {
		return nil, err
	}
	for _, row := range table.Rows() {
		if row.Action != results.Reverted {
			w.Best = row.Iteration
		}
	}
	w.Executor = &history.Executor{} // somebody else, so that the next run measures anew
	return w, w.Save()
}
