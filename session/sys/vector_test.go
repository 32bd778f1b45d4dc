package sys

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
)

// memory is a process's memory from an address on.
type memory struct {
	base uint64
	b    []byte
}

var errFault = errors.New("bad address")

// read implements Reader.
func (m memory) read(at uint64, into []byte) (int, error) {
	if at < m.base || at-m.base >= uint64(len(m.b)) {
		return 0, errFault
	}
	return copy(into, m.b[at-m.base:]), nil
}

// vector lays out a vector of texts, the addresses first.
func vector(base uint64, texts ...string) memory {
	m := memory{base: base}
	at := base + uint64(8*(len(texts)+1))
	var all []byte
	for _, text := range texts {
		m.b = binary.LittleEndian.AppendUint64(m.b, at+uint64(len(all)))
		all = append(append(all, text...), 0)
	}
	m.b = append(binary.LittleEndian.AppendUint64(m.b, 0), all...)
	return m
}

// FEATURES: R107
func TestReadVector(t *testing.T) {
	long := strings.Repeat("y", 3*pageSize)
	for _, base := range []uint64{0x10000, 0x10ff8, 0x10ffd, 0x10001} {
		for _, words := range [][]string{{"a"}, {""}, {"", "a b", "\xff\x1b"}, {long, "z", long}, slices.Repeat([]string{"word"}, 500)} {
			m := vector(base, words...)
			got, whole, err := (&stringReader{read: m.read}).readVector(base, 1<<20)
			if err != nil || !whole || !slices.Equal(got, words) {
				t.Errorf("at %#x: %.40q of %.40q, %v, %v", base, got, words, whole, err)
			}
		}
	}
	if got, whole, err := (&stringReader{read: memory{}.read}).readVector(0, 100); got != nil || !whole || err != nil {
		t.Errorf("none: %q, %v, %v", got, whole, err)
	}
	m := vector(0x10000, "abc", "def")
	if got, whole, err := (&stringReader{read: m.read}).readVector(0x10000, 16); whole || err != nil || !slices.Equal(got, []string{"abc"}) {
		t.Errorf("a small bound: %q, %v, %v", got, whole, err)
	}
	if _, _, err := (&stringReader{read: m.read}).readVector(0x20000, 100); !errors.Is(err, errNoMemory) {
		t.Errorf("elsewhere: %v", err)
	}
	m.b = m.b[:len(m.b)-1] // the last text is not terminated
	if _, _, err := (&stringReader{read: m.read}).readVector(0x10000, 100); !errors.Is(err, errNoMemory) {
		t.Errorf("without an end: %v", err)
	}
}

// FuzzReadVector checks that reads of any memory are bounded and contain no zero byte.
func FuzzReadVector(f *testing.F) {
	f.Add(vector(0x1000, "a", "", "bc").b, uint16(0), uint16(100))
	f.Add(binary.LittleEndian.AppendUint64(nil, 0x1000), uint16(0), uint16(9))        // the vector is its own first text
	f.Add(bytes.Repeat([]byte{0, 0x10, 0, 0, 0, 0, 0, 0}, 40), uint16(3), uint16(40)) // and repeatedly
	f.Fuzz(func(t *testing.T, b []byte, offset, most uint16) {
		m := memory{0x1000, b}
		got, whole, err := (&stringReader{read: m.read}).readVector(0x1000+uint64(offset), int(most))
		n := 0
		for _, text := range got {
			if n += len(text); strings.Contains(text, "\x00") {
				t.Errorf("%q", got)
			}
		}
		if n > int(most) || whole && err != nil {
			t.Errorf("%d bytes of %d, %v, %v", n, most, whole, err)
		}
	})
}
