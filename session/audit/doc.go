// Package audit records requests, decisions and results in a form in which later changes are provable.
//
//	Append, Later → queue → writer: chain → write → wake followers → sync → keep the head
//	Verify, Read ← segments, head
//
// Records are JSON, one per line, in segments named by their first record's number. Each has the hash of the previous
// one (Prev) and its own (Hash): SHA-256 over the bytes of its line before `,"hash":"`. A changed, removed or moved
// record breaks the chain at a place that Verify names. The head (number and hash of the newest record) reveals
// truncation; it is in a file next to the directory. A head kept elsewhere can also be compared (Anchor).
//
// One goroutine writes and alone knows the file, the number and the hash. Append waits until the system has the record,
// so that it survives the daemon and a full disk is reported to the caller. Later never waits, and counts what it
// cannot take. Everything is synced within SyncEvery. A Gap record counts unwritten ones as soon as the disk has room.
//
// The package knows no secrets: Options.Mask removes them before a record is written.
package audit
