package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// make changes the files that this process and its children see into the view.
// It runs in a mount namespace of its own; nothing of it is seen outside.
func (v *view) make() error {
	// A mount made here stays here, and the other way round.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("take the mounts over: %w", err)
	}
	taken, err := v.take()
	if err != nil {
		return err
	}
	defer taken.close()
	if err := set(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, harmless|readOnly); err != nil {
		return fmt.Errorf("make all files read-only (this needs Linux 5.12): %w", err)
	}
	if err := v.place(taken); err != nil {
		return err
	}
	if err := v.fix(); err != nil {
		return err
	}
	if err := devices(); err != nil {
		return fmt.Errorf("make /dev: %w", err)
	}
	if err := processes(); err != nil {
		return fmt.Errorf("make /proc: %w", err)
	}
	if v.Offline {
		return loopbackUp()
	}
	return nil
}

const (
	// clone takes a detached copy of a mount.
	clone = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC
	// harmless is what no file in a view may be: a program with other rights, or a device.
	harmless = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	readOnly = unix.MOUNT_ATTR_RDONLY
)

// set sets attributes of the mount at a path, or of the detached one with this descriptor.
func set(fd int, path string, flags uint, attributes uint64) error {
	if path == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	return unix.MountSetattr(fd, path, flags, &unix.MountAttr{Attr_set: attributes})
}

// sources are detached copies of what is shown, by the index of its mount,
// taken before anything is hidden.
type sources map[int]int

func (s sources) close() {
	for _, fd := range s {
		_ = unix.Close(fd) // Placed or not: the descriptor has done its work.
	}
}

func (v *view) take() (sources, error) {
	taken := sources{}
	for i := range v.Mounts {
		m := &v.Mounts[i]
		if m.Change == hide {
			if m.File {
				m.Source = "/dev/null"
			} else {
				continue
			}
		}
		if m.Change == layer && v.Plain {
			m.withoutOverlay()
		} else if m.Change == layer {
			m.overlay()
		}
		fd, err := unix.OpenTree(unix.AT_FDCWD, m.Source, clone|unix.AT_RECURSIVE)
		if err != nil {
			taken.close()
			return nil, fmt.Errorf("take %s: %w", m.Source, err)
		}
		taken[i] = fd
	}
	return taken, nil
}

// overlay puts a layer over its source, so that what is written goes to the
// scratch directory. Where that cannot be, the source is read-only when that is
// of use, else an empty directory takes its place.
func (m *mount) overlay() {
	upper, work := filepath.Join(m.Scratch, upperDir), filepath.Join(m.Scratch, workDir)
	if !strings.ContainsAny(m.Source+m.Scratch, `:,\`) {
		options := "userxattr,lowerdir=" + m.Source + ",upperdir=" + upper + ",workdir=" + work
		if unix.Mount("overlay", m.Source, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options) == nil {
			return
		}
	}
	m.withoutOverlay()
}

// withoutOverlay settles a layer where the system has no overlays.
func (m *mount) withoutOverlay() {
	if m.Keep && filled(m.Source) {
		m.Change = show
		return
	}
	m.Source = filepath.Join(m.Scratch, upperDir)
}

// scratchSize bounds each private temporary directory, which is kept in memory.
const scratchSize = "size=20%"

// place makes the changes, outer ones first, and closes what is hidden.
func (v *view) place(taken sources) error {
	for i, m := range v.Mounts {
		if m.Change == hide && !m.File {
			mode := "mode=0755"
			if m.Open {
				mode = "mode=1777," + scratchSize
			}
			if err := unix.Mount("tmpfs", m.Path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, mode); err != nil {
				return fmt.Errorf("hide %s: %w", m.Path, err)
			}
			continue
		}
		if err := m.place(taken[i]); err != nil {
			return fmt.Errorf("show %s: %w", m.Path, err)
		}
	}
	for _, m := range v.Mounts {
		if m.Change == hide && !m.File && !m.Open {
			if err := set(unix.AT_FDCWD, m.Path, 0, readOnly); err != nil {
				return fmt.Errorf("close %s: %w", m.Path, err)
			}
		}
	}
	return nil
}

func (m *mount) place(fd int) error {
	attributes := uint64(harmless)
	if m.Change == show || m.Change == hide {
		attributes |= readOnly
	}
	if err := set(fd, "", unix.AT_RECURSIVE, attributes); err != nil {
		return err
	}
	if err := mountPoint(m.Path, m.File); err != nil {
		return err
	}
	return unix.MoveMount(fd, "", unix.AT_FDCWD, m.Path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// mountPoint makes the directory or file that something is placed over, unless
// it exists.
func mountPoint(path string, file bool) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if !file {
		return os.MkdirAll(path, 0o755) //nolint:gosec // Whoever the command is may go through.
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // As above.
		return err
	}
	made, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	return errors.Join(err, made.Close())
}
