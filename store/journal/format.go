package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// Sizes in bytes.
const (
	headerSize = 48
	recordHead = 32
	recordTail = 4
	// MaxPayload is the largest payload of a written record, in bytes; longer output becomes several records.
	MaxPayload = 64 << 10
	// maxLength is the largest payload of a record that readers accept.
	maxLength = 1 << 20
	// maxHeader is the largest segment header that readers accept.
	maxHeader = 4096
)

const (
	magic   = "LTJRNL1\n"
	version = 2
	// versionBlocks is the first format whose readers know blocks.
	versionBlocks = 2
	suffix        = ".ltj"
	// maxOffset keeps sums of offsets and lengths from overflowing.
	maxOffset = 1 << 62
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errHeader = errors.New("damaged segment header")

var le = binary.LittleEndian

// header is the header of a segment.
type header struct {
	version uint32 // 0: unknown
	length  int64  // file position of the first record
	base    uint64
	created int64
	id      uint32
	dims    dims   // the terminal's size before the first record
	dense   uint32 // bytes that compaction wrote; 0: none
}

func appendHeader(dst []byte, h header) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	dst = le.AppendUint32(dst, h.version)
	dst = le.AppendUint32(dst, headerSize)
	dst = le.AppendUint64(dst, h.base)
	dst = le.AppendUint64(dst, uint64(h.created))
	dst = le.AppendUint32(dst, h.id)
	dst = le.AppendUint16(dst, uint16(h.dims.cols))
	dst = le.AppendUint16(dst, uint16(h.dims.rows))
	dst = le.AppendUint32(dst, h.dense)
	return le.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// decodeHeader reads the first headerSize bytes of a segment.
func decodeHeader(b []byte) (header, error) {
	if len(b) < headerSize || string(b[:8]) != magic ||
		crc32.Checksum(b[:headerSize-4], castagnoli) != le.Uint32(b[headerSize-4:]) {
		return header{}, errHeader
	}
	v := le.Uint32(b[8:])
	if v > version {
		return header{}, fmt.Errorf("%w (format %d, this one knows %d)", ErrNewer, v, version)
	}
	h := header{
		version: v,
		length:  int64(le.Uint32(b[12:])),
		base:    le.Uint64(b[16:]),
		created: int64(le.Uint64(b[24:])),
		id:      le.Uint32(b[32:]),
		dims:    dims{int32(le.Uint16(b[36:])), int32(le.Uint16(b[38:]))}, // 0 in version 1
		dense:   le.Uint32(b[40:]),
	}
	if v == 0 || h.length < headerSize || h.length > maxHeader || h.id == 0 {
		return header{}, errHeader
	}
	return h, nil
}

// raw is a record in its encoded form.
type raw struct {
	kind    Kind
	offset  uint64
	time    int64
	payload []byte
	pos     int64 // position in the file
	index   int   // index in the block at pos
}

// size returns the record's size in the file.
func (r *raw) size() int64 { return recordHead + int64(len(r.payload)) + recordTail }

// span returns the number of output bytes that the record stands for.
func (r *raw) span() uint64 {
	switch {
	case r.kind == KindOutput:
		return uint64(len(r.payload))
	case r.kind == KindGap && len(r.payload) >= 8:
		return min(le.Uint64(r.payload), maxOffset)
	case r.kind == kindBlock && len(r.payload) >= blockHead:
		return min(le.Uint64(r.payload[8:]), maxOffset)
	}
	return 0
}

// beginRecord reserves a record's head; the caller appends the payload.
func beginRecord(dst []byte) (b []byte, start int) {
	return append(dst, make([]byte, recordHead)...), len(dst)
}

// endRecord completes the record that starts at start.
func endRecord(b []byte, start int, id uint32, kind Kind, offset uint64, time int64) []byte {
	n := uint32(len(b) - start - recordHead)
	b = le.AppendUint32(b, n)
	r := b[start:]
	le.PutUint32(r[4:], id)
	le.PutUint32(r[8:], n)
	r[12] = byte(kind)
	le.PutUint64(r[16:], offset)
	le.PutUint64(r[24:], uint64(time))
	le.PutUint32(r, crc32.Update(id, castagnoli, r[4:]))
	return b
}

// recordLength returns the size of the record with this head, or 0 for an invalid head.
func recordLength(head []byte, id uint32) int64 {
	n := le.Uint32(head[8:])
	if le.Uint32(head[4:]) != id || n > maxLength || le.Uint64(head[16:]) > maxOffset {
		return 0
	}
	return recordHead + int64(n) + recordTail
}

// decodeRecord validates and decodes b, a whole record. The payload is a slice of b.
func decodeRecord(b []byte, id uint32) (raw, bool) {
	end := len(b) - recordTail
	if le.Uint32(b[end:]) != uint32(end-recordHead) || crc32.Update(id, castagnoli, b[4:]) != le.Uint32(b) {
		return raw{}, false
	}
	return raw{
		kind: Kind(b[12]), offset: le.Uint64(b[16:]), time: int64(le.Uint64(b[24:])), payload: b[recordHead:end],
	}, true
}

func segmentName(base uint64) string { return fmt.Sprintf("%020d%s", base, suffix) }

// segmentBase parses the name of a segment file.
func segmentBase(name string) (base uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	base, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || base > maxOffset {
		return 0, false
	}
	return base, true
}
