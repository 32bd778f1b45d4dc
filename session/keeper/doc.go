// Package keeper is the process that must not die. It holds what cannot be rebuilt: the PTYs, the children and their
// exit statuses. It is kept small enough to be correct; all complex logic is in the daemon, which it starts and
// restarts.
//
//	child ─ PTY ─────▶ pump ─▶ shared ring ─▶ daemon
//	child ─ pipe, pipe ▶ pump, pump ─▶ shared ring and its log of streams ─▶ daemon
//	SIGCHLD ─▶ reap ─▶ drain ─▶ Exited, kept until released
//	socket ─▶ one goroutine a connection ─▶ requests, by a table
//
// Invariants (docs/architecture.md): K1 the output path parses nothing and opens no file; K2 a byte read is in the ring
// before anything else happens, and is not overwritten before the daemon acknowledged it; K3 a full ring stops the
// read; K4 notices are coalesced, so an absent or slow daemon blocks no session; K5 the protocol (package wire) is
// pinned; K6 several keepers may run.
//
// Ownership and locks. Keeper.mu guards the maps and the supervisor's state. Keeper.freeze is held for reading while bytes move
// from a PTY to a ring, and for writing across a re-execution, so that no byte is in between then. Keeper.spawning makes fork
// and registration one step for the reaper. Order: freeze, child.moving, spawning, mu, conn.mu and parker.mu. child.ringMu
// makes two streams one writer of a ring. A stream has a goroutine only while it is active; see epollParker.
package keeper
