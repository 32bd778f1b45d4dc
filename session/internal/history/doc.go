// Package history is what is kept of a session's output, and how it is shown again.
//
//	ring ─▶ Recorder ─▶ journal (marks say of which stream output is) ─▶ Past ─▶ an emulator of back then
//	emulator ─▶ Checkpoints (when) ─▶ checkpoint, Screens (one per 8 MiB of output)
//
// Recorder is the journal's writing end. It belongs to the session's owner, as Checkpoints does: a byte
// is journalled once and at its own offset, before it may be overwritten in the ring; what could not be
// journalled is caught up with later, or becomes a counted gap. Streams, Screens, Past and RingReader may
// be used from any goroutine; their locks guard their own fields and nothing else.
//
// Nothing here knows what a session is: who is told of failures is the owner's business. Offsets count
// the bytes the program ever printed; sizes are bytes.
package history
