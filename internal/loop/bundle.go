package loop

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/lazyregexp"
)

// bundleSchema is the version of the format.
const bundleSchema = 1

// bundleFile is the file of a bundle, maxBundle how many bytes it may have.
const (
	bundleFile = "bundle.json"
	maxBundle  = 80 << 20
)

// Purpose says what a bundle asks to be recorded.
type Purpose string

// The kinds of bundles.
const (
	// forIteration is an iteration, and a baseline before it when there is one.
	forIteration Purpose = "iteration"
	// forFix is an attempt to fix what CI found in the iteration that waits for it.
	forFix Purpose = "fix"
)

// Manifest says what a bundle is of and what it was made from. Commits, trees and
// digests are in hexadecimal digits. Each value has the form of its field, and no other.
type Manifest struct {
	// Schema is the version of the format.
	Schema int `json:"schema"`
	// Kind is what it asks to have recorded: `iteration`, or `fix` of what CI found.
	Kind Purpose `json:"kind" form:"^(iteration|fix)$"`
	// Repository is owner/name on GitHub, empty without it.
	Repository string `json:"repository" form:"^([A-Za-z0-9-]{1,100}/[A-Za-z0-9._-]{1,100})?$"`
	// Program is the program's name.
	Program string `json:"program" form:"^[a-z0-9][a-z0-9._-]{0,63}$"`
	// Iteration is the number of the iteration.
	Iteration int `json:"iteration" form:"^([0-9]{1,9}|10{9})$"`
	// Run is the run that made the events.
	Run string `json:"run" form:"^[A-Za-z0-9_.-]{1,100}$"`
	// BaseBranch is the default branch.
	BaseBranch string `json:"base_branch" form:"^[^\\x00-\\x20\\x7f~^:?*\\[\\\\]{1,250}$"`
	// Base is the commit of it that was used.
	Base string `json:"base" form:"^[0-9a-f]{40}([0-9a-f]{24})?$"`
	// Branch is the commit of the program branch, or empty.
	Branch string `json:"branch" form:"^([0-9a-f]{40}([0-9a-f]{24})?)?$"`
	// Records is the digest of the program's own files there.
	Records string `json:"books" form:"^[0-9a-f]{64}$"`
	// Incumbent is the tree that was changed.
	Incumbent string `json:"incumbent_tree" form:"^[0-9a-f]{40}([0-9a-f]{24})?$"`
	// Candidate is the tree that was kept, or empty.
	Candidate string `json:"candidate_tree" form:"^([0-9a-f]{40}([0-9a-f]{24})?)?$"`
	// Heard is how far the comments on GitHub were read, as three numbers; empty is
	// not at all.
	Heard string `json:"heard" form:"^([0-9]{1,18} [0-9]{1,18} [0-9]{1,18})?$"`
	// Told says that an agent was told what the comments say.
	Told bool `json:"told"`
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

// check says what is wrong with the manifest's values, and with the parts beside each other.
func (b *Proposal) check() error {
	switch {
	case b.Schema != bundleSchema:
		return fmt.Errorf("has schema %d, not %d: propose and publish with the same version", b.Schema, bundleSchema)
	case b.Kind == forFix && b.Branch == "":
		return errors.New("is a fix of no commit")
	case (b.Candidate == "") != (len(b.Files) == 0):
		return errors.New("has changed files without a candidate, or a candidate without changed files")
	}
	for field, value := range reflect.ValueOf(b.Manifest).Fields() {
		text := fmt.Sprint(value)
		if !lazyregexp.Of(field.Tag.Get("form"))().MatchString(text) {
			return fmt.Errorf("has a manifest whose %q is %.80q, which cannot be", field.Tag.Get("json"), text)
		}
	}
	return nil
}

// WriteBundle makes the directory dir of a bundle, whole or not at all. It is an error
// when dir exists, or when ReadBundle would not take it.
func WriteBundle(dir string, p *Proposal) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write the bundle: %w", err)
		}
	}()
	p.Schema = bundleSchema
	if err := p.check(); err != nil {
		return fmt.Errorf("it %w", err)
	}
	text, err := json.Marshal(p)
	if err == nil && len(text) > maxBundle {
		err = fmt.Errorf("it has %d bytes, more than %d", len(text), maxBundle)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(dir), 0o750)
	}
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; name a new directory", dir)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, bundleFile), append(text, '\n'), 0o600)
	}
	return err
}

// ReadBundle reads the bundle in dir.
func ReadBundle(dir string) (*Proposal, error) {
	text, err := files.ReadSmall(filepath.Join(dir, bundleFile), maxBundle)
	if err != nil {
		return nil, fmt.Errorf("bundle %s cannot be read: %w", dir, err)
	}
	p := &Proposal{ID: fmt.Sprintf("%x", sha256.Sum256(text))}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("bundle %s cannot be read: %w", dir, err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("bundle %s %w", dir, err)
	}
	return p, nil
}
