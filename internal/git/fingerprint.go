package git

import (
	"cmp"
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

	"github.com/org/autoloop/internal/plain"
)

// Fingerprint is all that could be changed in a repository to make later git
// commands do something else: every configuration file that is in force, hooks,
// attributes, alternates and refs. A key names the thing ("config <path>",
// "hook <path>", "info <path>", "file <path>", "ref <name>"), the value changes
// when it does.
type Fingerprint map[string]string

// hashCap bounds what is read of one file; the size is compared too.
const hashCap = 16 << 20

// hookCap bounds the files of a hooks directory that are looked at.
const hookCap = 10_000

// Fingerprint takes the repository's fingerprint, and that of files in it.
func (r *Repo) Fingerprint(ctx context.Context, files ...string) (Fingerprint, error) {
	settings, err := r.configuration(ctx)
	if err != nil {
		return nil, fmt.Errorf("fingerprint %s: %w", r.Root, err)
	}
	print := Fingerprint{}
	print.addFile("config", filepath.Join(r.CommonDir, "config"))
	print.addFile("config", filepath.Join(r.GitDir, "config.worktree"))
	for _, s := range settings {
		if s.file != "" {
			print.addFile("config", s.file)
		}
		if strings.HasPrefix(s.key, "include") && strings.HasSuffix(s.key, ".path") {
			print.addFile("config", r.absolute(s.value, filepath.Dir(s.file)))
		}
	}
	for _, dir := range r.hookDirectories(settings) {
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
		print.addFile("file", filepath.Join(r.Root, file))
	}
	return print, print.addRefs(ctx, r)
}

func (f Fingerprint) addRefs(ctx context.Context, r *Repo) error {
	refs, err := r.ListRefs(ctx)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		f["ref "+ref.Name] = cmp.Or(ref.Symref, ref.ID)
	}
	head, err := r.CurrentBranch(ctx)
	if err != nil {
		return err
	}
	if head == "" {
		head, _, err = r.Resolve(ctx, "HEAD")
	}
	f["ref HEAD"] = head
	return err
}

// hookDirectories are the repository's own and those configured. Ours is
// configured by every command and does not count.
func (r *Repo) hookDirectories(settings []origin) []string {
	dirs := []string{filepath.Join(r.CommonDir, "hooks")}
	for _, s := range settings {
		if s.file != "" && s.key == "core.hookspath" && s.value != "" && s.value != os.DevNull {
			dirs = append(dirs, r.absolute(s.value, r.Root))
		}
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
	all := Fingerprint{}
	maps.Copy(all, f)
	maps.Copy(all, later)
	for _, key := range slices.Sorted(maps.Keys(all)) {
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

// abbreviate shortens an id for people and leaves a ref's name as it is.
func abbreviate(id string) string {
	if len(id) > 12 && !strings.Contains(id, "/") {
		return id[:12]
	}
	return id
}
