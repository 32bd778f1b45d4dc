//go:build unix

// Package launch is all that a client links of the keeper: how one is started, and how it is known
// that one runs.
//
//	Keeper             starts one as a process of its own, which outlives who started it
//	Lock, Held, Holder who is the keeper of a key, or the daemon: a locked file, given up with the
//	                   process; where it says so, what is in it is the holder's socket
//
// It never speaks with a keeper (keeper/link does), and knows nothing of sessions. What a keeper is
// made of stays out of it, so that clients, of which there are many and short-lived ones, do not
// carry it.
package launch
