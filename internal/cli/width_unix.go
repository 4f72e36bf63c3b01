//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// widthOf is how many characters a line of a terminal has; 0 when it does not say.
func widthOf(file *os.File) int {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
