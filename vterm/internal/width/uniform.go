package width

// Class describes 64 consecutive code points: the columns that all of them take if all are starters, else 0.
type Class uint8

// SomeAmbiguous is set in a Class when some of the code points are ambiguous.
const SomeAmbiguous Class = 4

// ClassOf2 returns the class of the code points whose UTF-8 form has two bytes and this first byte. It is 0 for invalid
// first bytes.
func ClassOf2(first byte) Class { return uniform[first&0x1f] }

// ClassOf3 is ClassOf2 for three bytes with these first two. For overlong forms it is the class of the code point.
func ClassOf3(first, second byte) Class {
	return uniform[int(first&0x0f)<<6|int(second&0x3f)]
}

// Narrow2 returns a value whose lowest bit is set if the two bytes are a one-column starter in UTF-8, which may be
// ambiguous. It uses only the low bits of the second byte, so the other bits of the result are undefined.
func Narrow2(first, second byte) uint64 { return narrow[first&0x1f] >> (second & 63) }

// Class returns the class of the code point alone.
func (p Props) Class() Class {
	if !p.Starter() {
		return 0
	}
	return Class(p & (3 | ambiguous))
}

// Columns returns the common width of all code points, 0 if they differ.
func (c Class) Columns() int { return int(c & 3) }
