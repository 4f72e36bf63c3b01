package proposal

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// What a binary change may unpack to in bytes, and all of them together. Git
// believes what a patch claims, and takes as much memory.
const (
	maxUnpacked = 16 << 20
	maxAll      = 256 << 20
)

// checkPatch refuses a patch whose binary parts unpack to more than a candidate
// may have.
func checkPatch(patch []byte) error {
	all := int64(0)
	for len(patch) > 0 {
		line, rest, _ := bytes.Cut(patch, []byte("\n"))
		patch = rest
		word, number, found := bytes.Cut(line, []byte(" "))
		kind := string(word)
		if !found || kind != "literal" && kind != "delta" {
			continue
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(number)), 10, 64)
		if err != nil || size < 0 || size > maxUnpacked {
			return fmt.Errorf("is too large: a part of its patch claims %.40q bytes, more than %d", number, maxUnpacked)
		}
		if kind == "delta" {
			result, err := deltaSize(rest)
			if err != nil {
				return fmt.Errorf("has a patch that cannot be read: %w", err)
			}
			if result > maxUnpacked {
				return fmt.Errorf("is too large: a part of its patch claims %d bytes, more than %d", result, maxUnpacked)
			}
			size += result
		}
		if all += size; all > maxAll {
			return fmt.Errorf("is too large: its patch unpacks to more than %d bytes", maxAll)
		}
	}
	return nil
}

// deltaSize is how large a file is that a delta makes: its second number, after
// the size of the file that it begins with.
func deltaSize(encoded []byte) (int64, error) {
	var packed []byte
	for len(packed) < 256 {
		line, rest, _ := bytes.Cut(encoded, []byte("\n"))
		if len(line) == 0 {
			break
		}
		part, err := base85(line)
		if err != nil {
			return 0, err
		}
		packed, encoded = append(packed, part...), rest
	}
	unpacked, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return 0, fmt.Errorf("unpack a delta: %w", err)
	}
	var head [20]byte
	n, err := io.ReadFull(unpacked, head[:])
	if n == 0 {
		return 0, fmt.Errorf("unpack a delta: %w", err)
	}
	_, read := varint(head[:n])
	size, more := varint(head[read:n])
	if read == 0 || more == 0 || size > 1<<62 {
		return 0, errors.New("a delta has no sizes")
	}
	return int64(size), nil
}

// varint reads a number as git writes it in deltas, seven bits a byte, the
// lowest first. n is how many bytes it has, 0 when it has no end.
func varint(data []byte) (value uint64, n int) {
	for i, b := range data {
		if i == 9 {
			return 0, 0
		}
		value |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// base85 decodes a line of a binary patch: a letter for its length, and groups
// of five digits for four bytes.
func base85(line []byte) ([]byte, error) {
	broken := errors.New("a line of a binary change is broken")
	var length int
	switch c := line[0]; {
	case c >= 'A' && c <= 'Z':
		length = int(c-'A') + 1
	case c >= 'a' && c <= 'z':
		length = int(c-'a') + 27
	default:
		return nil, broken
	}
	digits := line[1:]
	if len(digits)%5 != 0 || len(digits)/5 != (length+3)/4 {
		return nil, broken
	}
	var out []byte
	for ; len(digits) > 0; digits = digits[5:] {
		value := uint64(0)
		for _, c := range digits[:5] {
			at := strings.IndexByte(alphabet, c)
			if at < 0 {
				return nil, broken
			}
			value = value*85 + uint64(at)
		}
		if value > 1<<32-1 {
			return nil, broken
		}
		out = append(out, byte(value>>24), byte(value>>16), byte(value>>8), byte(value))
	}
	return out[:length], nil
}
