package sys

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Reader reads another process's memory at an address, and less than requested at its end.
type Reader func(at uint64, into []byte) (int, error)

var errNoMemory = errors.New("the address is not in the process's memory")

const page = 4096

// texts reads strings of another process's memory. Words of a command are mostly adjacent, and system calls cost the
// waiting process more than bytes.
type texts struct {
	read  Reader
	at    uint64 // of the last read
	last  []byte
	chunk [page]byte
}

// some returns the bytes at an address, up to the end of the page: the next page may not exist.
func (t *texts) some(at uint64) ([]byte, error) {
	if at >= t.at && at-t.at < uint64(len(t.last)) {
		return t.last[at-t.at:], nil
	}
	n, err := t.read(at, t.chunk[:page-int(at%page)])
	if n <= 0 {
		t.last = nil
		return nil, errors.Join(errNoMemory, err)
	}
	t.at, t.last = at, t.chunk[:n]
	return t.last, nil
}

// text reads a zero-terminated string of at most most bytes; whole is false for a longer one.
func (t *texts) text(at uint64, most int) (text string, whole bool, err error) {
	var b []byte
	for len(b) < most {
		some, err := t.some(at)
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

// vector reads an execve vector (addresses up to a zero one) of at most most bytes in total. Each string counts some
// extra bytes, so that empty ones are bounded too. whole is false if more exist.
func (t *texts) vector(at uint64, most int) (all []string, whole bool, err error) {
	const pointer = 8
	if at == 0 { // Linux takes that for an empty one
		return nil, true, nil
	}
	var chunk [64 * pointer]byte
	for {
		into := chunk[:min(len(chunk), page-int(at%page))]
		if len(into) < pointer { // it is not aligned, and lies across
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
			text, whole, err := t.text(address, most)
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
