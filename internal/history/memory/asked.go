package memory

import (
	"context"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/program"
)

// Versions returns a program as its file is and as it ever was in commits that revs
// lead to, newest first; none when it has no file in the repository. A version
// that has errors is left out.
func (s Programs) Versions(ctx context.Context, m *Memory, name string, revs ...string) ([]*program.Program, error) {
	present, err := s.Find(name)
	if err != nil || present == nil || !filepath.IsLocal(filepath.FromSlash(present.File)) {
		return nil, err
	}
	texts := []string{}
	if now, err := os.ReadFile(filepath.Join(s.Root, filepath.FromSlash(present.File))); err == nil {
		texts = append(texts, string(now))
	}
	var known []string
	for _, rev := range revs {
		if commit, found, err := m.Repo.Resolve(ctx, rev); err == nil && found {
			known = append(known, commit)
		}
	}
	if len(known) > 0 {
		old, err := m.Repo.Versions(ctx, present.File, known...)
		if err != nil {
			return nil, err
		}
		for _, v := range old {
			if v.NewID == "" {
				continue
			}
			objects, err := m.Repo.Cat(ctx, v.NewID)
			if err != nil {
				return nil, err
			}
			texts = append(texts, string(objects[0].Data))
		}
	}
	var versions []*program.Program
	for _, text := range texts {
		if p := program.Parse(present.File, []byte(text)); p.Err() == nil {
			versions = append(versions, p)
		}
	}
	return versions, nil
}
