package loop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history"
)

// identity is what makes two measurements comparable.
type identity struct {
	// Evaluator is the hash of all that an evaluation runs and reads: the
	// program's settings and every tracked file that the target does not match.
	Evaluator string
	// Definition is the hash of the settings alone.
	Definition string
	// Executor is who works on the cases or tasks of a suite, and who grades them;
	// nil of any other evaluation, and where nobody measures.
	Executor *history.Executor
}

func (r *journal) identify(entries []git.TreeEntry) (identity, error) {
	p := r.Program
	sum, err := r.definition()
	if err != nil {
		return identity{}, err
	}
	defined := short(sum)
	targets := p.Matcher()
	for _, entry := range entries {
		if !targets.Target(entry.Path) || p.OfSuite(entry.Path) {
			fmt.Fprintf(sum, "%s %s\t%s\x00", entry.Mode, entry.ID, entry.Path)
		}
	}
	return identity{Evaluator: short(sum), Definition: defined, Executor: r.Executor}, nil
}

func (r *journal) definition() (hash.Hash, error) {
	settings, err := json.Marshal(r.Program.Meaning())
	if err != nil {
		return nil, fmt.Errorf("hash the evaluation: %w", err)
	}
	sum := sha256.New()
	sum.Write(settings)
	return sum, nil
}

func short(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil))[:16] }

// identified is a position with the incumbent's files, and with what its measurement means.
func (r *branches) identified(ctx context.Context, at position) (position, error) {
	var err error
	if at.entries, err = r.Repo.LsTree(ctx, at.Head); err == nil {
		at.identity, err = r.identify(at.entries)
	}
	return at, err
}
