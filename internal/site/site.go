// Package site makes the page of a repository's programs from the memory branch
// and writes it as files.
package site

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/history/memory"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render/page"
)

// maxPatch is the size in bytes beyond which the rest of a change is left out.
const maxPatch = 64 << 10

// Make reads the records of the named programs, or of all, and adds what they do not hold, such
// as when a program is due. A name without records is a misuse.
func Make(ctx context.Context, m *memory.Memory, names []string, add func(*page.Source)) (*page.Site, error) {
	states, err := m.States(ctx)
	if err != nil {
		return nil, err
	}
	known := slices.Sorted(maps.Keys(states))
	for _, name := range names {
		if _, found := states[name]; !found {
			return nil, misuse.Errorf("program %q has no records; there are records of %s", name,
				cmp.Or(strings.Join(known, ", "), "none"))
		}
	}
	if len(names) == 0 {
		names = known
	}
	s := &page.Site{Generated: m.Now()}
	for _, name := range names {
		records, _, err := m.Read(ctx, name)
		if err != nil {
			return nil, err
		}
		log := records.Ledger.Copy()
		past := log.Summary()
		source := page.Source{Name: name, Summary: &past, Events: log.Events, File: records.State}
		source.Diff = func(parent, commit string) []byte { return diff(ctx, m.Repo, parent, commit) }
		add(&source)
		p, err := page.New(source, m.Now())
		if err != nil {
			return nil, err
		}
		s.Programs = append(s.Programs, p)
	}
	return s, nil
}

// diff reads a change. One that cannot be read is not shown; its commit is named
// anyway.
func diff(ctx context.Context, repo *git.Repo, parent, commit string) []byte {
	if parent == "" {
		return nil
	}
	patch, err := repo.Diff(ctx, parent, commit)
	if err != nil {
		return nil
	}
	if len(patch) > maxPatch {
		patch = append(patch[:bytes.LastIndexByte(patch[:maxPatch], '\n')+1], "… the commit has the rest\n"...)
	}
	return patch
}

// Write writes the site: one file when out ends in .html, else a directory
// with index.html, and a page and a picture of each program. It returns the file to open.
func Write(s *page.Site, out string) (string, error) {
	dir, first := out, "index.html"
	pages := map[string]page.View{first: {Site: s, Overview: true}}
	if strings.EqualFold(filepath.Ext(out), ".html") {
		dir, first = filepath.Dir(out), filepath.Base(out)
		pages = map[string]page.View{first: {Site: s, Overview: true, Shown: s.Programs}}
	} else {
		for _, p := range s.Programs {
			pages[page.File(p.Name)] = page.View{Site: s, Shown: []*page.Program{p}}
		}
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", misuse.Errorf("%s is a file: name a directory, or a file that ends in .html", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // pages are for others to read
		return "", err
	}
	for name, view := range pages {
		var b bytes.Buffer
		if err := view.Write(&b); err != nil {
			return "", err
		}
		if err := files.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, first), nil
}
