package wire

// The protocol of a shim: the program that a keeper starts (Spawn.Shim) restricts itself before it executes the
// intended program. Descriptor 3 is its end of a message socket (SOCK_SEQPACKET), which the execution closes:
//
//	shim → keeper  L              with the descriptor of a seccomp listener, which the keeper then owns
//	shim → keeper  R text         the restrictions in force, for the session's requester; the keeper does not read it
//	keeper → shim  G              continue
//	shim → keeper  E errno text   not started (errno in decimal digits; 0: not a system error)
//	               the end        started
//
// L comes before R, each at most once; R always comes, unless E does.
const (
	ShimFD       = 3
	ShimListener = 'L'
	ShimReport   = 'R'
	ShimError    = 'E'
	ShimGo       = 'G'

	// MaxShim bounds a message of a shim's, in bytes.
	MaxShim = 32 << 10
)
