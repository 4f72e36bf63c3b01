package proposal

import (
	"fmt"
	"regexp"
	"sync"
)

// forms are what the values of a manifest look like. They are made when the
// first bundle is read: each process of ours would pay for them otherwise, and
// every command has one for its supervisor.
var forms = sync.OnceValue(func() (f struct{ object, digest, slug, runID, repository, branchName, mark *regexp.Regexp }) {
	f.object = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	f.digest = regexp.MustCompile(`^[0-9a-f]{64}$`)
	f.slug = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	f.runID = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)
	f.repository = regexp.MustCompile(`^([A-Za-z0-9-]{1,100}/[A-Za-z0-9._-]{1,100})?$`)
	f.branchName = regexp.MustCompile(`^[^\x00-\x20\x7f~^:?*\[\\]{1,250}$`)
	f.mark = regexp.MustCompile(`^([0-9]{1,18} [0-9]{1,18})?$`)
	return f
})

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
	form, changes := forms(), m.Kind != Chores
	for _, field := range []struct {
		key, value string
		form       *regexp.Regexp
		needed     bool
	}{
		{"repository", m.Repository, form.repository, false},
		{"program", m.Program, form.slug, true},
		{"run", m.Run, form.runID, true},
		{"base_branch", m.BaseBranch, form.branchName, changes},
		{"base", m.Base, form.object, changes},
		{"branch", m.Branch, form.object, m.Kind == Fix},
		{"memory", m.Memory, form.object, false},
		{"books", m.Records, form.digest, true},
		{"incumbent_tree", m.Incumbent, form.object, changes},
		{"candidate_tree", m.Candidate, form.object, false},
		{"heard", m.Heard, form.mark, false},
	} {
		if field.value == "" && !field.needed {
			continue
		}
		if !field.form.MatchString(field.value) {
			return fmt.Errorf("has a manifest whose %q is %.80q, which cannot be", field.key, field.value)
		}
	}
	return nil
}

// whole says what is wrong with the parts of a bundle beside each other.
func (b Bundle) whole() error {
	switch {
	case b.Kind == Chores && (b.Candidate != "" || len(b.Patch)+len(b.Events) > 0 || b.Told):
		return fmt.Errorf("is of kind %q and has more in it than that", Chores)
	case b.Kind != Chores && len(b.Events) == 0:
		return fmt.Errorf("has no events")
	case (b.Candidate == "") != (len(b.Patch) == 0):
		return fmt.Errorf("has a patch without a candidate, or a candidate without a patch")
	}
	return checkPatch(b.Patch)
}
