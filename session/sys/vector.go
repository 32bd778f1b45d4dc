package sys

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Reader reads another process's memory at an address, less than asked for where that ends.
type Reader func(at uint64, into []byte) (int, error)

var errNoMemory = errors.New("the address is not in the process's memory")

const page = 4096

// readText reads a text that ends with a zero byte, of at most so many bytes; whole is false of one that is longer.
func readText(read Reader, at uint64, most int) (text string, whole bool, err error) {
	var b []byte
	var chunk [page]byte
	for len(b) < most {
		// Not over the end of a page: the next one may not be there.
		into := chunk[:min(page-int(at%page), most-len(b))]
		n, err := read(at, into)
		if n <= 0 {
			return string(b), false, errors.Join(errNoMemory, err)
		}
		if end := bytes.IndexByte(into[:n], 0); end >= 0 {
			return string(append(b, into[:end]...)), true, nil
		}
		b, at = append(b, into[:n]...), at+uint64(n)
	}
	return string(b), false, nil
}

// readVector reads a vector of texts as execve takes it, addresses up to a zero one, of at most so many bytes in all. A
// text costs some bytes besides its own, so that empty ones are bounded too. whole is false where there is more.
func readVector(read Reader, at uint64, most int) (texts []string, whole bool, err error) {
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
		n, err := read(at, into)
		if n < pointer {
			return texts, false, errors.Join(errNoMemory, err)
		}
		for i := 0; i+pointer <= n; i, at = i+pointer, at+pointer {
			address := binary.LittleEndian.Uint64(into[i:])
			if address == 0 {
				return texts, true, nil
			}
			if most -= pointer; most <= 0 {
				return texts, false, nil
			}
			text, whole, err := readText(read, address, most)
			if err != nil {
				return texts, false, err
			}
			texts = append(texts, text)
			if most -= len(text) + 1; most <= 0 || !whole {
				return texts, false, nil
			}
		}
	}
}
