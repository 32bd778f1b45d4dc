package journal

import (
	"encoding/binary"
	"errors"
	"math"
	"sync"
)

// kindBlock is a record that contains other records. Readers of a journal never see it:
//
//	0   u8   encoding of the body: 0 raw, 1 a zstd frame
//	1   u8   flags: 1 made by compaction, do not repeat; 2 has resizes
//	2   u16  zero
//	4   u32  length of the body when decoded
//	8   u64  span: the output bytes it stands for, with gaps
//	16  u16  columns, u16 rows: the terminal's size before it; 0: unknown
//	20  u32  count of records
//	24  u32  length of the table
//	28  the body: table, then the records' payloads one after the other
//
// The table has four columns of count values each: kinds (u8), lengths of payloads (uvarint), how far each offset lies
// after the end of the record before (uvarint, 0 but for gaps), times since the record before (varint, ns). The first
// ones are relative to the offset and time of the block itself.
const kindBlock Kind = 6

const (
	blockHead   = 28
	minTableRow = 4 // smallest size of a record's row in the table, in bytes

	blockPlain = 0
	blockZstd  = 1

	flagDense   = 1
	flagResizes = 2

	// blockBytes limits the payloads in a written block, in bytes.
	blockBytes = MaxPayload
	// blockRecords limits the records in a written block.
	blockRecords = 4096
	// minCompress is the size of an output record from which it is compressed at once.
	minCompress = 4 << 10
)

var errBlock = errors.New("block: content contradicts its header")

// dims is a terminal's size in cells. Zero means unknown.
type dims struct{ cols, rows int32 }

// known reports whether the size is known.
func (d dims) known() bool { return d.cols > 0 && d.rows > 0 }

// orUnknown returns d, or the unknown size if d does not fit the stored 16 bits.
func (d dims) orUnknown() dims {
	if d.cols < 0 || d.rows < 0 || max(d.cols, d.rows) > math.MaxUint16 {
		return dims{}
	}
	return d
}

// resizeDims returns the size in a resize record, or false for other records.
func (r *raw) resizeDims() (dims, bool) {
	if r.kind != KindResize || len(r.payload) < 8 {
		return dims{}, false
	}
	return dims{int32(le.Uint32(r.payload)), int32(le.Uint32(r.payload[4:]))}.orUnknown(), true
}

// blockMeta is the decoded head of a block.
type blockMeta struct {
	encoding byte
	flags    byte
	length   int // length of the decoded body
	span     uint64
	dims     dims
	count    int // number of records
	table    int // length of the table
}

// put encodes the head into b.
func (m *blockMeta) put(b []byte) {
	b[0], b[1] = m.encoding, m.flags
	le.PutUint16(b[2:], 0)
	le.PutUint32(b[4:], uint32(m.length))
	le.PutUint64(b[8:], m.span)
	le.PutUint16(b[16:], uint16(m.dims.cols))
	le.PutUint16(b[18:], uint16(m.dims.rows))
	le.PutUint32(b[20:], uint32(m.count))
	le.PutUint32(b[24:], uint32(m.table))
}

// decodeBlockMeta decodes the head of a block. It validates what is possible without the body.
func decodeBlockMeta(p []byte) (blockMeta, bool) {
	if len(p) < blockHead {
		return blockMeta{}, false
	}
	m := blockMeta{
		encoding: p[0], flags: p[1],
		length: int(le.Uint32(p[4:])),
		span:   le.Uint64(p[8:]),
		dims:   dims{int32(le.Uint16(p[16:])), int32(le.Uint16(p[18:]))},
		count:  int(le.Uint32(p[20:])),
		table:  int(le.Uint32(p[24:])),
	}
	ok := m.length <= maxLength && m.span <= maxOffset && m.table <= m.length &&
		m.count > 0 && m.count <= m.table/minTableRow
	return m, ok
}

// block is a decoded block. The records' payloads are slices of body.
type block struct {
	body    []byte
	records []raw
}

var blocks = sync.Pool{New: func() any { return new(block) }}

func (b *block) free() {
	if cap(b.body) <= 2*blockBytes && cap(b.records) <= blockRecords {
		blocks.Put(b)
	}
}

// unpack decodes all records of the block r, or none.
func unpack(r *raw) (*block, error) {
	m, ok := decodeBlockMeta(r.payload)
	if !ok {
		return nil, errBlock
	}
	b := blocks.Get().(*block)
	if err := b.decode(&m, r); err != nil {
		b.free()
		return nil, err
	}
	return b, nil
}

func (b *block) decode(m *blockMeta, r *raw) error {
	switch stored := r.payload[blockHead:]; m.encoding {
	case blockPlain:
		if len(stored) != m.length {
			return errBlock
		}
		b.body = append(b.body[:0], stored...)
	case blockZstd:
		var err error
		if b.body, err = inflate(b.body, stored, m.length); err != nil {
			return err
		}
	default:
		return errBlock
	}
	return b.index(m, r)
}

// index fills records from the table.
func (b *block) index(m *blockMeta, r *raw) error {
	if cap(b.records) < m.count {
		b.records = make([]raw, 0, m.count)
	}
	b.records = b.records[:m.count]
	table, payloads := b.body[:m.table], b.body[m.table:]
	for i := range b.records {
		b.records[i] = raw{kind: Kind(table[i]), pos: r.pos, index: i}
	}
	t := varints{b: table[m.count:]}
	for i := range b.records {
		n := t.unsigned()
		if n > uint64(len(payloads)) {
			return errBlock
		}
		b.records[i].payload, payloads = payloads[:n:n], payloads[n:]
	}
	end := r.offset
	for i := range b.records {
		rec := &b.records[i]
		ahead := t.unsigned()
		if rec.kind == kindBlock || ahead > maxOffset || end > maxOffset-ahead {
			return errBlock
		}
		rec.offset = end + ahead
		if end = rec.offset + rec.span(); end > maxOffset {
			return errBlock
		}
	}
	at := r.time
	for i := range b.records {
		at += t.signed()
		b.records[i].time = at
	}
	if t.invalid || len(t.b) > 0 || len(payloads) > 0 || end != r.offset+m.span {
		return errBlock
	}
	return nil
}

// varints reads variable-length integers. After an invalid one it returns only zeros.
type varints struct {
	b       []byte
	invalid bool
}

func (v *varints) unsigned() uint64 {
	x, n := binary.Uvarint(v.b)
	if n <= 0 {
		v.invalid = true
		return 0
	}
	v.b = v.b[n:]
	return x
}

func (v *varints) signed() int64 {
	x, n := binary.Varint(v.b)
	if n <= 0 {
		v.invalid = true
		return 0
	}
	v.b = v.b[n:]
	return x
}

// appendOutputBlock appends a block with one record of output. If that would not be shorter than data, it appends
// nothing and returns small = false. body is a scratch buffer.
func appendOutputBlock(dst, body, data []byte, d dims) (payload, usedBody []byte, small bool) {
	body = append(body[:0], byte(KindOutput))
	body = binary.AppendUvarint(body, uint64(len(data)))
	body = append(body, 0, 0)
	m := blockMeta{encoding: blockZstd, span: uint64(len(data)), dims: d, count: 1, table: len(body)}
	body = append(body, data...)
	m.length = len(body)
	start := len(dst)
	dst = append(dst, make([]byte, blockHead)...)
	dst = deflate(fastEncoders, dst, body)
	if len(dst)-start >= len(data) {
		return dst[:start], body, false
	}
	m.put(dst[start:])
	return dst, body, true
}
