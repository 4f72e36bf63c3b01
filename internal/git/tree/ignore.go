package tree

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/git"
)

// explore holds untracked paths against the ignore rules, level by level, so
// that an ignored directory is never looked into.
func (s *scan) explore(ctx context.Context) error {
	for len(s.fresh) > 0 && len(s.changes) <= maxPaths {
		batch := s.fresh
		s.fresh = nil
		names := make([]string, len(batch))
		for i, c := range batch {
			names[i] = c.Path
			if c.NewMode == git.ModeDirectory {
				names[i] += "/"
			}
		}
		ignored, err := s.ignored(ctx, names)
		if err != nil {
			return err
		}
		for _, c := range batch {
			switch {
			case ignored[c.Path]:
			case c.NewMode != git.ModeDirectory:
				s.changes = append(s.changes, c)
			case tooDeep(c.Path):
				s.refuse(c.Path, fmt.Sprintf("is nested deeper than %d directories", maxDepth))
			default:
				s.walk(c.Path)
			}
		}
	}
	return nil
}

// plainly in front of a path keeps git from reading magic into it.
const plainly = "./"

// ignored returns those of the names that the built tree's rules ignore; a
// slash ends the name of a directory. The rules are read from where the agent
// never was. The user's own, from outside the tree, count as well.
func (s *scan) ignored(ctx context.Context, names []string) (map[string]bool, error) {
	in, err := s.rules(ctx)
	if err != nil {
		return nil, err
	}
	var paths bytes.Buffer
	for _, name := range names {
		name, isDir := strings.CutSuffix(name, "/")
		if isDir {
			// Git looks whether it is one. Where it cannot be made it counts as a file.
			_ = os.MkdirAll(filepath.Join(in.WorkTree, name), 0o700)
		}
		paths.WriteString(plainly + name + "\x00")
	}
	in.Stdin = paths.Bytes()
	out, err := s.repo.RunWith(ctx, in, "check-ignore", "--no-index", "-z", "--stdin")
	if err != nil && !git.SaysNo(err) {
		return nil, fmt.Errorf("ask git what it ignores: %w", err)
	}
	ignored := map[string]bool{}
	for path := range strings.SplitSeq(string(out), "\x00") {
		ignored[strings.TrimPrefix(path, plainly)] = true
	}
	return ignored, nil
}

// rules is a call whose work tree is a directory with the incumbent's
// .gitignore and .gitattributes files and no others.
func (s *scan) rules(ctx context.Context) (git.Input, error) {
	c, err := s.control()
	if err != nil {
		return git.Input{}, err
	}
	in := git.Input{WorkTree: c.path("rules"), Env: []string{"GIT_INDEX_FILE=" + c.path("none")}}
	if s.ruled {
		return in, nil
	}
	s.ruled = true
	var list strings.Builder
	for name, was := range s.entries {
		if base := path.Base(name); (base == ".gitignore" || base == ".gitattributes") &&
			strings.HasPrefix(was.Mode, "100") {
			list.WriteString(name + "\x00")
		}
	}
	if list.Len() == 0 {
		return in, nil
	}
	if err := s.readIndex(); err != nil {
		return in, err
	}
	write := git.Input{WorkTree: in.WorkTree, Stdin: []byte(list.String())}
	_, err = c.run(ctx, write, "checkout-index", "--quiet", "-z", "--stdin")
	return in, err
}

// readIndex puts the incumbent into the control directory's index, once.
func (s *scan) readIndex() error {
	if s.indexed {
		return nil
	}
	c, err := s.control()
	if err != nil {
		return err
	}
	s.indexed = true
	return os.WriteFile(c.path("index"), s.index, 0o600)
}
