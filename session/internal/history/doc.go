// Package history records a session's output and restores earlier screens from it.
//
//	ring ─▶ Recorder ─▶ journal (marks have the streams of output) ─▶ Replayer ─▶ emulator at an earlier offset
//	emulator ─▶ CheckpointSchedule ─▶ checkpoint, ScreenSeries (one per 8 MiB of output)
//
// Recorder is the writing end of the journal. Like CheckpointSchedule it belongs to the session's owner. It journals each byte
// once and at its own offset, before the ring may overwrite it. Bytes that could not be journaled are written later, or
// become a counted gap. Streams, ScreenSeries, Replayer and RingReader may be used from any goroutine; their locks guard their
// own fields only.
//
// This package knows nothing of sessions: the owner reports failures. Offsets count all bytes that the program has
// printed; sizes are bytes.
package history
