package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/process"
)

// Fingerprint is all that could be changed in a repository to make later git
// commands do something else: every configuration file that is in force, hooks,
// attributes, alternates and refs. A key names the thing ("config <path>",
// "hook <path>", "info <path>", "file <path>", "ref <name>"), the value changes
// when it does.
type Fingerprint map[string]string

const (
	// hashCap bounds what is read of one file; the size is compared too.
	hashCap = 16 << 20
	// hookCap bounds the files of a hooks directory that are looked at.
	hookCap = 10_000
)

// Fingerprint takes the repository's fingerprint, and that of files in it.
func (r *Repo) Fingerprint(ctx context.Context, files ...string) (Fingerprint, error) {
	print, err := r.FilesFingerprint(ctx, files...)
	if err != nil {
		return nil, err
	}
	return print, print.addRefs(ctx, r)
}

// FilesFingerprint is a Fingerprint without refs, which takes no git process as
// long as the configuration stays as it is.
func (r *Repo) FilesFingerprint(ctx context.Context, files ...string) (Fingerprint, error) {
	settings, err := r.config.read(ctx, r.configuration())
	if err != nil {
		return nil, fmt.Errorf("fingerprint %s: %w", r.Root, err)
	}
	print := r.configuration().configFiles(settings)
	for _, dir := range r.configuration().hookDirectories(settings) {
		if err := print.addHooks(dir); err != nil {
			return nil, fmt.Errorf("fingerprint %s: %w", r.Root, err)
		}
	}
	for _, file := range []string{
		filepath.Join(r.CommonDir, "info", "attributes"),
		filepath.Join(r.CommonDir, "info", "exclude"),
		filepath.Join(r.CommonDir, "info", "grafts"),
		filepath.Join(r.CommonDir, "objects", "info", "alternates"),
		filepath.Join(r.GitDir, "info", "sparse-checkout"),
		filepath.Join(r.GitDir, "commondir"),
	} {
		print.addFile("info", file)
	}
	if r.GitDir != r.CommonDir {
		print.addFile("info", filepath.Join(r.Root, ".git"))
	}
	for _, file := range files {
		print.addFile("file", filepath.Join(r.Root, filepath.FromSlash(file)))
	}
	return print, nil
}

func (f Fingerprint) addRefs(ctx context.Context, r *Repo) error {
	refs, err := r.ListRefs(ctx)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		f["ref "+ref.Name] = ref.value()
	}
	head, err := r.CurrentBranch(ctx)
	if err != nil {
		return err
	}
	if head == "" {
		if head, _, err = r.Resolve(ctx, "HEAD"); err != nil {
			return err
		}
	}
	f["ref HEAD"] = head
	return nil
}

// configured remembers the configuration for as long as the files that it came
// from, and those that it may come from, have the same content.
type configured struct {
	mu       sync.Mutex
	files    Fingerprint
	settings []origin
}

func (c *configured) read(ctx context.Context, r configuration) ([]origin, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files != nil && maps.Equal(c.files, r.configuration().configFiles(c.settings)) {
		return c.settings, nil
	}
	settings, err := r.readConfig(ctx)
	if err != nil {
		return nil, err
	}
	c.settings, c.files = settings, nil
	// A file that is included may come into being later.
	includes := slices.ContainsFunc(settings, func(s origin) bool { return strings.HasPrefix(s.key, "include") })
	if !includes {
		c.files = r.configuration().configFiles(settings)
	}
	return settings, nil
}

// configFiles is the fingerprint of the files of a configuration.
func (r configuration) configFiles(settings []origin) Fingerprint {
	files := Fingerprint{}
	for _, file := range append(originsOf(settings, r.Root), r.usualConfigFiles()...) {
		files.addFile("config", file)
	}
	return files
}

// value is what the ref points to, a name before an id.
func (ref Ref) value() string {
	if ref.Symref != "" {
		return ref.Symref
	}
	return ref.ID
}

// hookDirectories are the repository's own and those configured. Ours is
// configured by every command and does not count.
func (r configuration) hookDirectories(settings []origin) []string {
	dirs := []string{filepath.Join(r.CommonDir, "hooks")}
	for _, s := range settings {
		if s.file == "" || s.key != "core.hookspath" || s.value == "" || s.value == os.DevNull {
			continue
		}
		dir := s.value
		if rest, home := strings.CutPrefix(dir, "~/"); home {
			dir = filepath.Join(process.Getenv(r.env.base, "HOME"), rest)
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(r.Root, dir)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

func (f Fingerprint) addHooks(dir string) error {
	count := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".sample") {
			return err
		}
		if count++; count > hookCap {
			return fmt.Errorf("%s has more than %d files", dir, hookCap)
		}
		f.addFile("hook", path)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// addFile puts a file under its kind; one that is not there has no key.
func (f Fingerprint) addFile(kind, path string) {
	link, err := os.Lstat(path)
	if err != nil {
		return
	}
	value := link.Mode().String()
	if target, err := os.Readlink(path); err == nil {
		value += " to " + target
	}
	// Only a regular file is opened: reading a pipe would wait for ever.
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		value = fmt.Sprintf("%s %d %s %s", value, info.Size(), info.Mode(), hashFile(path))
	}
	f[kind+" "+path] = value
}

func hashFile(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(file, hashCap)); err != nil {
		return err.Error()
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Diff says what became different in later, one readable line each, sorted:
// the key and what happened to it. It is nil when nothing did.
func (f Fingerprint) Diff(later Fingerprint) []string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(union(f, later))) {
		before, was := f[key]
		after, is := later[key]
		switch name := plain.Short(key, 300); {
		case before == after && was == is:
		case !was:
			lines = append(lines, name+" was added")
		case !is:
			lines = append(lines, name+" was removed")
		case strings.HasPrefix(key, "ref "):
			lines = append(lines, fmt.Sprintf("%s moved from %s to %s", name, abbreviate(before), abbreviate(after)))
		default:
			lines = append(lines, name+" was changed")
		}
	}
	return lines
}

func union(a, b Fingerprint) Fingerprint {
	all := maps.Clone(a)
	if all == nil {
		all = Fingerprint{}
	}
	maps.Copy(all, b)
	return all
}

// abbreviate shortens an id for people and leaves a ref's name as it is.
func abbreviate(id string) string {
	if len(id) > 12 && !strings.Contains(id, "/") {
		return id[:12]
	}
	return id
}
