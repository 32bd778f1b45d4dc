package search

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// pageBytes is the size of a page of postings, which fits a page of SQLite.
const pageBytes = 3900

var errPage = errors.New("damaged page of trigrams")

// bitmap is a set of blocks of a group; bit i is block base+i.
type bitmap []uint64

func newBitmap(n int) bitmap       { return make(bitmap, (n+63)/64) }
func (m bitmap) set(i uint64)      { m[i/64] |= 1 << (i % 64) }
func (m bitmap) has(i uint64) bool { return m[i/64]>>(i%64)&1 != 0 }

func (m bitmap) count() (n int) {
	for _, w := range m {
		n += bits.OnesCount64(w)
	}
	return n
}

func (m bitmap) and(o bitmap) {
	for i := range m {
		m[i] &= o[i]
	}
}

func (m bitmap) or(o bitmap) {
	for i := range m {
		m[i] |= o[i]
	}
}

// fill adds the first n blocks.
func (m bitmap) fill(n int) {
	for i := range m {
		m[i] = ^uint64(0)
	}
	if n%64 != 0 {
		m[len(m)-1] = 1<<(n%64) - 1
	}
}

// pageWriter creates pages of postings. Trigrams must come in ascending order.
type pageWriter struct {
	blocks int // in the group
	first  trigram
	prev   trigram
	page   []byte
	emit   func(first trigram, page []byte) error
}

// add writes the blocks (ascending) that contain a trigram: the difference to the previous trigram; 2·count + 1 and a
// bitmap, or 2·count and a list of differences.
func (w *pageWriter) add(g trigram, blocks []uint16) error {
	if len(w.page) > pageBytes-w.spaceFor(len(blocks)) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.page) == 0 {
		w.first, w.prev = g, g
	}
	w.page = binary.AppendUvarint(w.page, uint64(g-w.prev))
	w.prev = g
	if len(blocks) <= w.blocks/8 {
		w.page = binary.AppendUvarint(w.page, uint64(len(blocks))<<1)
		prev := uint16(0)
		for _, b := range blocks {
			w.page = binary.AppendUvarint(w.page, uint64(b-prev))
			prev = b
		}
		return nil
	}
	w.page = binary.AppendUvarint(w.page, uint64(len(blocks))<<1|1)
	start := len(w.page)
	w.page = append(w.page, make([]byte, (w.blocks+7)/8)...)
	for _, b := range blocks {
		w.page[start+int(b/8)] |= 1 << (b % 8)
	}
	return nil
}

// spaceFor returns about how many bytes count blocks need.
func (w *pageWriter) spaceFor(count int) int { return 8 + min(count+count/8, w.blocks/8) }

func (w *pageWriter) flush() error {
	if len(w.page) == 0 {
		return nil
	}
	err := w.emit(w.first, w.page)
	w.page = w.page[:0]
	return err
}

// readPage adds to m the blocks that contain a trigram in [low, high], according to this page.
func readPage(page []byte, first, low, high trigram, m bitmap, blocks int) error {
	in := numbers{b: page}
	at := uint64(first)
	for len(in.b) > 0 {
		if at += in.unsigned(); at > uint64(high) {
			return nil
		}
		head := in.unsigned()
		size := (blocks + 7) / 8
		switch wanted := at >= uint64(low); {
		case head&1 == 0:
			in.list(head>>1, m, blocks, wanted)
		case size > len(in.b):
			return errPage
		default:
			if wanted {
				m.orBytes(in.b[:size], blocks)
			}
			in.b = in.b[size:]
		}
		if in.invalid {
			return errPage
		}
	}
	return nil
}

// list reads count differences.
func (n *numbers) list(count uint64, m bitmap, blocks int, wanted bool) {
	if count > uint64(blocks) {
		n.invalid = true
	}
	at := uint64(0)
	for ; count > 0 && !n.invalid; count-- {
		if at += n.unsigned(); at >= uint64(blocks) {
			n.invalid = true
		} else if wanted && !n.invalid {
			m.set(at)
		}
	}
}

func (m bitmap) orBytes(b []byte, blocks int) {
	for i, c := range b {
		if rest := blocks - i*8; rest < 8 {
			c &= 1<<rest - 1
		}
		m[i/8] |= uint64(c) << (i % 8 * 8)
	}
}

// bounds returns the smallest and the largest member of the set.
func (m bitmap) bounds() (low, high int, ok bool) {
	for i, w := range m {
		if w == 0 {
			continue
		}
		if !ok {
			low, ok = i*64+bits.TrailingZeros64(w), true
		}
		high = i*64 + bits.Len64(w) - 1
	}
	return low, high, ok
}
