package scan

import (
	"encoding/binary"
	"math/bits"
)

// Images of characters are letters that each have a colour of their own: "ESC [38;2;r;g;bm" and a letter, over and over. They
// are read some dozens at a time, so that what is asked of the terminal's state is asked once for all of them.

// ColorReach is how many bytes Color looks at.
const ColorReach = 2 + 3*8

// "ESC [38;2;" and "ESC [48;2;", the first byte lowest.
const (
	setsText       = 0x1b | '['<<8 | '3'<<16 | '8'<<24 | ';'<<32 | '2'<<40 | ';'<<48
	setsBackground = setsText ^ ('3'^'4')<<16
	setsMask       = 1<<56 - 1
)

// Color reads the sequence at the start of p if all it does is to set the text's or the background's colour of 24 bits. It
// returns the colour, red highest, and the sequence's length, 0 for any other.
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
	if !areColor(red, green, blue) || notDigits(n1, n2, n3) {
		return 0, 0, false
	}
	return rgbOf(red, green, blue), int(10 + n1 + n2 + n3), background
}

// ColoredLetter is a letter, its colour and where it ends: End<<32 | Letter<<24 | RGB.
type ColoredLetter uint64

// Letter is the letter.
func (c ColoredLetter) Letter() byte { return byte(c >> 24) }

// RGB is the colour, red highest.
func (c ColoredLetter) RGB() uint32 { return uint32(c) & 0xffffff }

// End is the number of bytes from the first letter's sequence to behind this one.
func (c ColoredLetter) End() int { return int(c >> 32) }

// ColoredLetters reads the sequences at the start of p that set the text's colour of 24 bits and are followed by one printable
// letter, and that by another sequence. It returns how many it read, as many as there is room for at most.
func ColoredLetters(p []byte, letters []ColoredLetter) (n int) {
	p = p[:len(p):len(p)] // so that what is left is known to have the capacity that it has
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
		if !areColor(red, green, blue) || notDigits(n1, n2, n3) {
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

// digits are how many digits each number has.
func digits(p *[ColorReach]byte) (n1, n2, n3 uint) {
	n1 = uint(bits.TrailingZeros64(maybeEnds(binary.LittleEndian.Uint64(p[7:])))) / 8
	g := n1&7 + 8 // where the second number begins
	ends := maybeEnds(binary.LittleEndian.Uint64(p[g : g+8]))
	n2 = uint(bits.TrailingZeros64(ends)) / 8
	return n1, n2, uint(bits.TrailingZeros64(ends&(ends-1)))/8 - n2 - 1
}

// number is the last three bytes of a number of n digits and what ends it, the last highest. from is where it begins. What is
// no part of it is 0, and so is the upper half of a digit, and what ends it when that is the highest byte of as.
func number(p *[ColorReach]byte, from, n uint, as uint32) uint32 {
	i := (from + n - 3) & 15
	return (binary.LittleEndian.Uint32(p[i:i+4]) ^ as) & numberMask[n&15]
}

const (
	semicolon = ';'<<24 | 0x303030
	finalM    = 'm'<<24 | 0x303030
)

// notDigits reports whether one of the numbers has none or too many.
func notDigits(n1, n2, n3 uint) bool { return n1-1 > 2 || n2-1 > 2 || n3-1 > 2 }

// areColor reports whether numbers are what they should be, up to 255.
func areColor(red, green, blue uint32) bool {
	return (red|green|blue)&0xfff0f0f0 == 0 &&
		max(bits.ReverseBytes32(red), bits.ReverseBytes32(green), bits.ReverseBytes32(blue)) <= 0x02050500
}

// rgbOf is the colour of numbers.
func rgbOf(red, green, blue uint32) uint32 {
	const value = 1 | 10<<8 | 100<<16 // a product with it has the number in its third byte
	return red*value&0xff0000 | green*value>>8&0xff00 | blue*value>>16&0xff
}

// maybeEnds marks in their bit 6 those of 8 bytes that may end a number: all but digits and some that are to be told from
// digits by their upper half. Marks behind a byte above 0xf9 mean nothing.
func maybeEnds(w uint64) uint64 { return (w + 0x06*LowBits) & (0x40 * LowBits) }

// numberMask has the bytes of a number and of what ends it, by how many digits it has.
var numberMask = [16]uint32{1: 0xffff0000, 2: 0xffffff00, 3: 0xffffffff}
