// Package hosts reaches the daemons of other machines over ssh(1), with the user's own keys and configuration.
//
// client ─ RemoteHost.Dial ─→ socket of the link (run/hosts/KEY.sock, one process per host, started on first use)
//
//	link   ─ yamux over the standard input and output of one ssh ─→ bridge   (`longterm bridge`, on the host)
//	bridge ─ a connection per stream ─→ the host's daemon socket
//
// The link forwards bytes unchanged, so it carries every API route, streams included. Each connection has its own flow
// control (a yamux window), so an unread one blocks no other. A connection that cannot be forwarded gets an HTTP
// response with a retryable API error (senderror.go).
//
// A bridge's first two lines are its greeting and the link's (hello.go); login scripts may print text before. yamux starts
// after them.
//
// The link owns the ssh process and probes it. If it is dead (sleep, new address), the link starts another one, with backoff.
// An unused link exits after a while. Streams do not outlive their ssh process: clients resume by offsets and ids, as after
// a daemon restart.
//
// ssh prompts (password, unknown host key) on the terminal of the first caller (RemoteHost.Ensure); the link shares that
// connection by ssh's ControlMaster and never prompts.
//
// Nothing is installed on hosts without a request (install.go). Target validates names; remote sessions are written
// HOST/SESSION (Split).
package hosts
