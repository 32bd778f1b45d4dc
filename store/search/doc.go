// Package search finds lines in the output of all sessions: substrings, words and regular expressions, newest first,
// exact.
//
//	Add ─▶ tail of the session ─▶ block ─▶ group of blocks with pages of trigrams
//	                 │               │                 │
//	Search ◀── lines are matched ◀───┴── candidates ◀──┘
//
// A caller feeds lines of clean text, in the background, with their place in the session's journal. The index is a
// separate SQLite file without unique content: it can be lost and rebuilt.
//
// # Format
//
// The tables are in schema.sql. A session's lines gather in its tail; about 20 KiB of text become a block, compressed
// with zstd. About 4 MiB of successive blocks, of whatever sessions, become a group: for each trigram (three bytes of a
// line, case folded, see trigram) that is in one of its blocks, a page says in which. Too many tails are closed early,
// as small blocks. So the text without trigrams is bounded (limits), and every search scans all of it.
//
//	tail, block   u8 format, 1
//	              uvarint  number of lines n
//	              uvarint  bytes of text
//	              the lines' texts, joined by "\n"
//	              n × uvarint  bytes of the line's text
//	              n × uvarint  offset, less the end of the line before
//	              n × varint   bytes in the journal, less those of the text
//	              n × varint   time (Unix ns), less that of the line before
//	              n × varint   command, less that of the line before
//
//	page          for each trigram, ascending:
//	              uvarint  trigram, less the one before; 0 for the page's first
//	              uvarint  2 × number of blocks; + 1: as a bitmap
//	              bitmap of the group's blocks, 8 a byte, the lowest bit first; or
//	              uvarints block's number in the group, less the one before
//
// The first trigram of a page is in its key, so that one seek finds the page of any.
//
// FTS5, SQLite's own index, was tried with its trigrams over the same blocks: it took them at a quarter of the speed,
// needed three times the room, and lacks ranges of trigrams, which find texts of one or two bytes.
//
// # Search
//
// A query becomes required literals (plan), these become sets of blocks (lookup), the blocks' lines are matched
// (scanner). One queue, ordered by the newest hit that may be in them, holds groups, blocks and hits (search): hits
// come out in order, and nothing older than the last wanted hit is read. Lines that the index does not have yet come
// from the caller (Query.Unindexed), behind the offsets of the search's own snapshot: no line is missed and none is
// found twice.
//
// # Invariants
//
//   - A line is in a tail or in one block. It exists if and only if Indexed is
//     behind it: both change in one transaction. After a crash a prefix of the batches
//     exists.
//   - Text is valid UTF-8 without newlines.
//   - Blocks and groups never change, they are only removed; ids are not reused. So a
//     search needs no lock and no transaction while its caller looks at hits.
//   - Blocks up to the last group's end are in a group. A group's pages list a
//     superset of the trigrams in its remaining blocks.
//   - Trigrams and literals are folded alike, so a case that matters only in matching
//     never keeps a block out.
//
// # Ownership
//
// Index.mu is held by one writer at a time (Add, Forget). Searches use their own connections and see committed data. No
// goroutine is started.
//
// Memory: some MiB of SQLite's caches and the compressor's tables; while a group is made 16 bytes for each pair of
// trigram and block, some 15 MiB; for each search the tails, at most 4 MiB, and what is in its queue.
package search
