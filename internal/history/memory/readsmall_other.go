//go:build !unix

package memory

import (
	"io"
	"os"
)

// readSmall reads a file of at most limit bytes; a longer file gives limit+1.
func readSmall(path string, _ *[]byte, limit int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, int64(limit)+1))
}
