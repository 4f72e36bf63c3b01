package proposal

import (
	"fmt"

	"github.com/org/autoloop/internal/lazyregexp"
)

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
