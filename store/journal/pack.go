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
	size int64 // of the file, the buffer counted
	buf  []byte
	dims dims // in force after what was added

	meta     blockMeta // of the block being filled
	offset   uint64
	time     int64
	end      uint64 // offset after the last record
	last     int64  // its time
	kinds    []byte
	lengths  []byte
	aheads   []byte
	times    []byte
	payloads []byte
	body     []byte
}

// packBuffer is what is gathered before it is written, bytes.
const packBuffer = 256 << 10

// newPacker begins a segment in an empty file.
func newPacker(f File, h header) *packer {
	p := &packer{file: f, id: h.id, dims: h.dims}
	p.buf = appendHeader(make([]byte, 0, packBuffer+MaxPayload), h)
	return p
}

// add adds a record, not a block.
func (p *packer) add(r *raw) error {
	if len(r.payload) > blockBytes {
		return p.single(r)
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
	p.aheads = binary.AppendUvarint(p.aheads, r.offset-p.end)
	p.times = binary.AppendVarint(p.times, r.time-p.last)
	p.payloads = append(p.payloads, r.payload...)
	p.meta.count++
	p.end, p.last = r.offset+r.span(), r.time
	if d, ok := r.resized(); ok {
		p.dims = d
		p.meta.flags |= flagResizes
	}
	return nil
}

// begin begins a block with r.
func (p *packer) begin(r *raw) {
	p.meta = blockMeta{encoding: blockZstd, flags: flagDense, dims: p.dims}
	p.offset, p.time = r.offset, r.time
	p.end, p.last = r.offset, r.time
	p.kinds, p.lengths, p.aheads, p.times = p.kinds[:0], p.lengths[:0], p.aheads[:0], p.times[:0]
	p.payloads = p.payloads[:0]
}

// single adds a record that does not fit a block, or that is one.
func (p *packer) single(r *raw) error {
	if err := p.flush(); err != nil {
		return err
	}
	var start int
	p.buf, start = beginRecord(p.buf)
	p.buf = append(p.buf, r.payload...)
	p.buf = endRecord(p.buf, start, p.id, r.kind, r.offset, r.time)
	p.end = r.offset + r.span()
	return p.spill(packBuffer)
}

// keep adds a dense block as it is. False: it has to be taken apart.
func (p *packer) keep(r *raw) (bool, error) {
	m, ok := decodeBlockMeta(r.payload)
	if !ok || m.flags != flagDense || m.length < blockBytes/2 || r.offset < p.end {
		return false, nil
	}
	return true, p.single(r)
}

// adopt goes on with the size that a block says is in force: a resize before it may have
// been lost.
func (p *packer) adopt(d dims) error {
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
	for _, column := range [][]byte{p.lengths, p.aheads, p.times} {
		body = append(body, column...)
	}
	m.table = len(body)
	body = append(body, p.payloads...)
	m.length, m.span, p.body = len(body), p.end-p.offset, body

	var start int
	p.buf, start = beginRecord(p.buf)
	at := len(p.buf)
	p.buf = append(p.buf, make([]byte, blockHead)...)
	p.buf = deflate(thorough, p.buf, body)
	if len(p.buf)-at-blockHead >= len(body) {
		m.encoding = blockPlain
		p.buf = append(p.buf[:at+blockHead], body...)
	}
	m.put(p.buf[at:])
	p.buf = endRecord(p.buf, start, p.id, kindBlock, p.offset, p.time)
	m.count, p.payloads = 0, p.payloads[:0]
	return p.spill(packBuffer)
}

// spill writes the buffer if it has so many bytes.
func (p *packer) spill(bytes int) error {
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

// finish writes all that was added, and h once more, then syncs.
func (p *packer) finish(h header) error {
	err := p.flush()
	if err == nil {
		err = p.spill(0)
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
