package memory

import (
	"bytes"
	"context"
	"fmt"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// seal seals what is worth it when a run begins: what was a run's own, and what was
// proposed from the records, stays as it was until then.
func (w *writing) seal(ctx context.Context, current, next Files, files map[string]*git.File) error {
	added, grown := bytes.CutPrefix(next.Ledger, current.Ledger)
	if !grown || !history.Begins(added) {
		return nil
	}
	next.Sealed = current.Sealed
	log, err := next.Log()
	if err != nil {
		return nil //nolint:nilerr // whoever reads it next says so
	}
	s, err := log.Seal()
	if err != nil || s == nil {
		return err
	}
	dir := w.Program + sealedSuffix + "/"
	for i, segment := range s.Segments {
		short, err := history.Condense(segment)
		if err != nil {
			return err
		}
		files[dir+fmt.Sprintf(segmentForm, s.First+i)] = &git.File{Data: segment}
		files[dir+fmt.Sprintf(condensedForm, s.First+i)] = &git.File{Data: short}
	}
	checkpoint, err := s.Checkpoint.Encode()
	if err != nil {
		return err
	}
	files[dir+checkpointFile] = &git.File{Data: checkpoint}
	files[w.Program+ledgerSuffix] = &git.File{Data: s.Open}
	if w.KeepDetails > 0 && current.Sealed != nil {
		summary := log.Summary()
		upTo := summary.Iteration - w.KeepDetails
		if last := s.Checkpoint.Measured(); last > 0 {
			upTo = min(upTo, last-1) // the checkpoint has what that printed
		}
		return current.Sealed.forget(ctx, upTo, files)
	}
	return nil
}

// forgetMost is how many segments a sealing looks at to forget their details: more
// than are sealed at once, so that none waits for long.
const forgetMost = 8

// forget replaces segments with iterations up to a number alone by their numbers, the
// oldest first.
func (s *Sealed) forget(ctx context.Context, upTo int, files map[string]*git.File) error {
	for number, looked := s.archived()+1, 0; number < s.count && looked < forgetMost; number++ {
		if s.bare[number] {
			continue
		}
		looked++
		segment, err := s.segment(ctx, number)
		if err != nil || segment == nil || history.LastIteration(segment) > upTo {
			return err
		}
		next, err := s.segment(ctx, number+1)
		if err != nil {
			return err
		}
		if numbers := history.Forgettable(segment, next); numbers != nil {
			files[s.dir+"/"+fmt.Sprintf(segmentForm, number)] = nil
			files[s.dir+"/"+fmt.Sprintf(numbersForm, number)] = &git.File{Data: numbers}
		}
	}
	return nil
}

// unseal removes the sealed segments of a program whose ledger is removed.
func (w *writing) unseal(ctx context.Context, head string, current, next Files, files map[string]*git.File) error {
	if current.Sealed == nil || next.Ledger != nil {
		return nil
	}
	tree, err := w.sealedTree(ctx, head, w.Program)
	if err != nil || tree == "" {
		return err
	}
	entries, err := w.Repo.LsRoot(ctx, tree)
	for _, e := range entries {
		files[current.Sealed.dir+"/"+e.Path] = nil
	}
	return err
}
