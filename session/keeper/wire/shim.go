package wire

// The conversation with a shim: what a keeper was told to start (Spawn.Shim) puts restrictions on itself before it
// executes the program that was meant. It has one end of a socket that keeps messages apart (SOCK_SEQPACKET) as its
// descriptor 3, closed by the execution:
//
//	shim → keeper  L              with the descriptor of a seccomp listener: the keeper has it from now on
//	shim → keeper  R text         what is in force, for whoever asked for the session; the keeper does not read it
//	keeper → shim  G              go on
//	shim → keeper  E errno text   it was not started (errno in decimal digits; 0: it was not the system that refused)
//	               the end        it was
//
// L comes before R, each at most once; R comes always, unless E does.
const (
	ShimFD       = 3
	ShimListener = 'L'
	ShimReport   = 'R'
	ShimError    = 'E'
	ShimGo       = 'G'

	// MaxShim bounds a message of a shim's, in bytes.
	MaxShim = 32 << 10
)
