//go:build unix

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// SyncDirectory makes the names in a directory outlive a crash.
func SyncDirectory(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// OwnedByUs reports whether a file belongs to the user that this process runs as.
func OwnedByUs(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

const maxLinks = 40

// Trusted returns an error when another user of this machine could put files
// into a directory, or another directory in its place: it must be ours or root's,
// others must not write to it, and so must the links on the way. A directory that
// does not exist yet is judged by those above it.
func Trusted(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return trusted(dir, true, maxLinks)
}

// trusted judges a path and those above it; last says that it is the directory
// itself.
func trusted(path string, last bool, links int) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		return trusted(filepath.Dir(path), false, links)
	} else if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	ours := int(stat.Uid) == os.Geteuid() || stat.Uid == 0
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return throughLink(path, ours, last, links)
	case !mode.IsDir():
		return fmt.Errorf("%s is no directory; remove it, or give another one with --dir", path)
	case last && !ours:
		return fmt.Errorf("%s belongs to another user (%d); give a directory of your own with --dir", path, stat.Uid)
	case last && (mode.Perm()&0o002 != 0 || mode.Perm()&0o020 != 0 && int(stat.Gid) != os.Getegid()):
		return fmt.Errorf("%s can be written by others (%v); look what is in it, then run: chmod go-w %s", path,
			mode.Perm(), path)
	case mode.Perm()&0o002 != 0 && (mode&fs.ModeSticky == 0 || !ours && !unmapped(stat.Uid)):
		return fmt.Errorf("%s can be written by everybody (%v), so that what is in it can be exchanged; give another "+
			"directory with --dir", path, mode.Perm())
	}
	if above := filepath.Dir(path); above != path {
		return trusted(above, false, links)
	}
	return nil
}

// unmapped reports whether a user is one whom this user namespace has no number
// for, as root of the machine in most containers without root.
func unmapped(uid uint32) bool {
	const overflow = 65534 // what the kernel shows instead
	text, err := os.ReadFile("/proc/self/uid_map")
	return uid == overflow && err == nil && strings.Join(strings.Fields(string(text)), " ") != "0 0 4294967295"
}

// throughLink judges where a link leads and where it lies.
func throughLink(path string, ours, last bool, links int) error {
	target, err := os.Readlink(path)
	switch {
	case err != nil:
		return err
	case !ours:
		return fmt.Errorf("%s is a link of another user; give a directory of your own with --dir", path)
	case links == 0:
		return fmt.Errorf("%s leads through too many links; give another directory with --dir", path)
	case !filepath.IsAbs(target):
		target = filepath.Join(filepath.Dir(path), target)
	}
	if err := trusted(target, last, links-1); err != nil {
		return err
	}
	return trusted(filepath.Dir(path), false, links-1)
}
