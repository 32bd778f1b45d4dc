// Package store persists session metadata in a SQLite file, and in a manifest per session, so that the database can be
// rebuilt.
//
//   - Store: longterm.db, with tables of sessions, commands, jobs, approvals and subscriptions.
//   - Manifest: sessions/ID/session.json, a session's row, from which the database is rebuilt.
//   - journal/: session output. checkpoint/: emulator states. search/: search.db, the full-text index of output.
//   - fleet/: connections between machines. atomicfile/: atomic replacement of files.
//
// The database is in WAL mode and synced at checkpoints only: after a power loss the last transactions may be missing,
// but none is partial. Its schema is a sequence of numbered SQL files (migrations); user_version counts those applied.
// Times are Unix nanoseconds, 0 for none. Everything has mode 0600.
//
// A Store may be used from any goroutine. It has one connection, so calls are serialised.
package store
