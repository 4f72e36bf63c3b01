package tree

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/autoloop/internal/gate"
	"github.com/org/autoloop/internal/git"
)

// identify gives every changed file its blob, made with the attributes of the
// built tree, and drops those that are what they were. Files under a filter
// are refused: their content in git is made by a program that does not run here.
func (s *scan) identify(ctx context.Context) error {
	var files, links []int
	for i, c := range s.changes {
		switch {
		case c.Refused != "" || c.Kind == gate.Deleted:
		case c.NewMode == git.ModeSymlink:
			links = append(links, i)
		default:
			files = append(files, i)
		}
	}
	if err := s.refuseFiltered(ctx, files); err != nil {
		return err
	}
	if err := s.hashFiles(ctx, files); err != nil {
		return err
	}
	if err := s.hashLinks(ctx, links); err != nil {
		return err
	}
	s.changes = slices.DeleteFunc(s.changes, func(c gate.Change) bool {
		was, tracked := s.entries[c.Path]
		return tracked && c.NewBlob == was.entry.ID && c.NewMode == was.entry.Mode
	})
	for i, c := range s.changes {
		if c.Kind == gate.Modified && c.NewBlob == s.entries[c.Path].entry.ID {
			s.changes[i].Kind = gate.Mode
		}
	}
	return nil
}

func (s *scan) refuseFiltered(ctx context.Context, files []int) error {
	if len(files) == 0 {
		return nil
	}
	in, err := s.rules(ctx)
	if err != nil {
		return err
	}
	var paths bytes.Buffer
	for _, i := range files {
		paths.WriteString(s.changes[i].Path + "\x00")
	}
	in.Stdin = paths.Bytes()
	out, err := s.repo.Run(ctx, in, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return fmt.Errorf("read attributes: %w", err)
	}
	fields := strings.Split(string(out), "\x00")
	filters := map[string]string{}
	for at := 0; at+2 < len(fields); at += 3 {
		filters[fields[at]] = fields[at+2]
	}
	for _, i := range files {
		if filter := filters[s.changes[i].Path]; filter != "" && filter != "unspecified" && filter != "unset" {
			s.changes[i].Refused = fmt.Sprintf("is under the filter %s, which does not run here", filter)
		}
	}
	return nil
}

// hashFiles writes the blobs of changed files, each with the conversions of
// its own path.
func (s *scan) hashFiles(ctx context.Context, files []int) error {
	for _, i := range files {
		c := &s.changes[i]
		if c.Refused != "" {
			continue
		}
		data, err := s.read(c.Path)
		if err != nil {
			c.Refused = "cannot be read"
			continue
		}
		in, err := s.rules(ctx)
		if err != nil {
			return err
		}
		in.Stdin = data
		out, err := s.repo.Run(ctx, in, "hash-object", "-w", "--stdin", "--path="+c.Path)
		if err != nil {
			return fmt.Errorf("write blob of %s: %w", strconv.Quote(c.Path), err)
		}
		c.NewBlob = strings.TrimSpace(string(out))
	}
	return nil
}

func (s *scan) hashLinks(ctx context.Context, links []int) error {
	contents := make([][]byte, len(links))
	for at, i := range links {
		contents[at] = []byte(s.changes[i].LinkTarget)
	}
	ids, err := s.repo.HashObjects(ctx, contents...)
	if err != nil {
		return err
	}
	for at, i := range links {
		s.changes[i].NewBlob = ids[at]
	}
	return nil
}

// Candidate returns the tree object of what the tree was built from with the
// changes applied, as Scan found them.
func (t *Tree) Candidate(ctx context.Context, changes []gate.Change) (string, error) {
	files := map[string]*git.File{}
	for _, c := range changes {
		switch {
		case c.Refused != "":
			return "", fmt.Errorf("%s %s", strconv.Quote(c.Path), c.Refused)
		case c.Kind == gate.Deleted:
			files[c.Path] = nil
		default:
			files[c.Path] = &git.File{Mode: c.NewMode, ID: c.NewBlob}
		}
	}
	return t.repo.WriteFiles(ctx, t.treeish, files)
}
