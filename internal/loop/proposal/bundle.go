// Package proposal is what one iteration asks to have recorded, as a value, and as
// a bundle on its way to another job: a directory with a manifest, the changed files,
// the events, and the digests of all three.
package proposal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

// sums are the digests of the other files, as sha256sum prints them.
func sums(files map[string][]byte) []byte {
	text := ""
	for _, name := range []string{manifestFile, changeFile, eventsFile} {
		text += Digest(files[name]) + "  " + name + "\n"
	}
	return []byte(text)
}
