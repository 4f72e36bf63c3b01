package process

import (
	"os"
	"path/filepath"
	"slices"
)

// cache adds a toolchain's cache. One that is yet to be made, or has no place in the view, is
// another directory there. Of a list, as GOPATH may be one, the first is written to and the
// others are read.
func (b *viewBuilder) cache(name, value string, spec *Spec) bool {
	at := slices.IndexFunc(caches, func(c cache) bool { return c.name == name })
	dirs := filepath.SplitList(value)
	if at < 0 || len(dirs) == 0 || !filepath.IsAbs(dirs[0]) || scratch(spec.Env) == "" {
		return false
	}
	for _, dir := range dirs[1:] {
		if !b.holdsHidden(dir) {
			b.add(mount{Change: show, Path: dir})
		}
	}
	path := filepath.Clean(dirs[0])
	m := mount{Change: layer, Path: path, Scratch: filepath.Join(scratch(spec.Env), name), Keep: caches[at].store}
	switch {
	case b.owned(m):
		return true
	case spec.FillCaches && !b.holdsHidden(path) && caches[at].fill(path, spec):
		m = mount{Change: write, Path: path}
	case b.holdsHidden(path) || missing(path):
		b.move(name, value, spec)
		return true
	}
	b.add(m)
	if name == "GOPATH" && Getenv(spec.Env, "GOMODCACHE") == "" && missing(filepath.Join(path, "pkg", "mod")) {
		b.move("GOMODCACHE", "", spec) // without overlays what is in the store can only be read
	}
	return true
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// filled reports whether a directory has anything in it.
func filled(dir string) bool {
	open, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer closeAll(open)
	names, _ := open.Readdirnames(1)
	return len(names) > 0
}

// fill reports whether a cache of builds may be written to as it is. One that is
// yet to be made is made when its tool is there.
func (c cache) fill(path string, spec *Spec) bool {
	if c.store || !missing(path) {
		return !c.store
	}
	_, err := LookPath(c.tool, spec.Dir, spec.Env)
	return err == nil && os.MkdirAll(path, 0o700) == nil
}

// move gives a cache a directory in the command's HOME.
func (b *viewBuilder) move(name, value string, spec *Spec) {
	dirs := filepath.SplitList(value)
	moved := name + "=" + filepath.Join(Getenv(spec.Env, "HOME"), ".cache", name)
	for _, dir := range dirs[min(1, len(dirs)):] {
		moved += string(filepath.ListSeparator) + dir
	}
	b.moved = append(b.moved, moved)
}
