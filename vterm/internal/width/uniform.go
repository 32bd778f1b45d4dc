package width

// Class is what 64 consecutive code points have in common: the columns that all of them
// take, if all are starters, else 0.
type Class uint8

// SomeAmbiguous is set in a Class when some of the code points are ambiguous.
const SomeAmbiguous Class = 4

// ClassOf2 is the class of the code points that a UTF-8 sequence of two bytes with this
// first byte stands for. It is 0 for first bytes that are never right.
func ClassOf2(first byte) Class { return uniform[first&0x1f] }

// ClassOf3 is the same for three bytes with these first ones. Of overlong forms it is that of the code point.
func ClassOf3(first, second byte) Class {
	return uniform[int(first&0x0f)<<6|int(second&0x3f)]
}

// Narrow2 has its lowest bit set when the two bytes of a UTF-8 sequence stand for a starter of one column, which may be
// ambiguous. The second byte is looked at for its low bits only, so the others of the result mean nothing.
func Narrow2(first, second byte) uint64 { return narrow[first&0x1f] >> (second & 63) }

// Class is that of the code point alone.
func (p Props) Class() Class {
	if !p.Starter() {
		return 0
	}
	return Class(p & (3 | ambiguous))
}

// Columns is the width of all code points, 0 when it is not the same.
func (c Class) Columns() int { return int(c & 3) }
