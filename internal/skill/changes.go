package skill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/render"
	"github.com/org/autoloop/internal/skill/workspace"
)

// versionPatch is what a version changes of the original; nothing for v0.
func (v *Versions) versionPatch(ctx context.Context, n int) ([]byte, []render.SkillChange, error) {
	if n == 0 {
		return nil, []render.SkillChange{}, nil
	}
	before, err := keptVersion(ctx, v.Workspace, 0)
	if err != nil {
		return nil, nil, err
	}
	after, err := keptVersion(ctx, v.Workspace, n)
	if err != nil {
		return nil, nil, err
	}
	patch, err := v.patch(ctx, before, after)
	return patch, changesOf(before, after), err
}

func keptVersion(ctx context.Context, w *workspace.Workspace, n int) (workspace.Kept, error) {
	found, err := workspace.Verify(ctx, w.Version(n))
	return workspace.Kept{Dir: w.Version(n), Tree: found}, err
}

// patch is what turns one tree into another, for people and for `git apply`. Directories
// without files, and mode bits other than a file's executable one, are not in it: git does
// not know them.
func (v *Versions) patch(ctx context.Context, before, after workspace.Kept) (patch []byte, err error) {
	var sides [2]map[string]*git.File
	for i, side := range []workspace.Kept{before, after} {
		sides[i] = map[string]*git.File{}
		for _, d := range files.Compare(before.Tree, after.Tree) {
			if err := put(sides[i], side.Dir, []*workspace.Entry{d.Before, d.After}[i]); err != nil {
				return nil, err
			}
		}
	}
	err = v.inScratch(ctx, func(repo *git.Repo) error {
		was, err := repo.WriteFiles(ctx, "", sides[0])
		if err != nil {
			return err
		}
		now, err := repo.WriteFiles(ctx, "", sides[1])
		if err != nil {
			return err
		}
		patch, err = repo.Diff(ctx, was, now)
		return err
	})
	return patch, err
}

// put adds an entry to the files of a git tree; directories and nil are left out.
func put(list map[string]*git.File, dir string, e *workspace.Entry) (err error) {
	if e == nil || e.IsDir() {
		return nil
	}
	file := &git.File{Mode: git.ModeSymlink, Data: []byte(e.Target)}
	if e.IsFile() {
		file.Mode = ""
		if e.Mode&0o100 != 0 {
			file.Mode = git.ModeExecutable
		}
		file.Data, err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(e.Path)))
	}
	list[e.Path] = file
	return err
}

// inScratch gives work a repository that is thrown away.
func (v *Versions) inScratch(ctx context.Context, work func(*git.Repo) error) (err error) {
	dir, err := os.MkdirTemp(v.TempDir, "autoloop-scratch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tree.RemoveAll(dir)) }()
	repo, err := git.Scratch(ctx, dir, v.Environ)
	if err != nil {
		return err
	}
	return work(repo.WithTemp(dir))
}

// changesOf lists what differs, with modes and what is binary.
func changesOf(before, after workspace.Kept) []render.SkillChange {
	changes := []render.SkillChange{}
	for _, d := range files.Compare(before.Tree, after.Tree) {
		c := render.SkillChange{Path: plain.Path(d.Path), What: "changed"}
		switch {
		case d.Before == nil:
			c.What, c.Binary = "added", isBinary(after, d.After)
		case d.After == nil:
			c.What, c.Binary = "deleted", isBinary(before, d.Before)
		default:
			c.Binary = isBinary(after, d.After)
			if was, is := d.Before.Mode.Perm(), d.After.Mode.Perm(); was != is {
				c.Mode = fmt.Sprintf("%04o -> %04o", was, is)
			}
			if d.Before.Mode.Type() == d.After.Mode.Type() && d.Before.SHA256 == d.After.SHA256 &&
				d.Before.Target == d.After.Target {
				c.What = "mode"
			}
		}
		changes = append(changes, c)
	}
	return changes
}

// isBinary looks as git does: for a zero byte in the first 8000.
func isBinary(in workspace.Kept, e *workspace.Entry) bool {
	if !e.IsFile() {
		return false
	}
	file, err := os.Open(filepath.Join(in.Dir, filepath.FromSlash(e.Path)))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	const looked = 8000
	head, _ := io.ReadAll(io.LimitReader(file, looked))
	return bytes.IndexByte(head, 0) >= 0
}
