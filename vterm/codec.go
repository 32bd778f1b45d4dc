package vterm

import (
	"encoding/binary"
	"errors"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
)

var errSnapshot = errors.New("vterm: not a snapshot of this version, or damaged")

// codec writes or reads a snapshot. The same calls do both, so writing and reading cannot differ in order. When
// reading, invalid data sets the reader's error and yields zeros.
type codec struct {
	w       []byte
	r       grid.Reader
	reading bool
}

// fail marks the snapshot as invalid.
func (c *codec) fail() { c.r.Bad, c.r.B = true, nil }

func (c *codec) bytes(b *[]byte) {
	if !c.reading {
		c.w = binary.AppendUvarint(c.w, uint64(len(*b)))
		c.w = append(c.w, *b...)
		return
	}
	*b = append([]byte(nil), c.r.Bytes(c.r.Uvarint())...)
}

func (c *codec) str(s *string) {
	b := []byte(*s)
	c.bytes(&b)
	*s = string(b)
}

// unsigned codes an unsigned number up to max.
func unsigned[T ~uint8 | ~uint16 | ~uint32 | ~uint64](c *codec, v *T, max uint64) {
	if !c.reading {
		c.w = binary.AppendUvarint(c.w, uint64(*v))
		return
	}
	u := c.r.Uvarint()
	if u > max {
		c.fail()
		u = 0
	}
	*v = T(u)
}

// signed codes a signed number from lo to hi.
func signed[T ~int | ~int8 | ~int32](c *codec, v *T, lo, hi int) {
	if !c.reading {
		c.w = binary.AppendVarint(c.w, int64(*v))
		return
	}
	u := c.r.Uvarint()
	i := int64(u>>1) ^ -int64(u&1)
	if i < int64(lo) || i > int64(hi) {
		c.fail()
		i = int64(lo)
	}
	*v = T(i)
}

func (c *codec) flag(b *bool) {
	u := uint8(boolInt(*b))
	unsigned(c, &u, 1)
	*b = u == 1
}

// list codes the length of a slice, at most max, and then its elements.
func list[T any](c *codec, s *[]T, max int, each func(*T)) {
	n := len(*s)
	signed(c, &n, 0, max)
	if c.reading {
		*s = nil
	}
	for i := 0; i < n && !c.r.Bad; i++ {
		if c.reading {
			var zero T
			*s = append(*s, zero)
		}
		each(&(*s)[i])
	}
}
