package journal

import (
	"encoding/binary"
	"math"
)

// packer writes records into a file as dense blocks.
//
//	add ─▶ columns and payloads of the block being filled ─▶ flush ─▶ buffer ─▶ file
type packer struct {
	file File
	id   uint32
	size int64 // size of the file including the buffer
	buf  []byte
	dims dims // terminal size after the last record

	meta       blockMeta // head of the block being filled
	offset     uint64
	time       int64
	end        uint64 // offset after the last record
	last       int64  // time of the last record
	kinds      []byte
	lengths    []byte
	offsetGaps []byte // distances of offsets
	times      []byte
	payloads   []byte
	body       []byte // scratch buffer
}

// packBuffer is the size at which the buffer is written, in bytes.
const packBuffer = 256 << 10

// newPacker starts a segment in an empty file.
func newPacker(f File, h header) *packer {
	p := &packer{file: f, id: h.id, dims: h.dims}
	p.buf = appendHeader(make([]byte, 0, packBuffer+MaxPayload), h)
	return p
}

// add adds a record, not a block.
func (p *packer) add(r *raw) error {
	if len(r.payload) > blockBytes {
		return p.addSingle(r)
	}
	full := len(p.payloads)+len(r.payload) > blockBytes || p.meta.count == blockRecords
	if full || r.offset < p.end {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if p.meta.count == 0 {
		p.begin(r)
	}
	p.kinds = append(p.kinds, byte(r.kind))
	p.lengths = binary.AppendUvarint(p.lengths, uint64(len(r.payload)))
	p.offsetGaps = binary.AppendUvarint(p.offsetGaps, r.offset-p.end)
	p.times = binary.AppendVarint(p.times, r.time-p.last)
	p.payloads = append(p.payloads, r.payload...)
	p.meta.count++
	p.end, p.last = r.offset+r.span(), r.time
	if d, ok := r.resizeDims(); ok {
		p.dims = d
		p.meta.flags |= flagResizes
	}
	return nil
}

// begin starts a block with r.
func (p *packer) begin(r *raw) {
	p.meta = blockMeta{encoding: blockZstd, flags: flagDense, dims: p.dims}
	p.offset, p.time = r.offset, r.time
	p.end, p.last = r.offset, r.time
	p.kinds, p.lengths, p.offsetGaps, p.times = p.kinds[:0], p.lengths[:0], p.offsetGaps[:0], p.times[:0]
	p.payloads = p.payloads[:0]
}

// addSingle adds a record by itself: one that does not fit a block, or a block.
func (p *packer) addSingle(r *raw) error {
	if err := p.flush(); err != nil {
		return err
	}
	var start int
	p.buf, start = beginRecord(p.buf)
	p.buf = append(p.buf, r.payload...)
	p.buf = endRecord(p.buf, start, p.id, r.kind, r.offset, r.time)
	p.end = r.offset + r.span()
	return p.writeBuffer(packBuffer)
}

// addDense adds a dense block unchanged. It returns false if the block must be unpacked.
func (p *packer) addDense(r *raw) (bool, error) {
	m, ok := decodeBlockMeta(r.payload)
	if !ok || m.flags != flagDense || m.length < blockBytes/2 || r.offset < p.end {
		return false, nil
	}
	return true, p.addSingle(r)
}

// recordDims records a block's terminal size, because a resize before the block may have been lost.
func (p *packer) recordDims(d dims) error {
	if !d.known() || d == p.dims {
		return nil
	}
	err := p.flush()
	p.dims = d
	return err
}

// flush ends the block being filled.
func (p *packer) flush() error {
	m := &p.meta
	if m.count == 0 {
		return nil
	}
	body := append(p.body[:0], p.kinds...)
	for _, column := range [][]byte{p.lengths, p.offsetGaps, p.times} {
		body = append(body, column...)
	}
	m.table = len(body)
	body = append(body, p.payloads...)
	m.length, m.span, p.body = len(body), p.end-p.offset, body

	var start int
	p.buf, start = beginRecord(p.buf)
	at := len(p.buf)
	p.buf = append(p.buf, make([]byte, blockHead)...)
	p.buf = deflate(denseEncoders, p.buf, body)
	if len(p.buf)-at-blockHead >= len(body) {
		m.encoding = blockPlain
		p.buf = append(p.buf[:at+blockHead], body...)
	}
	m.put(p.buf[at:])
	p.buf = endRecord(p.buf, start, p.id, kindBlock, p.offset, p.time)
	m.count, p.payloads = 0, p.payloads[:0]
	return p.writeBuffer(packBuffer)
}

// writeBuffer writes the buffer if it holds at least this many bytes.
func (p *packer) writeBuffer(bytes int) error {
	if len(p.buf) < max(bytes, 1) {
		return nil
	}
	if err := writeAt(p.file, p.buf, p.size); err != nil {
		return err
	}
	p.size += int64(len(p.buf))
	p.buf = p.buf[:0]
	return nil
}

// finish writes everything added and the final header h, then syncs.
func (p *packer) finish(h header) error {
	err := p.flush()
	if err == nil {
		err = p.writeBuffer(0)
	}
	if err == nil {
		h.dense = uint32(min(p.size, math.MaxUint32))
		err = writeAt(p.file, appendHeader(nil, h), 0)
	}
	if err == nil {
		err = p.file.Sync()
	}
	return err
}
