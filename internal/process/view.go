package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/agent/commandline"
)

// change says what a path is in an isolated command's view. Of two changes of
// one path the higher counts.
type change int

const (
	asItIs change = iota - 1 // not changed

	hide  // an empty directory, or a file without content
	show  // visible again, read-only
	layer // visible, and written to in a copy
	write // visible and written to
)

// mount is one change of the view.
type mount struct {
	Change change
	// Path is where it is seen, Source what is seen there.
	Path   string
	Source string
	// File says that Source is no directory.
	File bool
	// Open is a hidden directory that may be written to, and is thrown away.
	Open bool
	// Scratch is the directory for what is written to a layer. Keep says that
	// the source is of use when it can only be read.
	Scratch string
	Keep    bool
}

// view is what an isolated command sees: the whole system read-only, changed
// by mounts, outer ones first.
type view struct {
	Offline bool
	// Plain has no layers made.
	Plain  bool
	Mounts []mount
	// Moved are variables that have another value in the view: caches that have
	// no place in it.
	Moved []string
	// Fixed are read-only below Dir, the command's directory.
	Dir   string
	Fixed []string
}

// resolver is read for names of hosts, and may lie in a hidden directory.
const resolver = "/etc/resolv.conf"

// temporary are the directories that everybody may write to, and private to
// every command.
var temporary = []string{"/tmp", "/var/tmp"}

// Warnings say what of a command's environment is not there when it is isolated.
func (i *Isolation) Warnings(env []string) []string {
	return i.build(&Spec{Dir: "/", Env: env}).warnings
}

func (i *Isolation) viewOf(spec *Spec) view {
	b := i.build(spec)
	return view{
		Offline: spec.Offline, Plain: i.plainCaches, Mounts: b.needed(), Moved: b.moved,
		Dir: filepath.Clean(spec.Dir), Fixed: spec.Fixed,
	}
}

func (i *Isolation) build(spec *Spec) *viewBuilder {
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
	for _, path := range append([]string{spec.Dir, Getenv(spec.Env, "HOME"), Getenv(spec.Env, "TMPDIR")},
		spec.Writable...) {
		if !b.holdsHidden(path) {
			b.add(mount{Change: write, Path: path})
		}
	}
	return b
}

type viewBuilder struct {
	home string
	// own are the command's directory and HOME. Commands before this one may
	// have written in them, so no path below them is looked up: a link there
	// would have its target shown.
	own    []string
	mounts []mount
	// moved are the variables of caches that have no place in the view, as they
	// are instead.
	moved []string
	// warnings say what is left out.
	warnings []string
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
	return m.Change != hide && slices.ContainsFunc(b.own,
		func(dir string) bool { return path != dir && within(path, dir) })
}

// environment shows what the variables name: programs, toolchains, caches.
func (b *viewBuilder) environment(spec *Spec) {
	for _, variable := range spec.Env {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case name == "PATH":
			for _, entry := range filepath.SplitList(value) {
				b.programs(entry)
			}
		case b.cache(name, value, spec):
		case filepath.IsAbs(value) && !b.holdsHidden(value):
			b.add(mount{Change: show, Path: value})
		}
	}
}

// programs shows a directory of PATH. One that holds a home, or is one, is left
// out: all of the home would be seen.
func (b *viewBuilder) programs(entry string) {
	dir := b.toolchain(entry)
	if filepath.IsAbs(dir) && b.hidden(dir) != "" && b.holdsHidden(dir) {
		b.warnings = append(b.warnings,
			"isolation: "+entry+" is left out of PATH, since a home would be seen with it: keep programs in a "+
				"directory of their own, such as ~/bin")
		return
	}
	b.add(mount{Change: show, Path: dir})
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
	if base := filepath.Base(dir); (base == "bin" || base == ".bin") && b.hidden(dir) != "" &&
		!b.holdsHidden(filepath.Dir(dir)) {
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
	logins := b.logins()
	return path == "/" || slices.ContainsFunc(b.mounts, func(m mount) bool {
		return m.Change == hide && !m.File && !slices.Contains(logins, m.Path) && filepath.Base(m.Path) != scratchName &&
			within(m.Path, path)
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
		if outer := around(kept, m.Path); m.Path != outer.Path && m.Change.matters(outer.Change) {
			kept = append(kept, m)
		}
	}
	return kept
}

// around is the innermost change, of some with outer paths first, that holds for
// a path; without any it has the system as it is.
func around(mounts []mount, path string) mount {
	for _, outer := range slices.Backward(mounts) {
		if within(path, outer.Path) {
			return outer
		}
	}
	return mount{Change: asItIs}
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

// logins are where programs keep who somebody is, below a home, beside the
// coding agents. A home is hidden whole; these stay hidden in the parts of it
// that toolchains need.
var logins = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".npmrc", ".pypirc",
	".config/gh", ".config/gcloud", ".config/git", ".local/share/keyrings",
	".cargo/credentials", ".cargo/credentials.toml", ".gradle/gradle.properties", ".m2/settings.xml",
}

// logins lists those of the user and of root.
func (b *viewBuilder) logins() []string {
	var paths []string
	for _, home := range []string{b.home, "/root"} {
		for _, login := range slices.Concat(logins, commandline.All().Private()) {
			paths = append(paths, filepath.Join(home, login))
		}
	}
	return paths
}
