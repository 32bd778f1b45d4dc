//go:build unix

// Package launch is the only part of the keeper that clients link: it starts keepers and detects running ones.
//
//	Keeper             starts one as a separate process, which outlives its starter
//	Lock, IsHeld, Holder find the keeper of a key, or the daemon: a locked file, released with the
//	                   process; it may contain the holder's socket
//
// It never talks to a keeper (keeper/link does) and knows nothing of sessions. The keeper's own code stays out of it,
// so that short-lived clients do not carry it.
package launch
