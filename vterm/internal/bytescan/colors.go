package bytescan

import (
	"encoding/binary"
	"math/bits"
)

// Images made of characters are letters with a colour each: "ESC [38;2;r;g;bm" and a letter, repeatedly. They are read
// some dozens at a time, so that the terminal's state is checked once for all of them.

// ColorReach is the number of bytes that Color reads.
const ColorReach = 2 + 3*8

// "ESC [38;2;" and "ESC [48;2;", the first byte lowest.
const (
	setsText       = 0x1b | '['<<8 | '3'<<16 | '8'<<24 | ';'<<32 | '2'<<40 | ';'<<48
	setsBackground = setsText ^ ('3'^'4')<<16
	setsMask       = 1<<56 - 1
)

// Color parses the sequence at the start of p if it only sets the text's or the background's 24-bit colour. It returns
// the colour, red highest, and the sequence's length, or 0 for any other sequence.
func Color(p *[ColorReach]byte) (rgb uint32, n int, background bool) {
	switch binary.LittleEndian.Uint64(p[:]) & setsMask {
	case setsText:
	case setsBackground:
		background = true
	default:
		return 0, 0, false
	}
	n1, n2, n3 := digits(p)
	red, green, blue := number(p, 7, n1, semicolon), number(p, 8+n1, n2, semicolon), number(p, 9+n1+n2, n3, finalM)
	if !isColor(red, green, blue) || notDigits(n1, n2, n3) {
		return 0, 0, false
	}
	return rgbOf(red, green, blue), int(10 + n1 + n2 + n3), background
}

// ColoredLetter packs a letter, its colour and where it ends: End<<32 | Letter<<24 | RGB.
type ColoredLetter uint64

// Letter returns the letter.
func (c ColoredLetter) Letter() byte { return byte(c >> 24) }

// RGB returns the colour, red highest.
func (c ColoredLetter) RGB() uint32 { return uint32(c) & 0xffffff }

// End returns the number of bytes from the first letter's sequence up to and including this letter.
func (c ColoredLetter) End() int { return int(c >> 32) }

// ColoredLetters parses sequences at the start of p that set the text's 24-bit colour, each followed by one printable
// letter and another sequence. It returns the number of letters, at most len(letters).
func ColoredLetters(p []byte, letters []ColoredLetter) (n int) {
	p = p[:len(p):len(p)] // lets the compiler know that the remaining slice has the same capacity
	if len(p) < 8 || binary.LittleEndian.Uint64(p)&setsMask != setsText {
		return 0
	}
	for at := 0; n < len(letters) && len(p)-at >= ColorReach+8; {
		q := (*[ColorReach + 8]byte)(p[at:])
		// The next sequence is read while this one still is: where it ends follows from its m alone, the first byte with bit 6
		// set from the earliest place for it on.
		end := 13 + uint(bits.TrailingZeros64(binary.LittleEndian.Uint64(q[12:])&(0x40*LowBits)))/8
		c := (*[ColorReach]byte)(q[:])
		n1, n2, n3 := digits(c)
		red, green, blue := number(c, 7, n1, semicolon), number(c, 8+n1, n2, semicolon), number(c, 9+n1+n2, n3, finalM)
		if !isColor(red, green, blue) || notDigits(n1, n2, n3) {
			break
		}
		next := binary.LittleEndian.Uint64(q[end : end+8])
		if byte(next)-0x20 >= 0x5f || byte(next>>8) != 0x1b {
			break
		}
		at += int(end) + 1
		letters[n] = ColoredLetter(rgbOf(red, green, blue)) | ColoredLetter(next&0xff)<<24 | ColoredLetter(at)<<32
		n++
		if next>>8 != setsText {
			break
		}
	}
	return n
}

// What follows reads the numbers of a sequence that sets a colour, "r;g;bm" from byte 7 on, of one to three digits and up to
// 255. All are read at once: how long they are is not to be foreseen, so a loop over them would be mispredicted at each.

// digits returns the number of digits of each number.
func digits(p *[ColorReach]byte) (n1, n2, n3 uint) {
	n1 = uint(bits.TrailingZeros64(maybeEnds(binary.LittleEndian.Uint64(p[7:])))) / 8
	g := n1&7 + 8 // start of the second number
	ends := maybeEnds(binary.LittleEndian.Uint64(p[g : g+8]))
	n2 = uint(bits.TrailingZeros64(ends)) / 8
	return n1, n2, uint(bits.TrailingZeros64(ends&(ends-1)))/8 - n2 - 1
}

// number returns the last three bytes of a number of n digits and the byte that ends it, the last highest. from is its
// start. Other bytes are 0, and so are the upper half of a digit, and the ending byte if it equals the highest byte of
// as.
func number(p *[ColorReach]byte, from, n uint, as uint32) uint32 {
	i := (from + n - 3) & 15
	return (binary.LittleEndian.Uint32(p[i:i+4]) ^ as) & numberMask[n&15]
}

const (
	semicolon = ';'<<24 | 0x303030
	finalM    = 'm'<<24 | 0x303030
)

// notDigits reports whether one of the numbers has no digits or too many.
func notDigits(n1, n2, n3 uint) bool { return n1-1 > 2 || n2-1 > 2 || n3-1 > 2 }

// isColor reports whether all three numbers are valid and at most 255.
func isColor(red, green, blue uint32) bool {
	return (red|green|blue)&0xfff0f0f0 == 0 &&
		max(bits.ReverseBytes32(red), bits.ReverseBytes32(green), bits.ReverseBytes32(blue)) <= 0x02050500
}

// rgbOf returns the colour of three numbers.
func rgbOf(red, green, blue uint32) uint32 {
	const value = 1 | 10<<8 | 100<<16 // a product with it has the number in its third byte
	return red*value&0xff0000 | green*value>>8&0xff00 | blue*value>>16&0xff
}

// maybeEnds sets bit 6 in those of 8 bytes that may end a number: all but digits and a few bytes that differ from
// digits in their upper half. Bits after a byte above 0xf9 are undefined.
func maybeEnds(w uint64) uint64 { return (w + 0x06*LowBits) & (0x40 * LowBits) }

// numberMask selects the bytes of a number and its end, by its number of digits.
var numberMask = [16]uint32{1: 0xffff0000, 2: 0xffffff00, 3: 0xffffffff}
