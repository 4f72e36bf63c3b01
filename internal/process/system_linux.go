package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// usual are the devices that every program may use; no other is there.
var usual = []string{"null", "zero", "full", "random", "urandom", "tty"}

// devices makes a /dev with the harmless ones, terminals and shared memory of
// its own.
func devices() error {
	taken := map[string]int{}
	for _, name := range usual {
		fd, err := unix.OpenTree(unix.AT_FDCWD, "/dev/"+name, clone)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return fmt.Errorf("take %s: %w", name, err)
		}
		defer func() { _ = unix.Close(fd) }()
		// All of /dev was made one without devices.
		usable := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &usable); err != nil {
			return fmt.Errorf("take %s: %w", name, err)
		}
		taken[name] = fd
	}
	if err := unix.Mount("tmpfs", "/dev", "tmpfs", unix.MS_NOSUID, "mode=0755"); err != nil {
		return err
	}
	for name, fd := range taken {
		path := "/dev/" + name
		if err := mountPoint(path, true); err != nil {
			return err
		}
		if err := unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("place %s: %w", name, err)
		}
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
		"ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(target, filepath.Join("/dev", name)); err != nil {
			return err
		}
	}
	if err := directory("/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return err
	}
	return directory("/dev/shm", "tmpfs", "mode=1777,"+scratchSize)
}

func directory(path, kind, options string) error {
	if err := os.Mkdir(path, 0o755); err != nil { //nolint:gosec // Whoever the command is may go through.
		return err
	}
	if err := unix.Mount(kind, path, kind, unix.MS_NOSUID|unix.MS_NOEXEC, options); err != nil {
		return fmt.Errorf("mount %s: %w", path, err)
	}
	return nil
}

// processes makes a /proc of the namespace's processes, whose settings of the
// kernel cannot be written: to root's files there root needs no capability.
func processes() error {
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	for _, name := range []string{"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"} {
		path := "/proc/" + name
		fd, err := unix.OpenTree(unix.AT_FDCWD, path, clone|unix.AT_RECURSIVE)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return fmt.Errorf("take %s: %w", path, err)
		}
		m := mount{Change: show, Path: path}
		err = m.place(fd)
		_ = unix.Close(fd)
		if err != nil {
			return fmt.Errorf("close %s: %w", path, err)
		}
	}
	return nil
}

// loopbackUp brings the namespace's own loopback up, the only network it has.
func loopbackUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring the loopback up: %w", err)
	}
	defer func() { _ = unix.Close(socket) }()
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback); err != nil {
		return fmt.Errorf("bring the loopback up: %w", err)
	}
	return nil
}
