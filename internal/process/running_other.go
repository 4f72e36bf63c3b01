//go:build !unix

package process

import "os"

func running(pid int) bool {
	_, err := os.FindProcess(pid)
	return err == nil
}
