// Package bundle carries an iteration from the job that ran it to the job that
// records it: a directory with a manifest, the change and the events.
package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
)

// Schema is the version of the directory's format.
const Schema = 1

// The files of a bundle, and the most bytes that each may have.
const (
	manifestFile = "manifest.json"
	patchFile    = "change.patch"
	eventsFile   = "events.jsonl"

	maxManifest = 64 << 10
	maxPatch    = 64 << 20
	maxEvents   = 16 << 20
)

// Manifest says what a bundle is of and what it was made from. Commits, trees and
// digests are in hexadecimal digits.
type Manifest struct {
	Schema    int    `json:"schema"`
	Program   string `json:"program"`
	Iteration int    `json:"iteration"`
	// BaseBranch is the default branch, Base the commit of it that was used.
	BaseBranch string `json:"base_branch"`
	Base       string `json:"base"`
	// Branch is the commit of the program branch, "" when there was none.
	Branch string `json:"branch"`
	// Memory is the commit of the memory branch, "" when there was none, and
	// Books the digest of the program's own files there.
	Memory string `json:"memory"`
	Books  string `json:"books"`
	// Incumbent is the tree that was improved, Candidate the tree that was
	// kept; "" is none.
	Incumbent string `json:"incumbent_tree"`
	Candidate string `json:"candidate_tree"`
	// Files are the digests of the other files. Write fills them in.
	Files map[string]File `json:"files"`
}

// File is what a file of the bundle must be.
type File struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Bundle is one iteration that was run and not recorded.
type Bundle struct {
	Manifest
	// Patch turns the incumbent into the candidate; empty when nothing is kept.
	Patch []byte
	// Events are lines of the ledger.
	Events []byte
	// ID is the digest of the manifest, and so of everything. Read sets it.
	ID string
}

func fileOf(data []byte) File { return File{int64(len(data)), Digest(data)} }

// Digest is the SHA-256 of parts, each with its length, so that none runs into
// the next; nil and empty differ.
func Digest(parts ...[]byte) string {
	if len(parts) == 1 {
		sum := sha256.Sum256(parts[0])
		return hex.EncodeToString(sum[:])
	}
	hash := sha256.New()
	for _, part := range parts {
		length := len(part)
		if part == nil {
			length = -1
		}
		_, _ = fmt.Fprintf(hash, "%d\x00", length)
		_, _ = hash.Write(part)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

var (
	object = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	digest = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// check says what is wrong with the manifest's values.
func (m Manifest) check() error {
	if m.Schema != Schema {
		return fmt.Errorf("has schema %d, not %d: propose and publish with the same version", m.Schema, Schema)
	}
	if m.Program == "" || m.BaseBranch == "" || m.Iteration < 0 {
		return fmt.Errorf("names no program, default branch or iteration")
	}
	for key, value := range map[string]string{"base": m.Base, "incumbent_tree": m.Incumbent} {
		if !object.MatchString(value) {
			return fmt.Errorf("has no object id as %q", key)
		}
	}
	for key, value := range map[string]string{"branch": m.Branch, "memory": m.Memory, "candidate_tree": m.Candidate} {
		if value != "" && !object.MatchString(value) {
			return fmt.Errorf("has no object id as %q", key)
		}
	}
	if !digest.MatchString(m.Books) {
		return fmt.Errorf("has no digest as %q", "books")
	}
	return nil
}
