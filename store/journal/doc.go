// Package journal stores one session's output: an append-only log in a directory of segment files, in which every
// output byte has an offset that never changes.
//
//	append ─▶ batch of records ─▶ one write ─▶ published end ─▶ readers (pread)
//	             │ 4 KiB and more: a block                        ▲ blocks taken apart
//	segment ─▶ Compact: dense blocks ─▶ new file ─▶ rename ───────┘
//
// # Format
//
// A segment is named after the offset of its first byte, 20 digits and ".ltj". All integers are little endian, offsets
// count output bytes since the session started, times are Unix nanoseconds, checksums are CRC-32C (Castagnoli).
//
//	segment header                      record
//	 0  magic "LTJRNL1\n"                0  u32  checksum of all that follows, seeded with id
//	 8  u32  format version, 2           4  u32  id of the segment
//	12  u32  header length, 48           8  u32  payload length n
//	16  u64  base offset                12  u8   kind
//	24  i64  creation time              13  u8×3 zero
//	32  u32  id, random, not 0          16  u64  start offset
//	36  u16  columns, u16 rows          24  i64  time
//	40  u32  bytes compaction wrote     32  payload
//	44  u32  checksum of bytes 0–43     32+n u32 n again
//	48  records
//
// In version 1 the bytes 36–43 are zero and there are no blocks; it is read, and appended to in its own form until it
// is compacted. Kinds and payloads are in docs/journal.md. A record of an unknown kind is skipped; should it have stood
// for output, the next record's start offset shows the gap.
//
// The id marks where records begin. Output cannot know it, so no program output (such as another journal) is mistaken
// for a record of this segment. That allows a reader to drop into the middle of a segment, or behind damage, and find
// the next record; random access is a bisection of the file and needs no index. The length at a record's end lets Open
// check the last record without reading the rest.
//
// # Invariants
//
//   - A record's start offset is the journal's end before it. A larger one is a gap:
//     damage, retired segments or output that could not be written (KindGap). Gaps
//     are always reported.
//   - Readers see records only after their write succeeded. The remains of
//     a failed write are cut off before the next write. Nothing waits in memory.
//   - After a crash a prefix of the appended records exists; Open cuts the rest.
//   - A segment is closed to appends for good once the next one exists.
//   - Compaction changes no record: kind, offset, time and payload stay. A version of a
//     segment has its own id, so that readers detect remembered positions of another
//     version. Both versions are synced before they are exchanged.
//
// # Map
//
//	append.go  block.go  mark.go        writing; blocks; marks
//	format.go  record.go  zstd.go       bytes
//	scan.go  walk.go  reader.go  readat.go  dims.go  extent.go    reading
//	pack.go  compact.go                 compaction
//	sync.go  retain.go  budget.go       durability and retention
//	recover.go  verify.go  repair.go    damage
//
// # Ownership
//
// Journal.tail (the writer's end) is used under tail.mu, the state for readers under Journal.mu. Locks are taken in the
// order compacting, tail.mu, names, mu. Compaction holds only the first while it writes. Segment files of sealed
// segments are opened per read. The file being appended to is kept open as long as the process-wide limit on such
// descriptors allows (handles); encoders and decoders are the process's too. No goroutine is started.
package journal
