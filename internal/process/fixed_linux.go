package process

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// fix makes files and directories below the command's directory read-only. A name
// that is gone, or a link, or behind one, is left out: commands before this one
// may have written there, and nothing of theirs is followed.
func (v *view) fix() error {
	if len(v.Fixed) == 0 {
		return nil
	}
	dir, err := unix.Open(v.Dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", v.Dir, err)
	}
	defer func() { _ = unix.Close(dir) }()
	for _, name := range v.Fixed {
		if err := fixOne(dir, name); err != nil {
			return fmt.Errorf("make %s read-only: %w", name, err)
		}
	}
	return nil
}

func fixOne(dir int, name string) error {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	file, err := unix.Openat2(dir, name, &how)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) ||
		errors.Is(err, unix.EXDEV) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(file) }()
	var is unix.Stat_t
	if err := unix.Fstat(file, &is); err != nil {
		return err
	}
	if kind := is.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFDIR {
		return nil
	}
	taken, err := unix.OpenTree(file, "", clone|unix.AT_EMPTY_PATH)
	if err != nil {
		return os.NewSyscallError("open_tree", err)
	}
	defer func() { _ = unix.Close(taken) }()
	if err := set(taken, "", 0, harmless|readOnly); err != nil {
		return os.NewSyscallError("mount_setattr", err)
	}
	return os.NewSyscallError("move_mount",
		unix.MoveMount(taken, "", file, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
}
