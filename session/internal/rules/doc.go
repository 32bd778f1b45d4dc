// Package rules is a session's rules at work: rules of package respond answer what the session's
// program asks.
//
// One engine has all rules of a session: those of calls first, then the session's own. What the
// program prints reaches the engine after the emulator; what the engine wants done becomes actions of
// the host, one after the other, and is written down (ActSave) before it is done: what is typed must
// not be typed again after a restart. A reply that takes time (a secret, a hook) is looked up by the
// host, and those after it wait for it.
//
// Machine has no goroutine, clock, file or terminal: events go in with their time, the host acts. It
// belongs to the session's owner. Log, the record of what rules did, is a file. Offsets count the bytes
// the program ever printed.
package rules
