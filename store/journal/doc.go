// Package journal keeps what one session printed: an append-only log in a directory
// of segment files, in which every output byte has an offset that never changes.
//
//	append ─▶ batch of records ─▶ one write ─▶ published end ─▶ readers (pread)
//
// # Format
//
// A segment is named after the offset of its first byte, 20 digits and ".ltj". All
// integers are little endian, offsets count output bytes since the session began,
// times are Unix nanoseconds, checksums are CRC-32C (Castagnoli).
//
//	segment header                      record
//	 0  magic "LTJRNL1\n"                0  u32  checksum of all that follows, seeded with id
//	 8  u32  format version, 1           4  u32  id of the segment
//	12  u32  header length, 48           8  u32  payload length n
//	16  u64  base offset                12  u8   kind
//	24  i64  creation time              13  u8×3 zero
//	32  u32  id, random, not 0          16  u64  start offset
//	36  u64  zero                       24  i64  time
//	44  u32  checksum of bytes 0–43     32  payload
//	48  records                         32+n u32 n again
//
// Kinds and payloads are in docs/journal.md. A record of an unknown kind is skipped;
// should it have stood for output, the next record's start offset shows the gap.
//
// The id marks where records begin. Output cannot know it, so nothing a program
// prints (another journal, say) is ever taken for a record of this segment. That
// allows a reader to drop into the middle of a segment, or behind damage, and find
// the next record; random access is a bisection of the file and needs no index. The
// length at a record's end lets Open check the last record without reading the rest.
//
// # Invariants
//
//   - A record's start offset is the journal's end before it. A larger one is a gap:
//     damage, retired segments or output that could not be written (KindGap). Gaps
//     are counted, never passed over in silence.
//   - Readers see records only after their write succeeded. What a failed write left
//     is cut off before anything else is written.
//   - After a crash a prefix of what was appended is there; Open cuts the rest.
//   - A segment is closed to writing for good once the next one exists.
//
// # Ownership
//
// Journal.tail (the writer's end) is used under tail.mu, what readers see under
// Journal.mu; tail.mu is taken first. Segment files of sealed segments are opened per
// read. The file being appended to is kept open as long as the process-wide limit
// on such descriptors allows (handles). No goroutine is started.
package journal
