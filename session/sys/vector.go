package sys

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Reader reads another process's memory at an address, and fewer bytes than requested at its end.
type Reader func(at uint64, into []byte) (int, error)

var errNoMemory = errors.New("the address is not in the process's memory")

const pageSize = 4096

// stringReader reads strings of another process's memory. Words of a command are mostly adjacent, and system calls cost the
// waiting process more time than bytes.
type stringReader struct {
	read        Reader
	lastAddress uint64 // address of lastBytes
	lastBytes   []byte
	chunk       [pageSize]byte
}

// bytesAt returns the bytes at an address, up to the end of the page: the next page may not exist.
func (t *stringReader) bytesAt(at uint64) ([]byte, error) {
	if at >= t.lastAddress && at-t.lastAddress < uint64(len(t.lastBytes)) {
		return t.lastBytes[at-t.lastAddress:], nil
	}
	n, err := t.read(at, t.chunk[:pageSize-int(at%pageSize)])
	if n <= 0 {
		t.lastBytes = nil
		return nil, errors.Join(errNoMemory, err)
	}
	t.lastAddress, t.lastBytes = at, t.chunk[:n]
	return t.lastBytes, nil
}

// readString reads a zero-terminated string of at most most bytes; whole is false for a longer one.
func (t *stringReader) readString(at uint64, most int) (text string, whole bool, err error) {
	var b []byte
	for len(b) < most {
		some, err := t.bytesAt(at)
		if err != nil {
			return string(b), false, err
		}
		some = some[:min(len(some), most-len(b))]
		if end := bytes.IndexByte(some, 0); end >= 0 {
			if b == nil {
				return string(some[:end]), true, nil
			}
			return string(append(b, some[:end]...)), true, nil
		}
		b, at = append(b, some...), at+uint64(len(some))
	}
	return string(b), false, nil
}

// readVector reads an execve vector (addresses up to a zero one) of at most most bytes in total. Each string counts some
// extra bytes, so that the number of empty ones is bounded too. whole is false if more exist.
func (t *stringReader) readVector(at uint64, most int) (all []string, whole bool, err error) {
	const pointer = 8
	if at == 0 { // Linux treats it as an empty vector
		return nil, true, nil
	}
	var chunk [64 * pointer]byte
	for {
		into := chunk[:min(len(chunk), pageSize-int(at%pageSize))]
		if len(into) < pointer { // unaligned, across a page boundary
			into = chunk[:pointer]
		}
		n, err := t.read(at, into)
		if n < pointer {
			return all, false, errors.Join(errNoMemory, err)
		}
		for i := 0; i+pointer <= n; i, at = i+pointer, at+pointer {
			address := binary.LittleEndian.Uint64(into[i:])
			if address == 0 {
				return all, true, nil
			}
			if most -= pointer; most <= 0 {
				return all, false, nil
			}
			text, whole, err := t.readString(address, most)
			if err != nil {
				return all, false, err
			}
			all = append(all, text)
			if most -= len(text) + 1; most <= 0 || !whole {
				return all, false, nil
			}
		}
	}
}
