// Package hosts reaches the daemons of other machines over ssh(1), with the user's own keys and configuration.
//
//	client ─ Way.Dial ─→ socket of the link        (run/hosts/KEY.sock, one process a host, started on first use)
//	link   ─ yamux over the standard input and output of one ssh ─→ bridge   (`longterm bridge`, there)
//	bridge ─ a connection a stream ─→ the daemon's socket there
//
// Bytes are passed on as they are, so that every route of the API goes over it, streams too; each connection has
// flow control of its own (a window of yamux), and one that is not read holds no other up. What cannot be passed on
// is answered in HTTP with an error of the API that says "nothing was done, ask again" (refuse.go).
//
// The first two lines of a bridge are its greeting and the link's (hello.go); before the first one a login script
// may print what it likes. yamux begins after them.
//
// The link owns the ssh, finds by its own probes that it is dead (sleep, another address), makes another one with
// growing pauses, and ends when nobody has used it for a while. Streams do not outlive their ssh: clients know by
// offsets and ids how to go on, as they do when a daemon is replaced.
//
// What ssh itself asks for (a password, an unknown host's key) it asks on the terminal of who first called
// (Way.Ensure); the link uses the same connection by ssh's ControlMaster, and asks nothing.
//
// Nothing is installed elsewhere without being asked for (install.go). Names are Target's; sessions of hosts are
// written HOST/SESSION (Split).
package hosts
