package process

import (
	"os"
	"path/filepath"
	"slices"
)

// cache adds a toolchain's cache, also one that is yet to be made. Of a list, as
// GOPATH may be one, the first is written to and the others are read.
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
	case b.holdsHidden(path) || b.inStore(path):
		b.move(name, value, spec)
		return true
	case spec.FillCaches && caches[at].fill(path, spec):
		m = mount{Change: write, Path: path}
	}
	if _, err := os.Stat(path); err == nil {
		b.add(m)
	} else {
		b.mounts = append(b.mounts, m)
	}
	if name == "GOPATH" && Getenv(spec.Env, "GOMODCACHE") == "" && b.inStore(filepath.Join(path, "pkg", "mod")) {
		b.move("GOMODCACHE", "", spec)
	}
	return true
}

// inStore reports whether a path is yet to be made in a store that has something
// in it: without overlays that can only be read.
func (b *viewBuilder) inStore(path string) bool {
	if _, err := os.Stat(path); err == nil {
		return false
	}
	return slices.ContainsFunc(b.mounts, func(m mount) bool {
		return m.Change == layer && m.Keep && m.Source != "" && path != m.Path && within(path, m.Path) &&
			filled(m.Source)
	})
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
	if c.store {
		return false
	}
	if _, err := os.Stat(path); err == nil {
		return true
	}
	_, err := LookPath(c.tool, spec.Dir, spec.Env)
	return err == nil && os.MkdirAll(path, 0o700) == nil
}

// place moves the caches that are yet to be made and that nothing can be placed
// at, since what is around them is read-only. In a hidden directory there is a
// place for them.
func (b *viewBuilder) place(mounts []mount, spec *Spec) []mount {
	kept := mounts[:0:0]
	for _, m := range mounts {
		if _, err := os.Stat(m.Path); err == nil || m.Change != layer || around(kept, m.Path).Change == hide {
			kept = append(kept, m)
			continue
		}
		name := filepath.Base(m.Scratch)
		b.move(name, Getenv(spec.Env, name), spec)
	}
	return kept
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
