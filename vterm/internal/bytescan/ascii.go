// Package bytescan finds text in bytes: runs of printable ASCII, eight bytes at a time, and characters of UTF-8,
// which may be cut anywhere between two writes. It allocates nothing.
package bytescan

import (
	"encoding/binary"
	"math/bits"
)

// LowBits has the lowest bit of each of 8 bytes.
const (
	LowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// NotPrintable sets the high bit of the lowest of 8 bytes that is not printable ASCII. Bits above it are undefined.
func NotPrintable(w uint64) uint64 {
	// A byte below 0x20 borrows, one of 0x7f or above carries into its high bit.
	return ((w - 0x20*LowBits) | (w + LowBits) | w) & highBits
}

// ASCII returns the length of the printable ASCII at the start of p, 8 bytes at a time.
func ASCII(p []byte) int {
	i := 0
	for ; i+8 <= len(p); i += 8 {
		if odd := NotPrintable(binary.LittleEndian.Uint64(p[i:])); odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(p) && p[i] >= 0x20 && p[i] < 0x7f {
		i++
	}
	return i
}
