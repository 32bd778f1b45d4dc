package diagnostics

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// shapes remembers lines without a problem, with all non-zero numbers treated as one: a log has a hundred thousand
// lines of a few shapes, and lines of one shape get the same verdict. No matcher depends on a number's value.
type shapes struct {
	seed  maphash.Seed
	known map[uint64]struct{}
	off   bool // for tests: reads every line again

	line  string // the newest that has a shape, which is often the next one, too
	shape uint64
}

const (
	// shapeBytes bounds the lines that have one; manyShapes how many are known at once.
	shapeBytes = 256
	manyShapes = 4096
)

// of returns a line's shape; false if the line is too long to have one.
func (s *shapes) of(line string) (uint64, bool) {
	if len(line) > shapeBytes {
		return 0, false
	}
	if s.known != nil && line == s.line {
		return s.shape, true
	}
	var b [shapeBytes]byte
	copy(b[:], line)
	for i := 0; i < len(line); i++ {
		if i += noDigits(b[i:]); i >= len(line) {
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

// noDigits returns how many bytes at the start of b are not digits.
func noDigits(b []byte) (n int) {
	const low, high = 0x0101010101010101, 0x8080808080808080
	for ; n+8 <= len(b); n += 8 {
		w := binary.LittleEndian.Uint64(b[n:]) ^ 0x30*low // of a digit its value
		if digit := ^(w&^high + 0x76*low | w) & high; digit != 0 {
			return n + bits.TrailingZeros64(digit)/8
		}
	}
	for n < len(b) && (b[n] < '0' || b[n] > '9') {
		n++
	}
	return n
}

func (s *shapes) has(shape uint64) bool {
	_, ok := s.known[shape]
	return ok
}

func (s *shapes) add(shape uint64) {
	if len(s.known) >= manyShapes {
		clear(s.known)
	}
	s.known[shape] = struct{}{}
}

// idle reports whether the next line is judged by itself: no problem of several lines is open.
func (s *Stream) idle() bool { return s.probs.current == nil && !s.probs.python.in }

// learn remembers the shape of a line without a problem. It skips lines with a complaint word: their meaning may depend
// on the number.
func (s *Stream) learn(shape uint64, line string) {
	if !s.idle() {
		return
	}
	if isError, isWarning := hints(line); !isError && !isWarning {
		s.harmless.add(shape)
	}
}
