// Package arena stores a log of small records in large blocks of bytes. Appending is a copy, a record is found by its
// index, and the oldest records are dropped at a limit.
//
// Blocks are compressed from the oldest on; the newest stay uncompressed, and the last one is being filled. A block
// holds its records one after the other and the end of each.
//
// Returned records are valid until the next call.
package arena

import (
	"slices"
	"sort"

	"github.com/klauspost/compress/s2"
)

const (
	blockBytes = 64 << 10
	rawShare   = 4 // blocks are compressed when uncompressed ones exceed all but 1/rawShare of the limit
	blockCost  = 128
	dropAtOnce = 64 // records above the limit are dropped in groups of this size
	// minSavingDivisor: a block that compression shrinks by less than 1/minSavingDivisor stays uncompressed, and so do the next
	// skipAfterPoor blocks.
	minSavingDivisor = 5
	skipAfterPoor    = 15
)

// Log is a log of records with limits. Its zero value stores nothing; see New.
type Log struct {
	blocks     []*block
	maxRecords int
	maxBytes   int
	bytes      int
	dropped    uint64 // records ever dropped from the front
	n          int    // stored records, including up to dropAtOnce that will be dropped
	cur        *block // the last block, while it is uncompressed
	raw        int    // index of the first block that may be compressed later
	skip       int    // number of blocks to leave uncompressed, because an earlier one hardly shrank
	scratch    []byte
	spare      *block // a dropped block to reuse

	cached  *block // the compressed block that was read last, and its content
	content []byte
}

// block is a block of records.
type block struct {
	first  uint64   // number of the first record ever stored in it
	skip   int      // records dropped from the front
	data   []byte   // records; nil when compressed
	packed []byte   // compressed records
	ends   []uint32 // end of each record in data
}

// New returns a log of at most maxRecords records and about maxBytes bytes.
func New(maxRecords, maxBytes int) *Log {
	return &Log{maxRecords: maxRecords, maxBytes: maxBytes}
}

// Len returns the number of stored records.
func (l *Log) Len() int { return min(l.n, max(l.maxRecords, 0)) }

// DroppedCount returns how many records were ever dropped from the front.
func (l *Log) DroppedCount() uint64 { return l.dropped + uint64(l.n-l.Len()) }

// Bytes returns the approximate memory use of the log.
func (l *Log) Bytes() int { return l.bytes }

// cost returns the approximate memory use of a block.
func (b *block) cost() int { return cap(b.data) + cap(b.packed) + 4*cap(b.ends) + blockCost }

// Append adds a record.
func (l *Log) Append(rec []byte) { copy(l.Add(len(rec)), rec) }

// Add adds a record of n bytes and returns it for the caller to fill. It returns nil if the log stores nothing.
func (l *Log) Add(n int) []byte {
	room := l.Reserve(n)
	l.Commit(n)
	if len(room) < n {
		return nil
	}
	return room[:n]
}

// Reserve returns space for the next record: at least n bytes and the rest of its block, or nil if the log stores nothing.
// Commit turns it into a record.
func (l *Log) Reserve(n int) []byte {
	b := l.cur
	if b == nil || cap(b.data)-len(b.data) < n || len(b.ends) == cap(b.ends) {
		if b = l.makeRoom(n); b == nil {
			return nil
		}
	}
	return b.data[len(b.data):cap(b.data)]
}

// Commit adds the first n bytes of Room's result as a record.
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

// ReserveBatch returns space for several small records: at least n bytes, the number of bytes before it in its block, and space
// for the end of each record; nil if the log stores nothing. Fill turns it into records.
func (l *Log) ReserveBatch(n int) (room []byte, before int, ends []uint32) {
	room = l.Reserve(n)
	if len(room) < n {
		return nil, 0, nil
	}
	b := l.cur
	return room, len(b.data), b.ends[len(b.ends):cap(b.ends)]
}

// CommitBatch adds the first k records that were written to Free's result, with their ends; n bytes in total.
func (l *Log) CommitBatch(k, n int) {
	b := l.cur
	b.data = b.data[:len(b.data)+n]
	b.ends = b.ends[:len(b.ends)+k]
	if l.n += k; l.n > l.maxRecords+dropAtOnce {
		l.drop()
	}
}

// makeRoom returns a block with space for one more record of n bytes, or nil if the log stores nothing.
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

// addBlock adds a block with space for n bytes.
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

// newBlock returns the last dropped block, so that a full log allocates nothing, or a new one.
func (l *Log) newBlock(n int) *block {
	if b := l.spare; b != nil && n <= cap(b.data) {
		l.spare = nil
		*b = block{data: b.data[:0], ends: b.ends[:0]}
		return b
	}
	return &block{data: make([]byte, 0, l.sizeOfNext(n))}
}

// sizeOfNext returns the size of the next block; small histories have small blocks.
func (l *Log) sizeOfNext(n int) int {
	size := blockBytes
	if len(l.blocks) == 0 {
		size = 4 << 10
	} else if len(l.blocks) < 4 {
		size = 16 << 10
	}
	return max(n, size)
}

// compress compresses the oldest uncompressed blocks if they take too much space. It costs about as much as all other
// work on a line, so small or incompressible blocks are skipped.
func (l *Log) compress() {
	for (len(l.blocks)-l.raw)*blockBytes > l.maxBytes-l.maxBytes/rawShare && l.raw < len(l.blocks)-1 {
		b := l.blocks[l.raw]
		l.raw++
		if l.skip > 0 {
			l.skip--
			continue
		}
		l.scratch = s2.Encode(l.scratch[:cap(l.scratch)], b.data)
		if len(l.scratch) > len(b.data)-len(b.data)/minSavingDivisor {
			l.skip = skipAfterPoor
			continue
		}
		data := b.data
		l.keepPacked(b)
		if cap(data) == blockBytes {
			l.spare = &block{data: data}
		}
	}
}

// keepPacked replaces a block's content by its compressed form in scratch.
func (l *Log) keepPacked(b *block) {
	before := b.cost()
	b.packed = append(make([]byte, 0, len(l.scratch)), l.scratch...)
	b.data, b.ends = nil, slices.Clip(b.ends)
	l.bytes += b.cost() - before
}

// Pack compresses all blocks but the last. Call it when the log will be idle.
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

// drop removes the records above the limit.
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

// Clear removes all records.
func (l *Log) Clear() {
	l.dropped += uint64(l.n)
	*l = Log{maxRecords: l.maxRecords, maxBytes: l.maxBytes, dropped: l.dropped}
}

// At returns record i, 0 ≤ i < Len.
func (l *Log) At(i int) []byte {
	n := l.DroppedCount() + uint64(i)
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

// bytesOf returns the content of a block, decompressed if necessary.
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
