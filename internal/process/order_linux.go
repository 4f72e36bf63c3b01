package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// order is what a supervisor is told over its control pipe: a length, then NUL
// separated fields, so that arguments and environment arrive byte for byte and
// appear in no process list twice. After it the pipe carries terminateByte, and its
// end means that nobody waits for the command any more.
type order struct {
	path, dir string
	args, env []string
	grace     time.Duration
	bound     limits
}

const terminateByte = 't'

// maxOrder bounds an order; the kernel takes less for a command line.
const maxOrder = 64 << 20

func (o order) encode() []byte {
	fields := []string{
		o.path, o.dir, strconv.FormatInt(int64(o.grace), 10), strconv.Itoa(o.bound.processes),
		strconv.FormatInt(o.bound.memory, 10), strconv.Itoa(len(o.args)),
	}
	fields = append(append(fields, o.args...), o.env...)
	return frame([]byte(strings.Join(fields, "\x00")))
}

// frame puts the length of body before it.
func frame(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// readFrame reads a length and as many bytes, and nothing beyond them.
func readFrame(from io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(size[:])
	if length > maxOrder {
		return nil, errors.New("a fault of Autoloop: the order is too long")
	}
	body := make([]byte, length)
	_, err := io.ReadFull(from, body)
	return body, err
}

func readOrder(from io.Reader) (order, error) {
	body, err := readFrame(from)
	if err != nil {
		return order{}, err
	}
	fields := strings.Split(string(body), "\x00")
	const fixed = 6
	if len(fields) < fixed {
		return order{}, errors.New("a fault of Autoloop: the order has too few fields")
	}
	grace, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return order{}, fmt.Errorf("the order's grace: %w", err)
	}
	processes, err := strconv.Atoi(fields[3])
	if err != nil {
		return order{}, fmt.Errorf("a fault of Autoloop: the order's number of processes: %w", err)
	}
	memory, err := strconv.ParseInt(fields[4], 10, 64)
	if err != nil {
		return order{}, fmt.Errorf("the order's memory: %w", err)
	}
	count, err := strconv.Atoi(fields[5])
	if err != nil || count < 1 || count > len(fields)-fixed {
		return order{}, errors.New("a fault of Autoloop: the order's number of arguments is wrong")
	}
	rest := fields[fixed:]
	return order{
		path: fields[0], dir: fields[1], grace: time.Duration(grace), bound: limits{processes, memory},
		args: rest[:count], env: rest[count:],
	}, nil
}

// report is what a supervisor says at the end, as JSON on its status pipe.
type report struct {
	// Fault says why the command could not be started; NoFile that the program
	// or its interpreter does not exist.
	Fault  string `json:"fault,omitempty"`
	NoFile bool   `json:"no_file,omitempty"`
	Exit   int    `json:"exit"`
	Signal string `json:"signal,omitempty"`
	// Ordered says that the command was still running when it was told to end.
	Ordered bool `json:"ordered,omitempty"`
	// Exceeded says which bound it was ended for.
	Exceeded string `json:"exceeded,omitempty"`
	Killed   int    `json:"killed"`
	Left     int    `json:"left"`
}
