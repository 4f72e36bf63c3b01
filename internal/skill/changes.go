package skill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
)

// patch is what turns one content into another, for people and for `git apply`. Directories
// without files, and mode bits other than a file's executable one, are not in it: git does
// not know them.
func (v *Versions) patch(ctx context.Context, before, after Content) (patch []byte, err error) {
	err = v.inScratch(ctx, func(repo *git.Repo, _ string) error {
		ids, err := commits(ctx, repo, before, after)
		if err == nil {
			patch, err = repo.Diff(ctx, ids[0], ids[1])
		}
		return err
	})
	return patch, err
}

// commits writes contents into a repository; those after the first are made from it.
func commits(ctx context.Context, repo *git.Repo, contents ...Content) (ids []string, err error) {
	for _, c := range contents {
		list := map[string]*git.File{}
		for _, e := range c.Tree {
			file := &git.File{Mode: git.ModeSymlink, Data: []byte(e.Target)}
			if e.IsFile() {
				file.Mode = ""
				if e.Mode&0o100 != 0 {
					file.Mode = git.ModeExecutable
				}
				if file.Data, err = os.ReadFile(filepath.Join(c.Dir, e.Path)); err != nil {
					return nil, err
				}
			}
			if !e.IsDir() {
				list[e.Path] = file
			}
		}
		id, err := repo.CommitFiles(ctx, "", list, ids[:min(len(ids), 1)], "skill", time.Unix(1e9, 0))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// inScratch gives work a repository and a place for a directory, which are thrown away.
func (v *Versions) inScratch(ctx context.Context, work func(repo *git.Repo, place string) error) (err error) {
	dir, err := os.MkdirTemp(v.TempDir, "autoloop-scratch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, files.RemoveAll(dir)) }()
	repo, err := git.Scratch(ctx, dir, v.Environ)
	if err != nil {
		return err
	}
	repo.Temp = dir
	return work(repo, filepath.Join(dir, "tree"))
}

// merge writes into a new directory what base becomes with the changes of both others, and
// returns what that is. With conflicts, which are paths, it writes nothing.
func merge(ctx context.Context, repo *git.Repo, base, ours, theirs Content, into string,
) (merged Content, conflicts []string, err error) {
	ids, err := commits(ctx, repo, base, ours, theirs)
	if err != nil {
		return merged, nil, err
	}
	id, conflicts, err := repo.MergeTree(ctx, ids[1], ids[2])
	for i, name := range conflicts { // a file beside a directory of its name is told with the side that has it
		conflicts[i] = strings.TrimSuffix(strings.TrimSuffix(name, "~"+ids[1]), "~"+ids[2])
	}
	if err != nil || len(conflicts) > 0 {
		return merged, conflicts, err
	}
	if _, err := (&tree.Builder{Repo: repo}).Build(ctx, id, into, tree.Options{}); err != nil {
		return merged, nil, err
	}
	if merged, err = Scan(ctx, into); err != nil {
		return merged, nil, err
	}
	// git knows neither modes nor directories without files: a mode is that of the side which changed it
	modes := map[string]fs.FileMode{}
	for _, e := range ours.Tree {
		modes[e.Path] = e.Mode
	}
	for _, e := range theirs.Tree {
		was, before := base.Find(e.Path)
		if _, here := modes[e.Path]; !here || !before || e.Mode != was.Mode {
			modes[e.Path] = e.Mode
		}
	}
	for i, e := range merged.Tree {
		if mode, known := modes[e.Path]; known && mode.Type() == e.Mode.Type() {
			merged.Tree[i].Mode = mode
		}
		delete(modes, e.Path)
	}
	for name, mode := range modes {
		_, before := base.Find(name)
		_, here := ours.Find(name)
		_, there := theirs.Find(name)
		if mode.IsDir() && (!before || here && there) {
			merged.Tree = append(merged.Tree, Entry{Path: name, Mode: mode})
		}
	}
	merged.Sort()
	return merged, nil, nil
}

// changesOf lists what differs, with modes and what is binary.
func changesOf(before, after Content) []render.SkillChange {
	changes := []render.SkillChange{}
	for _, d := range files.Compare(before.Tree, after.Tree) {
		c := render.SkillChange{Path: plain.Path(d.Path), What: "changed"}
		switch {
		case d.Before == nil:
			c.What = "added"
		case d.After == nil:
			c.What = "deleted"
		default:
			was, is := *d.Before, *d.After
			if was.Mode.Perm() != is.Mode.Perm() {
				c.Mode = fmt.Sprintf("%04o -> %04o", was.Mode.Perm(), is.Mode.Perm())
			}
			if was.Mode = is.Mode; was == is && d.Before.Mode.Type() == is.Mode.Type() {
				c.What = "mode"
			}
		}
		side, e := after, d.After
		if e == nil {
			side, e = before, d.Before
		}
		if e.IsFile() { // git looks for a zero byte in the first 8000
			data, _ := os.ReadFile(filepath.Join(side.Dir, e.Path))
			c.Binary = bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0
		}
		changes = append(changes, c)
	}
	return changes
}
