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

// check says what is wrong with the manifest's values.
func (m Manifest) check() error {
	switch {
	case m.Schema != Schema:
		return fmt.Errorf("has schema %d, not %d: propose and publish with the same version", m.Schema, Schema)
	case m.Kind != Iteration && m.Kind != Fix && m.Kind != Chores:
		return fmt.Errorf("is of the unknown kind %.40q", m.Kind)
	case m.Iteration < 0 || m.Iteration > maxIteration:
		return fmt.Errorf("is of iteration %d, which cannot be", m.Iteration)
	}
	changes := m.Kind != Chores
	for _, field := range []struct {
		key, value string
		form       lazyregexp.Regexp
		needed     bool
	}{
		{"repository", m.Repository, repositoryForm, false},
		{"program", m.Program, slugForm, true},
		{"run", m.Run, runIDForm, true},
		{"base_branch", m.BaseBranch, branchNameForm, changes},
		{"base", m.Base, objectForm, changes},
		{"branch", m.Branch, objectForm, m.Kind == Fix},
		{"memory", m.Memory, objectForm, false},
		{"books", m.Records, digestForm, true},
		{"incumbent_tree", m.Incumbent, objectForm, changes},
		{"candidate_tree", m.Candidate, objectForm, false},
		{"heard", m.Heard, markForm, false},
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

// whole says what is wrong with the parts of a bundle beside each other.
func (b Bundle) whole() error {
	switch {
	case b.Kind == Chores && (b.Candidate != "" || len(b.Change)+len(b.Events) > 0 || b.Told):
		return fmt.Errorf("is of kind %q and has more in it than that", Chores)
	case b.Kind != Chores && len(b.Events) == 0:
		return fmt.Errorf("has no events")
	case (b.Candidate == "") != (len(b.Change) == 0):
		return fmt.Errorf("has changed files without a candidate, or a candidate without changed files")
	}
	return nil
}
