package tree

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
)

// compare replaces the changes that may be by those that are: what the staged
// index has otherwise than the incumbent. Refused ones stay.
func (s *scan) compare(ctx context.Context) error {
	out, err := s.staged.run(ctx, git.Input{}, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", s.id)
	if err != nil {
		return err
	}
	described := make(map[string]decision.Change, len(s.changes))
	for _, c := range s.changes {
		described[c.Path] = c
	}
	var changes []decision.Change
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for at := 0; at+1 < len(fields); at += 2 {
		c, err := differs(described[fields[at+1]], fields[at], fields[at+1])
		if err != nil {
			return err
		}
		changes = append(changes, c)
		delete(described, c.Path)
	}
	for _, c := range described {
		if c.Refused == "" && c.Kind == decision.Added {
			c.Refused = "cannot be stored: git does not take it" // it says so and goes on
		}
		if c.Refused != "" {
			changes = append(changes, c)
		}
	}
	s.changes = changes
	return nil
}

// differs reads ":oldmode newmode oldid newid status" and the path after it.
func differs(c decision.Change, facts, name string) (decision.Change, error) {
	fields := strings.Fields(strings.TrimPrefix(facts, ":"))
	if len(fields) != 5 {
		return c, fmt.Errorf("git diff-index printed %.100q", facts)
	}
	c.Path, c.OldMode, c.NewMode, c.NewBlob = name, fields[0], fields[1], fields[3]
	switch status := fields[4]; {
	case status == "A":
		c.Kind, c.OldMode = decision.Added, ""
	case status == "D":
		c.Kind, c.NewMode, c.NewBlob, c.Size, c.LinkTarget = decision.Deleted, "", "", 0, ""
	case status == "T":
		c.Kind = decision.Type
	case fields[2] == fields[3]:
		c.Kind = decision.Mode
	default:
		c.Kind = decision.Modified
	}
	return c, nil
}

// readFilters asks for the filter of every changed file by the incumbent's
// attributes: the index is still the incumbent's.
func (s *scan) readFilters(ctx context.Context) error {
	var list strings.Builder
	for _, c := range s.changes {
		if c.Refused == "" && strings.HasPrefix(c.NewMode, "100") {
			list.WriteString(c.Path + "\x00")
		}
	}
	if list.Len() == 0 || !s.hasAttributes() {
		return nil
	}
	out, err := s.staged.run(ctx, git.Input{Stdin: []byte(list.String())}, "check-attr", "--cached", "-z", "--stdin", "filter")
	if err != nil {
		return err
	}
	s.filters = map[string]string{}
	fields := strings.Split(string(out), "\x00")
	for at := 0; at+2 < len(fields); at += 3 {
		if value := fields[at+2]; value != "unspecified" && value != "unset" {
			s.filters[fields[at]] = value
		}
	}
	return nil
}

// refuseFiltered refuses files under a filter: their content in git is made by
// a program that does not run here.
func (s *scan) refuseFiltered() {
	for i, c := range s.changes {
		if filter, filtered := s.filters[c.Path]; filtered && c.Refused == "" && c.Kind != decision.Deleted {
			s.changes[i].Refused = fmt.Sprintf("is under the filter %s, which does not run here", filter)
		}
	}
}

// refuseFilters refuses attributes that choose a filter: nothing under it could be
// changed afterwards.
func (s *scan) refuseFilters(ctx context.Context) error {
	for i, c := range s.changes {
		if !isAttributes(c.Path) || c.Refused != "" || !strings.HasPrefix(c.NewMode, "100") {
			continue
		}
		after, err := s.newAttributes(c.Path)
		if err != nil {
			return err
		}
		before, err := s.oldAttributes(ctx, c.Path)
		if err != nil {
			return err
		}
		top, err := s.oldAttributes(ctx, ".gitattributes")
		if err != nil {
			return err
		}
		if slices.ContainsFunc(s.changes, func(c decision.Change) bool { return c.Path == ".gitattributes" && strings.HasPrefix(c.NewMode, "100") }) {
			if top, err = s.newAttributes(".gitattributes"); err != nil {
				return err
			}
		}
		if decision.SetsFilter(before, after, top) {
			s.changes[i].Refused = decision.NewFilter
		}
	}
	return nil
}

func (s *scan) newAttributes(path string) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.staged.path("attributes"), filepath.FromSlash(path)))
	return string(text), err
}

// oldAttributes is the text that the tree was built with, "" for no file.
func (s *scan) oldAttributes(ctx context.Context, path string) (string, error) {
	was, tracked := s.entries[path]
	if !tracked || was.Type != "blob" {
		return "", nil
	}
	objects, err := s.repo.Cat(ctx, was.ID)
	if err != nil {
		return "", err
	}
	return string(objects[0].Data), nil
}

func (s *scan) hasAttributes() bool {
	for name := range s.entries {
		if path.Base(name) == ".gitattributes" {
			return true
		}
	}
	return false
}
