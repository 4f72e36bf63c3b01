package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// change says what a path is in an isolated command's view. Of two changes of
// one path the higher counts.
type change int

const (
	hide  change = iota // an empty directory, or a file without content
	show                // visible again, read-only
	layer               // visible, and written to in a copy
	write               // visible and written to
)

// mount is one change of the view.
type mount struct {
	Change change `json:"change"`
	// Path is where it is seen, Source what is seen there.
	Path   string `json:"path"`
	Source string `json:"source"`
	// File says that Source is no directory.
	File bool `json:"file,omitempty"`
	// Open is a hidden directory that may be written to, and is thrown away.
	Open bool `json:"open,omitempty"`
	// Scratch is the directory for what is written to a layer. Keep says that
	// the source is of use when it can only be read.
	Scratch string `json:"scratch,omitempty"`
	Keep    bool   `json:"keep,omitempty"`
}

// view is what an isolated command sees: the whole system read-only, changed
// by mounts, outer ones first.
type view struct {
	Offline bool `json:"offline"`
	// Plain has no layers made.
	Plain  bool    `json:"plain,omitempty"`
	Mounts []mount `json:"mounts"`
}

// resolver is read for names of hosts, and may lie in a hidden directory.
const resolver = "/etc/resolv.conf"

// temporary are the directories that everybody may write to, and private to
// every command.
var temporary = []string{"/tmp", "/var/tmp"}

// viewOf is the view of one command.
func (i *Isolation) viewOf(spec *Spec) view {
	b := &viewBuilder{home: filepath.Clean(i.Home), own: []string{filepath.Clean(spec.Dir)}}
	if home := Getenv(spec.Env, "HOME"); filepath.IsAbs(home) {
		b.own = append(b.own, filepath.Clean(home))
	}
	for _, path := range temporary {
		b.add(mount{Change: hide, Path: path, Open: true})
	}
	hidden := append([]string{"/run", "/home", "/root", i.Home}, i.Hidden...)
	for _, path := range append(hidden, b.logins()...) {
		b.add(mount{Change: hide, Path: path})
	}
	for _, path := range append([]string{resolver}, append(i.Readable, spec.Readable...)...) {
		b.add(mount{Change: show, Path: path})
	}
	b.environment(spec)
	b.add(mount{Change: hide, Path: scratch(spec.Env)})
	for _, path := range append([]string{spec.Dir, Getenv(spec.Env, "HOME"), Getenv(spec.Env, "TMPDIR")}, spec.Writable...) {
		if !b.holdsHidden(path) {
			b.add(mount{Change: write, Path: path})
		}
	}
	return view{Offline: spec.Offline, Plain: i.plainCaches, Mounts: b.needed()}
}

// viewBuilder collects the changes of a view in any order.
type viewBuilder struct {
	home string
	// own are the command's directory and HOME. Commands before this one may
	// have written in them, so no path below them is looked up: a link there
	// would have its target shown.
	own    []string
	mounts []mount
}

// add takes a change of a path that exists, under the name that it has without
// symbolic links, and under its own when that would be gone.
func (b *viewBuilder) add(m mount) {
	if !filepath.IsAbs(m.Path) || filepath.Clean(m.Path) == "/" || b.owned(m) {
		return
	}
	asked := filepath.Clean(m.Path)
	resolved, err := filepath.EvalSymlinks(asked)
	if err != nil || resolved == "/" {
		return
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return
	}
	m.Path, m.Source, m.File = resolved, resolved, !info.IsDir()
	b.mounts = append(b.mounts, m)
	if asked != resolved && m.Change != hide && b.hidden(asked) != "" {
		m.Path = asked
		b.mounts = append(b.mounts, m)
	}
}

// owned reports whether a path lies in the command's own directories, where all
// is visible and writable already.
func (b *viewBuilder) owned(m mount) bool {
	path := filepath.Clean(m.Path)
	return m.Change != hide && slices.ContainsFunc(b.own, func(dir string) bool { return path != dir && within(path, dir) })
}

// environment shows what the variables name: programs, toolchains, caches.
func (b *viewBuilder) environment(spec *Spec) {
	for _, variable := range spec.Env {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case name == "PATH":
			for _, entry := range filepath.SplitList(value) {
				b.add(mount{Change: show, Path: b.toolchain(entry)})
			}
		case b.cache(name, value, spec):
		case filepath.IsAbs(value) && !b.holdsHidden(value):
			b.add(mount{Change: show, Path: value})
		}
	}
}

// cache adds a toolchain's cache, also one that is yet to be made.
func (b *viewBuilder) cache(name, value string, spec *Spec) bool {
	at := slices.IndexFunc(caches, func(c cache) bool { return c.name == name })
	if at < 0 || !filepath.IsAbs(value) || scratch(spec.Env) == "" || b.holdsHidden(value) {
		return false
	}
	if b.owned(mount{Change: layer, Path: value}) {
		return true
	}
	m := mount{Change: layer, Path: filepath.Clean(value), Scratch: filepath.Join(scratch(spec.Env), name), Keep: caches[at].store}
	if spec.FillCaches && caches[at].fill(m.Path, spec) {
		m = mount{Change: write, Path: m.Path}
	}
	if _, err := os.Stat(m.Path); err == nil {
		b.add(m)
	} else if b.hidden(m.Path) != "" {
		b.mounts = append(b.mounts, m)
	}
	return true
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

// toolchain is the directory to show for a directory of programs: within a home
// the entry of the home that holds it, such as ~/.nvm, since programs find
// their libraries beside them.
func (b *viewBuilder) toolchain(dir string) string {
	dir = filepath.Clean(dir)
	for _, home := range []string{b.home, "/root"} {
		if below, ok := strings.CutPrefix(dir, home+"/"); ok {
			first, _, _ := strings.Cut(below, "/")
			return filepath.Join(home, first)
		}
	}
	if parts := strings.SplitN(dir, "/", 5); len(parts) >= 4 && parts[1] == "home" {
		return strings.Join(parts[:4], "/")
	}
	if base := filepath.Base(dir); (base == "bin" || base == ".bin") && b.hidden(dir) != "" && !b.holdsHidden(filepath.Dir(dir)) {
		return filepath.Dir(dir)
	}
	return dir
}

// hidden is the innermost directory that hides path, "" when none does.
func (b *viewBuilder) hidden(path string) string {
	found := ""
	for _, m := range b.mounts {
		if m.Change == hide && within(path, m.Path) && len(m.Path) > len(found) {
			found = m.Path
		}
	}
	return found
}

// holdsHidden reports whether path is a hidden directory or has one in it:
// such a path is never shown whole.
func (b *viewBuilder) holdsHidden(path string) bool {
	path = filepath.Clean(path)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return path == "/" || slices.ContainsFunc(b.mounts, func(m mount) bool {
		return m.Change == hide && !m.File && !b.login(m.Path) && filepath.Base(m.Path) != scratchName && within(m.Path, path)
	})
}

// needed sorts the changes, outer paths first, and leaves out those that change
// nothing.
func (b *viewBuilder) needed() []mount {
	slices.SortStableFunc(b.mounts, func(x, y mount) int {
		if order := strings.Compare(x.Path, y.Path); order != 0 {
			return order
		}
		return int(y.Change) - int(x.Change)
	})
	var kept []mount
	for _, m := range b.mounts {
		around, same := hide-1, false // the system as it is
		for _, outer := range slices.Backward(kept) {
			if within(m.Path, outer.Path) {
				around, same = outer.Change, m.Path == outer.Path
				break
			}
		}
		if !same && m.Change.matters(around) {
			kept = append(kept, m)
		}
	}
	return kept
}

// matters reports whether a change is one within what is around it.
func (c change) matters(around change) bool {
	switch c {
	case show:
		return around == hide
	case layer:
		return around < layer
	default:
		return around != c
	}
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
