// Package store keeps what longterm knows about its sessions in a SQLite file, and
// beside each session's history in a manifest, so that either can be rebuilt.
//
//	Store     longterm.db: one row a session, one a command, removed with the session
//	Manifest  sessions/ID/session.json: the session's row, for when the database is lost
//	journal/  what sessions printed;  checkpoint/  screens to start from
//	search/   search.db: the text of what they printed, to be searched
//
// The database is in WAL mode and synced at checkpoints only: after a power loss the
// last changes may be missing, never half there. Its schema is a row of numbered SQL
// files (migrations); user_version counts those applied. Times are Unix nanoseconds,
// 0 for none. Everything has mode 0600.
//
// A Store may be used from any goroutine. It has one connection: calls take turns.
package store
