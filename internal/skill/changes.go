package skill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
)

// content is a directory with what is in it, with the modes that it stands for.
type content struct {
	dir  string
	tree workspace.Tree
}

// version reads one of the workspace.
func (v *Versions) version(ctx context.Context, n int) (content, error) {
	dir := v.Version(n)
	found, err := workspace.Verify(ctx, dir)
	return content{dir, found}, err
}

// patch is what turns one content into another, for people and for `git apply`. Directories
// without files, and mode bits other than a file's executable one, are not in it: git does
// not know them.
func (v *Versions) patch(ctx context.Context, before, after content) (patch []byte, err error) {
	dir, err := os.MkdirTemp(v.TempDir, "autoloop-scratch-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tree.RemoveAll(dir)) }()
	repo, err := git.Scratch(ctx, dir, v.Environ)
	if err != nil {
		return nil, err
	}
	repo.Temp = dir
	var trees [2]string
	for i, side := range []content{before, after} {
		if trees[i], err = side.write(ctx, repo); err != nil {
			return nil, err
		}
	}
	return repo.Diff(ctx, trees[0], trees[1])
}

// write makes a tree of a content in a repository.
func (c content) write(ctx context.Context, repo *git.Repo) (string, error) {
	list := map[string]*git.File{}
	for _, e := range c.tree {
		file := &git.File{Mode: git.ModeSymlink, Data: []byte(e.Target)}
		if e.IsFile() {
			file.Mode = ""
			if e.Mode&0o100 != 0 {
				file.Mode = git.ModeExecutable
			}
			var err error
			if file.Data, err = os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(e.Path))); err != nil {
				return "", err
			}
		}
		if !e.IsDir() {
			list[e.Path] = file
		}
	}
	return repo.WriteFiles(ctx, "", list)
}

// changesOf lists what differs, with modes and what is binary.
func changesOf(before, after content) []render.SkillChange {
	changes := []render.SkillChange{}
	for _, d := range files.Compare(before.tree, after.tree) {
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
			data, _ := os.ReadFile(filepath.Join(side.dir, filepath.FromSlash(e.Path)))
			c.Binary = bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0
		}
		changes = append(changes, c)
	}
	return changes
}
