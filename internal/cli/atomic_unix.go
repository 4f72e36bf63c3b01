//go:build !windows

package cli

import (
	"io/fs"

	"github.com/google/renameio/v2"
)

// writeAtomically replaces a file by one with this content, or leaves it.
func writeAtomically(file string, data []byte, mode fs.FileMode) error {
	return renameio.WriteFile(file, data, mode)
}
