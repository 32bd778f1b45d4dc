package diagnostics

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// shapeSet remembers the shapes of lines without a problem: a log has a hundred thousand lines of a few shapes. A shape
// treats all non-zero numbers as one. No matcher depends on a number's value.
type shapeSet struct {
	seed       maphash.Seed
	known      map[uint64]struct{}
	isDisabled bool // set by tests: every line is read

	line  string // the newest line with a shape; the next one is often equal
	shape uint64
}

const (
	// maxShapeBytes bounds the lines that have a shape; maxShapes bounds the shapes that are remembered.
	maxShapeBytes = 256
	maxShapes     = 4096
)

// shapeOf returns a line's shape; false if the line is too long to have one.
func (s *shapeSet) shapeOf(line string) (uint64, bool) {
	if len(line) > maxShapeBytes {
		return 0, false
	}
	if s.known != nil && line == s.line {
		return s.shape, true
	}
	var b [maxShapeBytes]byte
	copy(b[:], line)
	for i := 0; i < len(line); i++ {
		if i += nonDigitPrefix(b[i:]); i >= len(line) {
			break
		}
		from, as := i, byte('0')
		for ; i < len(line) && b[i] >= '0' && b[i] <= '9'; i++ {
			if b[i] != '0' {
				as = '1'
			}
		}
		for j := from; j < i; j++ {
			b[j] = as
		}
	}
	if s.known == nil {
		s.seed, s.known = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	s.line, s.shape = line, maphash.Bytes(s.seed, b[:len(line)])
	return s.shape, true
}

// nonDigitPrefix returns the number of bytes at the start of b that are not digits.
func nonDigitPrefix(b []byte) (n int) {
	const low, high = 0x0101010101010101, 0x8080808080808080
	for ; n+8 <= len(b); n += 8 {
		w := binary.LittleEndian.Uint64(b[n:]) ^ 0x30*low // digits become their values
		if digit := ^(w&^high + 0x76*low | w) & high; digit != 0 {
			return n + bits.TrailingZeros64(digit)/8
		}
	}
	for n < len(b) && (b[n] < '0' || b[n] > '9') {
		n++
	}
	return n
}

func (s *shapeSet) has(shape uint64) bool {
	_, ok := s.known[shape]
	return ok
}

func (s *shapeSet) add(shape uint64) {
	if len(s.known) >= maxShapes {
		clear(s.known)
	}
	s.known[shape] = struct{}{}
}

// isBetweenProblems reports whether the next line is judged by itself: no problem of several lines is open.
func (s *Stream) isBetweenProblems() bool {
	return s.problems.current == nil && !s.problems.python.isOpen
}

// learnShape remembers the shape of a line without a problem. It skips lines with a hint: their meaning may depend on the
// number.
func (s *Stream) learnShape(shape uint64, line string) {
	if !s.isBetweenProblems() {
		return
	}
	if isError, isWarning := findHints(line); !isError && !isWarning {
		s.harmless.add(shape)
	}
}
