package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// packName begins the names of the packs that Pack makes, so that they are told
	// from those of other git processes, which are never touched.
	packName = "autoloop"
	// maxPacks is how many of them there are before they become one.
	maxPacks = 12
)

// Pack puts the objects into a pack that tips reach and known do not, and removes
// their loose files. Objects that are in a pack already are left there. It may be
// ended at any moment, and work beside other git processes: an object is always in a
// pack or a file of its own.
func (r *Repo) Pack(ctx context.Context, tips, known []string) error {
	in := strings.Join(tips, "\n") + "\n"
	for _, id := range known {
		in += "^" + id + "\n"
	}
	packs := r.packs()
	made, err := packs.make(ctx, in, "--revs", "--incremental", "--non-empty", "--delta-base-offset")
	if err != nil {
		return err
	}
	for _, name := range made {
		if err := packs.dropLoose(ctx, name); err != nil {
			return err
		}
	}
	return packs.join(ctx)
}

// LooseFile is where an object is that is in no pack.
func (r *Repo) LooseFile(id string) string {
	return filepath.Join(r.CommonDir, "objects", id[:2], id[2:])
}

// packs are the repository's packs that Pack makes.
type packs struct{ *Repo }

func (r *Repo) packs() packs { return packs{r} }

func (r packs) dir() string { return filepath.Join(r.CommonDir, "objects", "pack") }

// make makes packs, and returns their names without an ending.
func (r packs) make(ctx context.Context, in string, args ...string) ([]string, error) {
	out, err := r.Run(ctx, Input{Stdin: []byte(in)}, append(append([]string{"pack-objects", "--quiet"}, args...), filepath.Join(r.dir(), packName))...)
	if err != nil {
		return nil, fmt.Errorf("pack objects: %w", err)
	}
	var names []string
	for hash := range strings.FieldsSeq(string(out)) {
		names = append(names, packName+"-"+hash)
	}
	return names, nil
}

// dropLoose removes the files of objects that a pack has. Who looks for one of them in
// this moment finds the pack.
func (r packs) dropLoose(ctx context.Context, pack string) error {
	index, err := os.ReadFile(filepath.Join(r.dir(), pack+".idx"))
	if err != nil {
		return fmt.Errorf("read the index of a pack: %w", err)
	}
	out, err := r.Run(ctx, Input{Stdin: index}, "show-index", "--object-format="+r.ObjectFormat)
	if err != nil {
		return fmt.Errorf("read the index of a pack: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 1 && isID(r.ObjectFormat, fields[1]) {
			_ = os.Remove(r.LooseFile(fields[1])) // most are there, and what stays is a copy
		}
	}
	return nil
}

func (r packs) join(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(r.dir(), packName+"-*.pack"))
	if err != nil {
		return err
	}
	var old []string
	for _, file := range files {
		info, err := os.Stat(strings.TrimSuffix(file, ".pack") + ".idx")
		if err == nil && info.Mode().IsRegular() {
			old = append(old, strings.TrimSuffix(filepath.Base(file), ".pack"))
			continue
		}
		if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(file) // of a process that was killed before it wrote the index
		}
	}
	if len(old) < maxPacks {
		return nil
	}
	made, err := r.make(ctx, strings.Join(old, ".pack\n")+".pack\n", "--stdin-packs", "--delta-base-offset")
	if err != nil || len(made) == 0 {
		return err
	}
	for _, name := range old {
		if slices.Contains(made, name) { // several, where git's configuration bounds the size of a pack
			continue
		}
		// Without its index nobody opens a pack any more.
		for _, ending := range []string{".idx", ".rev", ".pack"} {
			_ = os.Remove(filepath.Join(r.dir(), name+ending))
		}
	}
	return nil
}
