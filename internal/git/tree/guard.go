package tree

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/decision"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/lists"
)

// The bounds of a candidate.
const (
	maxFile  = 10 << 20  // bytes of one changed file
	maxTotal = 100 << 20 // bytes of all changed files
	maxPaths = 50_000    // changed paths
	maxLink  = 4096      // bytes of a symbolic link
)

// Changes says in which paths one tree differs from another, and why no candidate may
// contain some of them, whatever its target is. What agents left in a tree and what
// another job hands over both go through it. Both ids are of trees or commits.
func Changes(ctx context.Context, repo *git.Repo, before, after string) ([]decision.Change, error) {
	found, err := repo.Changes(ctx, before, after)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if len(found) > maxPaths {
		c := changeOf(found[0])
		c.Refused = tooMany
		return []decision.Change{c}, nil
	}
	g := guard{repo: repo, before: before, after: after, changes: lists.Map(found, changeOf)}
	if g.entries, err = repo.LsTree(ctx, before); err != nil {
		return nil, err
	}
	for _, refuse := range []func(context.Context) error{
		g.refuseSizes, g.refuseFiltered, g.refuseFilters, g.refuseStructure,
	} {
		if err := refuse(ctx); err != nil {
			return nil, err
		}
	}
	return g.changes, nil
}

// guard is one look at the differences of two trees.
type guard struct {
	repo          *git.Repo
	before, after string
	entries       []git.TreeEntry // of before
	changes       []decision.Change
}

var tooMany = fmt.Sprintf("is one of more than %d changed paths", maxPaths)

func changeOf(entry git.DiffEntry) decision.Change {
	c := decision.Change{
		Path: entry.Path, Kind: decision.Modified, OldMode: entry.OldMode, NewMode: entry.NewMode,
		NewBlob: entry.NewID,
	}
	switch {
	case c.OldMode == "":
		c.Kind = decision.Added
	case c.NewMode == "":
		c.Kind = decision.Deleted
	case c.OldMode[:3] != c.NewMode[:3]:
		c.Kind = decision.Type
	case entry.OldID == entry.NewID:
		c.Kind = decision.Mode
	}
	return c
}

// refuseSizes refuses what is too large, and what is neither file nor link.
func (g *guard) refuseSizes(ctx context.Context) error {
	paths := lists.Map(g.changes, func(c decision.Change) string { return c.Path })
	sized, err := g.repo.LsFiles(ctx, g.after, paths...)
	if err != nil {
		return err
	}
	sizes, total := map[string]int64{}, int64(0)
	for _, entry := range sized {
		sizes[entry.Path] = entry.Size
	}
	for i := range g.changes {
		c := &g.changes[i]
		c.Size = sizes[c.Path]
		c.Refused = refused(*c)
		if total += c.Size; total > maxTotal && c.Refused == "" {
			c.Refused = tooMuch
		}
	}
	return nil
}

// refused says why a candidate may not have such a file, wherever it is.
func refused(c decision.Change) string {
	switch {
	case c.NewMode == git.ModeSymlink && c.Size > maxLink:
		return fmt.Sprintf("is a link of %d bytes, more than %d", c.Size, maxLink)
	case c.NewMode != "" && c.NewMode != git.ModeFile && c.NewMode != git.ModeExecutable &&
		c.NewMode != git.ModeSymlink:
		return "is no regular file and no link"
	case c.Size > maxFile:
		return tooLarge(c.Size)
	default:
		return ""
	}
}

var tooMuch = fmt.Sprintf("brings the changed files over %d bytes", maxTotal)

func tooLarge(size int64) string { return fmt.Sprintf("has %d bytes, more than %d", size, maxFile) }

// refuseFiltered refuses files under a filter by the attributes of before: their
// content in git is made by a program that does not run here.
func (g *guard) refuseFiltered(ctx context.Context) error {
	if !slices.ContainsFunc(g.entries, func(e git.TreeEntry) bool { return isAttributes(e.Path) }) {
		return nil
	}
	var paths []string
	for _, c := range g.changes {
		if isFile(c) {
			paths = append(paths, c.Path)
		}
	}
	filters, err := g.repo.Filters(ctx, g.before, paths...)
	for i, c := range g.changes {
		if filter, filtered := filters[c.Path]; filtered && c.Refused == "" {
			g.changes[i].Refused = fmt.Sprintf("is under the filter %s, which does not run here", filter)
		}
	}
	return err
}

// isFile holds for a regular file, whose content a filter could make.
func isFile(c decision.Change) bool { return strings.HasPrefix(c.NewMode, "100") }

// refuseFilters refuses attributes that choose a filter: nothing under it could be
// changed afterwards.
func (g *guard) refuseFilters(ctx context.Context) error {
	for i, c := range g.changes {
		if !isAttributes(c.Path) || c.Refused != "" || !isFile(c) {
			continue
		}
		texts, err := g.repo.Cat(ctx, g.before+":"+c.Path, g.after+":"+c.Path, g.after+":.gitattributes")
		if err != nil {
			return err
		}
		if decision.SetsFilter(string(texts[0].Data), string(texts[1].Data), string(texts[2].Data)) {
			g.changes[i].Refused = decision.NewFilter
		}
	}
	return nil
}

// isAttributes holds for files that would change how the others are stored.
func isAttributes(name string) bool { return strings.EqualFold(path.Base(name), ".gitattributes") }

// refuseStructure refuses changes that make a repository of a directory, links that leave
// the tree, and changes by which one that was there before does.
func (g *guard) refuseStructure(ctx context.Context) error {
	ids, paths := map[string]string{}, make([]string, len(g.entries))
	for i, e := range g.entries {
		paths[i] = e.Path
		if e.Mode == git.ModeSymlink {
			ids[e.Path] = e.ID
		}
	}
	decision.RefuseBare(slices.Values(paths), g.changes)
	was, err := g.links(ctx, ids)
	if err != nil {
		return err
	}
	for _, c := range g.changes {
		delete(ids, c.Path)
		if c.NewMode == git.ModeSymlink {
			ids[c.Path] = c.NewBlob
		}
	}
	there, err := g.links(ctx, ids)
	if err == nil {
		g.changes = decision.RefuseLinks(was, there, g.changes)
	}
	return err
}

// links reads what links say.
func (g *guard) links(ctx context.Context, ids map[string]string) (decision.Links, error) {
	names := slices.Collect(maps.Keys(ids))
	texts, err := g.repo.Cat(ctx, lists.Map(names, func(name string) string { return ids[name] })...)
	if err != nil {
		return nil, err
	}
	links := decision.Links{}
	for i, name := range names {
		links[name] = string(texts[i].Data)
	}
	return links, nil
}
