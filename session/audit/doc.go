// Package audit is the record of what was asked, what was decided and what came of it, in a form in which
// a change can be proven.
//
//	Append, Later → queue → writer: chain → write → wake followers → sync → keep the head
//	Verify, Read ← segments, head
//
// Records are JSON, one a line, in segments that are named by their first record's number. Each has the
// hash of the one before (Prev) and its own (Hash): SHA-256 over the bytes of its line before `,"hash":"`.
// A record that was changed, removed or moved breaks the chain at a place that Verify names. What is cut
// off at the end is known by the head, the number and hash of the newest record, which is kept in a file
// beside the directory; whoever keeps a head elsewhere can have it compared (Anchor).
//
// One goroutine writes; it is the only one that knows the file, the number and the hash. Append waits until
// the record is in the system's hands, so that it outlives a kill of the daemon and a full disk is told to
// whoever wants to go on; Later never waits, and counts what it cannot take. All is synced within SyncEvery.
// What could not be written is counted in a record of its own (Gap) as soon as there is room.
//
// The package knows no secrets: Options.Mask takes them out of a record before it is written.
package audit
