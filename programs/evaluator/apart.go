package evaluator

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// Build compiles the command in dir from its main.go, which is trusted, and one
// file that is not. For a reader both are package main; here the second becomes
// a package of its own, of which main.go sees the exported names alone.
func Build(dir, changed string, allowed ...string) (binary string, remove func(), err error) {
	work, remove, err := Scratch()
	if err != nil {
		return "", nil, err
	}
	binary = filepath.Join(work, "candidate.exe")
	if err = lay(work, dir, changed, allowed); err == nil {
		err = Compile(work, "build", "-o", binary, ".")
	}
	if err != nil {
		remove()
	}
	return binary, remove, err
}

// lay writes the two packages into work.
func lay(work, dir, changed string, allowed []string) error {
	trusted, err := Read(filepath.Join(dir, "main.go"))
	if err != nil {
		return err
	}
	code, err := Read(filepath.Join(dir, changed))
	if err != nil {
		return err
	}
	if err := code.Harmless(allowed); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(work, "changed"), 0o700); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(work, "main.go"), trusted.clause(`package main; import . "candidate/changed"`), 0o600),
		os.WriteFile(filepath.Join(work, "changed", changed), code.clause("package changed"), 0o600))
}

// clause returns the text with another package clause.
func (s Source) clause(clause string) []byte {
	file := s.set.File(s.File.Package)
	from, to := file.Offset(s.File.Package), file.Offset(s.File.Name.End())
	return slices.Concat(s.Text[:from], []byte(clause), s.Text[to:])
}
