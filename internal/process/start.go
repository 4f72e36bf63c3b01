package process

import (
	"os"
	"strings"
)

// Namespace names the pid namespace of this process, in which alone the numbers of
// its processes mean something; "" without namespaces.
func Namespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}

// SameBoot reports whether a process of which Start said this was started since
// the machine was.
func SameBoot(start string) bool {
	_, boot, _ := strings.Cut(start, "@")
	return boot == "" || boot == bootID()
}

func bootID() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(boot))
}
