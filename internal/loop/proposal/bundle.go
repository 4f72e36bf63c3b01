// Package proposal is what one iteration asks to have recorded, as a value, and as
// a bundle on its way to another job: a directory with a manifest, the changed files,
// the events, and the digests of all three.
package proposal

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/lazyregexp"
)

// Schema is the version of the directory's format.
const Schema = 1

// The files of a bundle.
const (
	manifestFile = "manifest.json"
	changeFile   = "change.json"
	eventsFile   = "events.jsonl"
	sumsFile     = "SHA256SUMS"
)

// Purpose says what a bundle asks to be recorded.
type Purpose string

// The kinds of bundles.
const (
	// Iteration is an iteration, and a baseline before it when there is one.
	Iteration Purpose = "iteration"
	// Fix is an attempt to fix what CI found in the iteration that waits for it.
	Fix Purpose = "fix"
)

// Manifest says what a bundle is of and what it was made from. Commits, trees and
// digests are in hexadecimal digits.
type Manifest struct {
	// Schema is the version of the format.
	Schema int `json:"schema"`
	// Kind is what it asks to have recorded: `iteration`, or `fix` of what CI found.
	Kind Purpose `json:"kind"`
	// Repository is owner/name on GitHub, empty without it.
	Repository string `json:"repository"`
	// Program is the program's name.
	Program string `json:"program"`
	// Iteration is the number of the iteration.
	Iteration int `json:"iteration"`
	// Run is the run that made the events.
	Run string `json:"run"`
	// BaseBranch is the default branch.
	BaseBranch string `json:"base_branch"`
	// Base is the commit of it that was used.
	Base string `json:"base"`
	// Branch is the commit of the program branch, or empty.
	Branch string `json:"branch"`
	// Records is the digest of the program's own files there.
	Records string `json:"books"`
	// Incumbent is the tree that was changed.
	Incumbent string `json:"incumbent_tree"`
	// Candidate is the tree that was kept, or empty.
	Candidate string `json:"candidate_tree"`
	// Heard is how far the comments on GitHub were read, as three numbers; empty is
	// not at all.
	Heard string `json:"heard"`
	// Told says that an agent was told what the comments say.
	Told bool `json:"told"`
}

// Bundle is one iteration that was run and not recorded.
type Bundle struct {
	Manifest
	// Change is a JSON list of the Files that turn the incumbent into the candidate;
	// empty when nothing is kept.
	Change []byte
	// Events are lines of the ledger.
	Events []byte
	// ID is the digest of the digests, and so of everything. Read sets it.
	ID string
}

// File is a file of the candidate that the incumbent has not, or has otherwise.
type File struct {
	// Path is where it is, with slashes, from the root of the repository.
	Path string `json:"path"`
	// Mode is git's; empty when the candidate does not have the file.
	Mode string `json:"mode,omitempty"`
	// Data is the content, of a link what it says.
	Data []byte `json:"data,omitempty"`
}

// Digest is the SHA-256 of parts, each with its length, so that none runs into
// the next; nil and empty differ.
func Digest(parts ...[]byte) string {
	hash := sha256.New()
	for _, part := range parts {
		length := len(part)
		if part == nil {
			length = -1
		}
		_, _ = fmt.Fprintf(hash, "%d\x00", length)
		_, _ = hash.Write(part)
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}

func sha256sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// sums are the digests of the other files, as sha256sum prints them.
func sums(files map[string][]byte) []byte {
	text := ""
	for _, name := range []string{manifestFile, changeFile, eventsFile} {
		text += sha256sum(files[name]) + "  " + name + "\n"
	}
	return []byte(text)
}

// The forms of the values of a manifest.
var (
	objectForm     = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	digestForm     = lazyregexp.New(`^[0-9a-f]{64}$`)
	slugForm       = lazyregexp.New(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	runIDForm      = lazyregexp.New(`^[A-Za-z0-9_.-]{1,100}$`)
	repositoryForm = lazyregexp.New(`^([A-Za-z0-9-]{1,100}/[A-Za-z0-9._-]{1,100})?$`)
	branchNameForm = lazyregexp.New(`^[^\x00-\x20\x7f~^:?*\[\\]{1,250}$`)
	markForm       = lazyregexp.New(`^([0-9]{1,18} [0-9]{1,18} [0-9]{1,18})?$`)
)

// maxIteration bounds the number of an iteration.
const maxIteration = 1_000_000_000

// check says what is wrong with the manifest's values, and with the parts beside each other.
func (b Bundle) check() error {
	switch {
	case b.Schema != Schema:
		return fmt.Errorf("has schema %d, not %d: propose and publish with the same version", b.Schema, Schema)
	case b.Kind != Iteration && b.Kind != Fix:
		return fmt.Errorf("is of the unknown kind %.40q", b.Kind)
	case b.Iteration < 0 || b.Iteration > maxIteration:
		return fmt.Errorf("is of iteration %d, which cannot be", b.Iteration)
	case len(b.Events) == 0:
		return fmt.Errorf("has no events")
	case (b.Candidate == "") != (len(b.Change) == 0):
		return fmt.Errorf("has changed files without a candidate, or a candidate without changed files")
	}
	for _, field := range []struct {
		key, value string
		form       lazyregexp.Regexp
		needed     bool
	}{
		{"repository", b.Repository, repositoryForm, false},
		{"program", b.Program, slugForm, true},
		{"run", b.Run, runIDForm, true},
		{"base_branch", b.BaseBranch, branchNameForm, true},
		{"base", b.Base, objectForm, true},
		{"branch", b.Branch, objectForm, b.Kind == Fix},
		{"books", b.Records, digestForm, true},
		{"incumbent_tree", b.Incumbent, objectForm, true},
		{"candidate_tree", b.Candidate, objectForm, false},
		{"heard", b.Heard, markForm, false},
	} {
		if field.value == "" && !field.needed {
			continue
		}
		if !field.form().MatchString(field.value) {
			return fmt.Errorf("has a manifest whose %q is %.80q, which cannot be", field.key, field.value)
		}
	}
	return nil
}

// Write makes the directory dir of a bundle, whole or not at all. It is an error
// when dir exists, or when a part is larger than Read would take.
func Write(dir string, b Bundle) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the bundle: %w", err)
		}
	}()
	b.Schema = Schema
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists already; name a new directory", dir)
	}
	if err := b.check(); err != nil {
		return fmt.Errorf("it %w", err)
	}
	manifest, err := json.MarshalIndent(b.Manifest, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return err
	}
	staged, err := os.MkdirTemp(filepath.Dir(dir), ".bundle-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(staged) }()
	files := map[string][]byte{manifestFile: append(manifest, '\n'), changeFile: b.Change, eventsFile: b.Events}
	files[sumsFile] = sums(files)
	for name, data := range files {
		if len(data) > limits[name] {
			return fmt.Errorf("%s has %d bytes, more than %d", name, len(data), limits[name])
		}
		if err := os.WriteFile(filepath.Join(staged, name), data, 0o600); err != nil {
			return err
		}
	}
	return os.Rename(staged, dir)
}

// limits are the most bytes that each file of a bundle may have.
var limits = map[string]int{manifestFile: 64 << 10, changeFile: 64 << 20, eventsFile: 16 << 20, sumsFile: 1 << 10}

// Read reads the bundle in dir and holds it against its manifest. A file too
// many, one too few, too large, no regular file, or with other bytes is an error.
func Read(dir string) (b Bundle, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("bundle %s %w", dir, err)
		}
	}()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return b, fmt.Errorf("cannot be opened: %w", err)
	}
	defer func() { _ = root.Close() }()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return b, fmt.Errorf("cannot be listed: %w", err)
	}
	for _, entry := range entries {
		if _, ours := limits[entry.Name()]; !ours {
			return b, fmt.Errorf("was altered: %.100q is no file of a bundle", entry.Name())
		}
	}
	files := map[string][]byte{}
	for _, name := range []string{sumsFile, manifestFile, changeFile, eventsFile} {
		if files[name], err = readFile(root, name); err != nil {
			return b, err
		}
	}
	if string(files[sumsFile]) != string(sums(files)) {
		return b, fmt.Errorf("was altered: its files are not what %s says", sumsFile)
	}
	b = Bundle{ID: sha256sum(files[sumsFile]), Change: files[changeFile], Events: files[eventsFile]}
	if err := json.Unmarshal(files[manifestFile], &b.Manifest); err != nil {
		return b, fmt.Errorf("has a manifest that cannot be read: %w", err)
	}
	return b, b.check()
}

// readFile reads a regular file within its limit.
func readFile(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	switch most := limits[name]; {
	case err != nil:
		return nil, fmt.Errorf("is incomplete: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("was altered: %s is no regular file", name)
	case info.Size() > int64(most):
		return nil, fmt.Errorf("is too large: %s has %d bytes, more than %d", name, info.Size(), most)
	}
	return root.ReadFile(name)
}
