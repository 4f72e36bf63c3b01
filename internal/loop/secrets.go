package loop

import (
	"bytes"
	"context"
	"slices"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/process"
)

func (a *attempt) mask() {
	reply := &a.reply
	reply.Summary = a.masker.OneLine(reply.Summary, agent.MaxSummary)
	reply.Model = a.masker.String(reply.Model)
	for _, failure := range []*agent.Failure{reply.Failure, reply.Idle} {
		if failure != nil {
			failure.Message = a.masker.String(failure.Message)
		}
	}
}

// leaks says which changed files have a secret in them, or in their names, that those
// of the commit before do not have: a branch is no place for one. One that was there
// before does not open a file to others.
func leaks(ctx context.Context, repo *git.Repo, before string, masker process.Masker,
	changes []decision.Change,
) ([]decision.Reason, error) {
	changes = slices.DeleteFunc(slices.Clone(changes),
		func(c decision.Change) bool { return c.Kind == decision.Deleted })
	ids := make([]string, len(changes))
	for i, c := range changes {
		ids[i] = c.NewBlob
	}
	brought, err := repo.Cat(ctx, ids...)
	if err != nil {
		return nil, err
	}
	var reasons []decision.Reason
	for i, c := range changes {
		text := named(bytes.Clone(brought[i].Data), c.Path)
		if !masker.Leaks(text) {
			continue
		}
		found, err := repo.Cat(ctx, before+":"+c.Path)
		if err != nil {
			return nil, err
		}
		var was []byte
		if !found[0].Missing() {
			was = named(bytes.Clone(found[0].Data), c.Path)
		}
		if masker.LeaksMore(text, was) {
			reasons = append(reasons, decision.Reason{Kind: decision.HasSecret, Path: masker.String(c.Path)})
		}
	}
	return reasons, nil
}

// named is a content, which is appended to, with its name.
func named(text []byte, path string) []byte { return append(text, "\n"+path...) }
