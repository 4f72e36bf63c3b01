//go:build unix

package memory

import (
	"errors"
	"io/fs"
	"syscall"
)

// readSmall reads a file of at most limit bytes in as few system calls as
// there are: thousands of small files are read one after the other, and the
// general way costs almost twice the time. The buffer is used again by the
// caller's next call. A longer file gives limit+1 bytes; a special file is not
// waited for.
func readSmall(path string, buffer *[]byte, limit int) ([]byte, error) {
	fd, err := openRead(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	const step = 8 << 10
	length := 0
	for length <= limit {
		if len(*buffer)-length < step {
			*buffer = append(*buffer, make([]byte, max(len(*buffer), step))...)
		}
		n, err := syscall.Read(fd, (*buffer)[length:])
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		length += n
		if length < len(*buffer) { // a file gives less than asked for at its end alone
			return append([]byte{}, (*buffer)[:min(length, limit+1)]...), nil
		}
	}
	return append([]byte{}, (*buffer)[:limit+1]...), nil
}

func openRead(path string) (int, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.EINTR) {
			return fd, err
		}
	}
}
