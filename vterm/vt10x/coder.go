package vt10x

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unicode/utf8"
)

// ErrSnapshot is returned by Restore for an invalid snapshot, with the reason.
var ErrSnapshot = errors.New("not a snapshot of the vt10x engine")

// Restore replaces the state. On error the engine is reset.
func (e *Engine) Restore(snapshot []byte) error {
	fresh := New(e.opts)
	if err := fresh.restore(snapshot); err != nil {
		*e = *New(e.opts)
		return err
	}
	*e = *fresh
	return nil
}

func (e *Engine) restore(p []byte) error {
	head := len(snapshotMagic) + 1
	switch {
	case len(p) < head+crc32.Size || !bytes.HasPrefix(p, []byte(snapshotMagic)):
		return ErrSnapshot
	case p[head-1] != snapshotFormat:
		return fmt.Errorf("%w: format %d, this program reads %d", ErrSnapshot, p[head-1], snapshotFormat)
	}
	body := p[:len(p)-crc32.Size]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(p[len(body):]) {
		return fmt.Errorf("%w: damaged", ErrSnapshot)
	}
	c := coder{buf: body[head:]}
	e.code(&c)
	c.check(c.err != nil || len(c.buf) == 0)
	if c.err != nil {
		return c.err
	}
	e.shown, e.alt = e.shownState(), e.modes.AltScreen
	e.dirty, e.resized, e.bothScreens = false, false, false
	return nil
}

// coder writes fields to the end of buf, or reads them from its start. The first error is stored in err, and later
// reads do nothing.
type coder struct {
	buf   []byte
	write bool
	err   error
}

// check records an error unless ok: a value that was read is impossible.
func (c *coder) check(ok bool) {
	if !ok && !c.write && c.err == nil {
		c.err = fmt.Errorf("%w: bad value %d bytes before the end", ErrSnapshot, len(c.buf))
	}
}

func (c *coder) uint64(v *uint64) {
	if c.write {
		c.buf = binary.AppendUvarint(c.buf, *v)
		return
	}
	if c.err != nil {
		return
	}
	n, size := binary.Uvarint(c.buf)
	if c.check(size > 0); c.err == nil {
		*v, c.buf = n, c.buf[size:]
	}
}

// int codes a number between least and most.
func (c *coder) int(v *int, least, most int) {
	n := uint64(*v - least)
	c.uint64(&n)
	if c.check(n <= uint64(most-least)); c.err == nil {
		*v = least + int(n)
	}
}

func (c *coder) bool(v *bool) {
	n := bit(*v)
	c.int(&n, 0, 1)
	*v = n == 1
}

func codeByte(c *coder, v *byte) {
	n := int(*v)
	c.int(&n, 0, 0xff)
	*v = byte(n)
}

func codeUint32(c *coder, v *uint32) {
	n := uint64(*v)
	c.uint64(&n)
	if c.check(n <= 1<<32-1); c.err == nil {
		*v = uint32(n)
	}
}

// bytes codes a byte string of at most most bytes.
func (c *coder) bytes(v *[]byte, most int) {
	n := len(*v)
	c.int(&n, 0, max(most, n))
	if c.write {
		c.buf = append(c.buf, *v...)
		return
	}
	if c.check(n <= len(c.buf)); c.err == nil {
		*v = append([]byte(nil), c.buf[:n]...)
		c.buf = c.buf[n:]
	}
}

func (c *coder) text(v *string) {
	b := []byte(*v)
	c.bytes(&b, maxStr)
	*v = string(b)
}

// codeSlice codes a slice whose elements take at least size bytes each.
func codeSlice[T any](c *coder, v *[]T, size int, element func(*T)) {
	n := len(*v)
	c.int(&n, 0, 1<<24)
	if !c.write {
		if c.check(n <= len(c.buf)/size); c.err != nil || n == 0 {
			return
		}
		*v = make([]T, n)
	}
	for i := range *v {
		element(&(*v)[i])
	}
}

func codeRune(c *coder, v *rune) {
	n := int(*v)
	c.int(&n, 0, utf8.MaxRune)
	*v = rune(n)
}
