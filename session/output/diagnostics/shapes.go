package diagnostics

import "hash/maphash"

// shapes are lines that said nothing of a problem, with all numbers that are not zero being one: a log has a hundred
// thousand lines of a few shapes, and what one of them says the others say. No matcher asks for a number's value.
type shapes struct {
	seed  maphash.Seed
	known map[uint64]struct{}
	off   bool // for tests: every line is read anew
}

const (
	// shapeBytes bounds the lines that have one; manyShapes how many are known at once.
	shapeBytes = 256
	manyShapes = 4096
)

// of is a line's shape; false: it has none.
func (s *shapes) of(line string) (uint64, bool) {
	var b [shapeBytes]byte
	if len(line) > len(b) {
		return 0, false
	}
	copy(b[:], line)
	for i := 0; i < len(line); i++ {
		if c := b[i]; c < '0' || c > '9' {
			continue
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
	return maphash.Bytes(s.seed, b[:len(line)]), true
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

// idle says that what comes next is judged by itself: no problem of several lines is under way.
func (s *Stream) idle() bool { return s.probs.current == nil && !s.probs.python.in }

// quick says that a line is like one before that said nothing; shape is for learn.
func (s *Stream) quick(line string) (shape uint64, may, known bool) {
	if !s.idle() || s.harmless.off {
		return 0, false, false
	}
	shape, may = s.harmless.of(line)
	return shape, may, may && s.harmless.has(shape)
}

// learn takes the shape of a line that said nothing. One with a word that complaints have is none: it may depend on the
// number beside it.
func (s *Stream) learn(shape uint64, line string) {
	if s.idle() && !containsAny(line, errorHints) && !containsAny(line, warningHints) {
		s.harmless.add(shape)
	}
}
