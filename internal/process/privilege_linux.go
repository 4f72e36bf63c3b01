package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// identities says who the users (or groups) of a new namespace are: the same as
// outside. That is our own alone, or for root all that there are in table, since
// root unpacks archives with the owners that they name.
func identities(table string, own, capability int) []syscall.SysProcIDMap {
	alone := []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
	text, err := os.ReadFile(table)
	if os.Geteuid() != 0 || err != nil || !capable(capability) {
		return alone
	}
	var all []syscall.SysProcIDMap
	for line := range strings.Lines(string(text)) {
		var inside, outside, count int
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err != nil {
			return alone
		}
		all = append(all, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: count})
	}
	if len(all) == 0 {
		return alone
	}
	return all
}

// capable reports whether this thread has a capability, of the first 32.
func capable(capability int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	return unix.Capget(&header, &has[0]) == nil && has[0].Effective&(1<<capability) != 0
}

// ofRoot are the capabilities that a command of root's keeps: to give the files
// of its own directories to others, as archives are unpacked. They reach no
// farther than what is writable.
const ofRoot = 1<<unix.CAP_CHOWN | 1<<unix.CAP_FOWNER | 1<<unix.CAP_FSETID

// dropPrivileges makes sure that the command, which this thread starts, has no
// rights over the namespaces and gets none by running another program.
func dropPrivileges() error {
	kept := uint32(0)
	if os.Geteuid() == 0 {
		kept = ofRoot
	}
	if err := prctl("give up new privileges", unix.PR_SET_NO_NEW_PRIVS, 1); err != nil {
		return err
	}
	if err := prctl("give up ambient capabilities", unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL); err != nil {
		return err
	}
	const most = 63
	for capability := range most + 1 {
		if capability < 32 && kept&(1<<capability) != 0 {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(capability), 0, 0, 0)
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("give up capability %d: %w", capability, err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	if err := unix.Capget(&header, &has[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	rest := has[0].Permitted & kept // Within bwrap this is empty.
	left := [2]unix.CapUserData{{Effective: rest, Permitted: rest}}
	if err := unix.Capset(&header, &left[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}
