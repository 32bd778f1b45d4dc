// Package arena keeps a log of small records in large blocks of bytes: appending is a
// copy, any record is found by its index, the oldest go first when a bound is reached.
//
//	blocks:  [compressed][compressed]…[raw][raw][raw, being filled]
//	a block: records one after the other, and where each ends
//
// Records handed out are valid until the next call.
package arena

import (
	"slices"
	"sort"

	"github.com/klauspost/compress/s2"
)

const (
	blockBytes = 64 << 10
	rawShare   = 4 // blocks are compressed when raw ones take all but 1/rawShare of the bound
	blockCost  = 128
	dropAtOnce = 64 // records above the bound are dropped so many at a time
	// A block that shrinks by less than a part in worthPart is kept as it is while more comes, and so are that many after it.
	worthPart   = 5
	notWorthFor = 15
)

// Log is a bounded log of records. Its zero value keeps nothing; see New.
type Log struct {
	blocks     []*block
	maxRecords int
	maxBytes   int
	bytes      int
	dropped    uint64 // records ever dropped from the front
	n          int    // records kept, and up to dropAtOnce that are to be dropped
	cur        *block // the last block, while it is raw
	raw        int    // blocks from here on are yet to be compressed, if that is worth it
	skip       int    // blocks that are not compressed next, because one before them hardly shrank
	scratch    []byte
	spare      *block // for the next one

	cached  *block // the compressed block that was read last
	content []byte
}

type block struct {
	first  uint64 // number of the first record ever put here
	skip   int    // records dropped from the front
	data   []byte // nil when compressed
	packed []byte
	ends   []uint32
}

// New makes a log that keeps at most so many records and about so many bytes.
func New(maxRecords, maxBytes int) *Log {
	return &Log{maxRecords: maxRecords, maxBytes: maxBytes}
}

// Len is the number of records kept.
func (l *Log) Len() int { return min(l.n, max(l.maxRecords, 0)) }

// Dropped is the number of records that were dropped from the front, ever.
func (l *Log) Dropped() uint64 { return l.dropped + uint64(l.n-l.Len()) }

// Bytes is about what the log takes in memory.
func (l *Log) Bytes() int { return l.bytes }

func (b *block) cost() int { return cap(b.data) + cap(b.packed) + 4*cap(b.ends) + blockCost }

// Append adds a record.
func (l *Log) Append(rec []byte) { copy(l.Add(len(rec)), rec) }

// Add adds a record of n bytes, for the caller to fill. It returns nil when nothing is kept.
func (l *Log) Add(n int) []byte {
	room := l.Room(n)
	l.Commit(n)
	if len(room) < n {
		return nil
	}
	return room[:n]
}

// Room is where the next record goes: room for at least n bytes and whatever else is free
// in its block, or nil when nothing is kept. Commit makes a record of it.
func (l *Log) Room(n int) []byte {
	b := l.cur
	if b == nil || cap(b.data)-len(b.data) < n || len(b.ends) == cap(b.ends) {
		if b = l.makeRoom(n); b == nil {
			return nil
		}
	}
	return b.data[len(b.data):cap(b.data)]
}

// Commit adds the n bytes that were put where Room said.
func (l *Log) Commit(n int) {
	b := l.cur
	if l.maxRecords <= 0 || b == nil {
		l.dropped++
		return
	}
	k := len(b.ends)
	b.data = b.data[:len(b.data)+n]
	b.ends = b.ends[:k+1]
	b.ends[k] = uint32(len(b.data))
	if l.n++; l.n > l.maxRecords+dropAtOnce {
		l.drop()
	}
}

// Free is where the next records go, for callers with many small ones: room for at least n bytes, how many bytes stand
// before it in its block, and places for the end of each record there; none when nothing is kept. Fill makes records of it.
func (l *Log) Free(n int) (room []byte, before int, ends []uint32) {
	room = l.Room(n)
	if len(room) < n {
		return nil, 0, nil
	}
	b := l.cur
	return room, len(b.data), b.ends[len(b.ends):cap(b.ends)]
}

// Fill adds the first k records that were put, with their ends, where Free said; n bytes in all.
func (l *Log) Fill(k, n int) {
	b := l.cur
	b.data = b.data[:len(b.data)+n]
	b.ends = b.ends[:len(b.ends)+k]
	if l.n += k; l.n > l.maxRecords+dropAtOnce {
		l.drop()
	}
}

// makeRoom returns a block that has room for one more record, of n bytes, if any is kept.
func (l *Log) makeRoom(n int) *block {
	if l.maxRecords <= 0 {
		return nil
	}
	b := l.cur
	if b == nil || cap(b.data)-len(b.data) < n {
		b = l.addBlock(n)
	}
	if len(b.ends) == cap(b.ends) {
		l.bytes -= 4 * cap(b.ends)
		b.ends = slices.Grow(b.ends, max(64, len(b.ends)/2))
		l.bytes += 4 * cap(b.ends)
	}
	return b
}

// addBlock begins a block that has room for n bytes.
func (l *Log) addBlock(n int) *block {
	next := l.dropped
	if k := len(l.blocks); k > 0 {
		next = l.blocks[k-1].first + uint64(len(l.blocks[k-1].ends))
	}
	b := l.newBlock(n)
	b.first = next
	l.blocks = append(l.blocks, b)
	l.cur = b
	l.bytes += b.cost()
	l.compress()
	for l.bytes > l.maxBytes && len(l.blocks) > 1 {
		l.dropBlock()
	}
	return b
}

// newBlock takes the block that was dropped last again, so that a full log allocates
// nothing, or makes one.
func (l *Log) newBlock(n int) *block {
	if b := l.spare; b != nil && n <= cap(b.data) {
		l.spare = nil
		*b = block{data: b.data[:0], ends: b.ends[:0]}
		return b
	}
	return &block{data: make([]byte, 0, l.sizeOfNext(n))}
}

// sizeOfNext lets small histories have small blocks.
func (l *Log) sizeOfNext(n int) int {
	size := blockBytes
	if len(l.blocks) == 0 {
		size = 4 << 10
	} else if len(l.blocks) < 4 {
		size = 16 << 10
	}
	return max(n, size)
}

// compress packs the oldest raw blocks when they take too much room. It costs about as
// much as all else that is done with a line, so what is small, or hardly gets smaller, is left alone.
func (l *Log) compress() {
	for (len(l.blocks)-l.raw)*blockBytes > l.maxBytes-l.maxBytes/rawShare && l.raw < len(l.blocks)-1 {
		b := l.blocks[l.raw]
		l.raw++
		if l.skip > 0 {
			l.skip--
			continue
		}
		l.scratch = s2.Encode(l.scratch[:cap(l.scratch)], b.data)
		if len(l.scratch) > len(b.data)-len(b.data)/worthPart {
			l.skip = notWorthFor
			continue
		}
		data := b.data
		l.keepPacked(b)
		if cap(data) == blockBytes {
			l.spare = &block{data: data}
		}
	}
}

// keepPacked has a block keep what it was packed to in scratch.
func (l *Log) keepPacked(b *block) {
	before := b.cost()
	b.packed = append(make([]byte, 0, len(l.scratch)), l.scratch...)
	b.data, b.ends = nil, slices.Clip(b.ends)
	l.bytes += b.cost() - before
}

// Pack packs all blocks but the last, for when nothing is going to happen for a while.
func (l *Log) Pack() {
	l.raw = max(0, len(l.blocks)-1)
	for _, b := range l.blocks[:l.raw] {
		if b.packed == nil {
			l.scratch = s2.Encode(l.scratch[:cap(l.scratch)], b.data)
			l.keepPacked(b)
		}
	}
	l.scratch, l.spare, l.cached, l.content = nil, nil, nil, nil
}

// drop drops the records above the bound.
func (l *Log) drop() {
	for l.n > l.maxRecords {
		b := l.blocks[0]
		n := min(l.n-l.maxRecords, len(b.ends)-b.skip)
		b.skip += n
		l.dropped += uint64(n)
		l.n -= n
		if b.skip == len(b.ends) && len(l.blocks) > 1 {
			l.removeBlock()
		}
	}
}

func (l *Log) dropBlock() {
	b := l.blocks[0]
	l.dropped += uint64(len(b.ends) - b.skip)
	l.n -= len(b.ends) - b.skip
	l.removeBlock()
}

func (l *Log) removeBlock() {
	b := l.blocks[0]
	l.bytes -= b.cost()
	if cap(b.data) == blockBytes {
		l.spare = b
	}
	l.blocks[0] = nil
	l.blocks = l.blocks[1:]
	l.raw = max(0, l.raw-1)
	l.cached, l.content = nil, nil
}

// Clear drops everything.
func (l *Log) Clear() {
	l.dropped += uint64(l.n)
	*l = Log{maxRecords: l.maxRecords, maxBytes: l.maxBytes, dropped: l.dropped}
}

// At is record i, 0 ≤ i < Len.
func (l *Log) At(i int) []byte {
	n := l.Dropped() + uint64(i)
	k := sort.Search(len(l.blocks), func(k int) bool { return l.blocks[k].first > n }) - 1
	b := l.blocks[k]
	return b.record(l.bytesOf(b), int(n-b.first))
}

func (b *block) record(data []byte, j int) []byte {
	from := uint32(0)
	if j > 0 {
		from = b.ends[j-1]
	}
	return data[from:b.ends[j]:b.ends[j]]
}

// bytesOf is the content of a block, unpacked if it has to be.
func (l *Log) bytesOf(b *block) []byte {
	if b.packed == nil {
		return b.data
	}
	if l.cached != b {
		data, err := s2.Decode(l.content[:cap(l.content)], b.packed)
		if err != nil {
			panic("arena: a block that was compressed here does not unpack: " + err.Error())
		}
		l.cached, l.content = b, data
	}
	return l.content
}

// Truncate removes the newest n records.
func (l *Log) Truncate(n int) {
	l.drop()
	for n > 0 && len(l.blocks) > 0 {
		k := len(l.blocks) - 1
		b := l.blocks[k]
		l.unpack(b)
		left := len(b.ends) - b.skip
		if n >= left && k > 0 {
			n -= left
			l.n -= left
			l.bytes -= b.cost()
			l.blocks[k] = nil
			l.blocks = l.blocks[:k]
			l.raw = min(l.raw, k)
			l.cur = nil
			continue
		}
		n = min(n, left)
		l.n -= n
		l.cur = b
		b.ends = b.ends[:len(b.ends)-n]
		end := uint32(0)
		if len(b.ends) > 0 {
			end = b.ends[len(b.ends)-1]
		}
		b.data = b.data[:end]
		return
	}
}

// Cut removes the newest n records, 0 ≤ n ≤ Len, from the log and returns them in another log, which must only be read. It moves
// blocks and copies no record. Records keep their numbers.
func (l *Log) Cut(n int) *Log {
	l.drop()
	l.n -= n
	end := l.dropped + uint64(l.n) // number of the first removed record
	k := sort.Search(len(l.blocks), func(k int) bool { return l.blocks[k].first >= end })
	tail := &Log{blocks: slices.Clone(l.blocks[k:]), maxRecords: l.maxRecords, maxBytes: l.maxBytes, dropped: end, n: n}
	for _, b := range tail.blocks {
		l.bytes -= b.cost()
	}
	clear(l.blocks[k:])
	l.blocks = l.blocks[:k]
	if k > 0 {
		if first := l.blocks[k-1].split(end); first != nil {
			tail.blocks = slices.Insert(tail.blocks, 0, first)
			l.bytes += l.blocks[k-1].cost() - first.cost()
		}
	}
	l.cur, l.raw = nil, min(l.raw, k)
	l.cached, l.content = nil, nil
	return tail
}

// split keeps the records before number end in b, and returns a block with the others. Both share their bytes, so nothing may be
// appended to either. It returns nil if all records of b are before end.
func (b *block) split(end uint64) *block {
	n := int(end - b.first)
	if n == len(b.ends) {
		return nil
	}
	rest := *b
	rest.skip = n
	b.ends = b.ends[:n:n]
	if b.packed == nil {
		size := b.ends[n-1]
		b.data = b.data[:size:size]
	}
	return &rest
}

func (l *Log) unpack(b *block) {
	if b.packed == nil {
		return
	}
	before := b.cost()
	b.data = append([]byte(nil), l.bytesOf(b)...)
	b.packed = nil
	l.cached, l.content = nil, nil
	l.bytes += b.cost() - before
	l.raw = min(l.raw, len(l.blocks)-1)
}
