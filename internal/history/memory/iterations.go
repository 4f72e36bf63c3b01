package memory

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// The ledger of a program is a directory beside its other files, with a file for each
// iteration and a directory for each thousand: NAME.iterations/000/000123.json. In one
// directory of thousands of files every commit would write a long list anew.
const iterationsSuffix = ".iterations"

// iterationPath is where the file of an iteration is in the directory.
func iterationPath(number int) string { return fmt.Sprintf("%03d/%06d.json", number/1000, number) }

var numbered = regexp.MustCompile(`^[0-9]{3,}/0*([0-9]{1,9})\.json$`)

// numberOf is the iteration that a path in the directory is of; others are not ours.
func numberOf(path string) (number int, ours bool) {
	if match := numbered.FindStringSubmatch(path); match != nil {
		number, _ = strconv.Atoi(match[1])
		ours = path == iterationPath(number)
	}
	return number, ours
}

// remembered are the iterations of the ledger that was read last, by the ids of their files:
// most of them never change.
type remembered map[string]*history.Iteration

// readIterations reads the ledger of a program. One that cannot be read is the error of who
// needs it.
func (m *Memory) readIterations(ctx context.Context, dir git.TreeEntry, name string, files *Files) error {
	if dir.Mode != git.ModeDirectory {
		files.iterations = []string{dir.Path}
		files.unreadable = &LedgerError{name, "", "it is no directory"}
		return nil
	}
	entries, err := m.Repo.LsTree(ctx, dir.ID)
	if err != nil {
		return fmt.Errorf("read the ledger of %s: %w", name, err)
	}
	for _, e := range entries {
		files.iterations = append(files.iterations, dir.Path+"/"+e.Path)
	}
	files.Ledger, err = m.readLedger(ctx, name, entries)
	if problem, is := errors.AsType[*LedgerError](err); is {
		files.unreadable, err = problem, nil
	}
	return err
}

// readLedger reads the ledger in a directory. A *LedgerError says why what is there
// cannot be read.
func (m *Memory) readLedger(ctx context.Context, name string, entries []git.TreeEntry) (*history.Log, error) {
	var known remembered
	if last := m.known.Load(); last != nil {
		known = *last
	}
	now := make(remembered, len(entries))
	var ours []git.TreeEntry
	var wanted []string
	for _, e := range entries {
		if _, is := numberOf(e.Path); !is {
			continue
		}
		if !regular(e) {
			return nil, &LedgerError{name, e.Path, fmt.Sprintf("it is no regular file (mode %s)", e.Mode)}
		}
		ours = append(ours, e)
		if known[e.ID] == nil {
			wanted = append(wanted, e.ID)
		}
	}
	texts, err := m.blobs(ctx, wanted)
	if err != nil {
		return nil, err
	}
	list := make([]*history.Iteration, len(ours))
	for i, e := range ours {
		if list[i] = known[e.ID]; list[i] == nil {
			if list[i], err = parseIteration(name, e.Path, texts[e.ID]); err != nil {
				return nil, err
			}
		}
		now[e.ID] = list[i]
	}
	log, err := history.NewLog(list...)
	if err == nil {
		m.known.Store(&now)
	}
	return log, err
}

func parseIteration(name, path string, text []byte) (*history.Iteration, error) {
	it, err := history.ParseIteration(text)
	if number, _ := numberOf(path); err == nil && it.Number != number {
		err = fmt.Errorf("it says that it is iteration %d", it.Number)
	}
	if err != nil {
		return nil, &LedgerError{name, path, err.Error()}
	}
	return it, nil
}

// LedgerError says why a file of a ledger cannot be read.
type LedgerError struct{ Program, Path, Problem string }

func (e *LedgerError) Error() string {
	return fmt.Sprintf("read %s%s/%s on the memory branch: %s", e.Program, iterationsSuffix, e.Path, e.Problem)
}
