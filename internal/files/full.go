package files

import (
	"errors"
	"strings"
	"syscall"
)

// Full reports whether an error, of our own or of a program that we ran, says that
// there is no room left on a disk.
func Full(err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return true
	}
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "no space left on device") || strings.Contains(text, "disk quota exceeded")
}
