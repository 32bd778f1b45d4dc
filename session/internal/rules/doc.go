// Package rules runs a session's response rules: rules of package respond that answer prompts of the session's program.
//
// One engine has all rules of a session: those of calls first, then the session's own. Output reaches the engine after
// the emulator. The engine's actions become actions of the host, one after the other. They are saved (ActSave) before
// they run, so that a restart does not type a reply twice. A slow reply (a secret, a hook) is looked up by the host,
// they run, so that a restart does not type a reply twice. A slow reply (a secret, a hook) is looked up by the host,
//
// Machine has no goroutine, clock, file or terminal: events come with their time, and the host acts. It belongs to the
// session's owner. Log, the record of firings, is a file. Offsets count all bytes that the program has printed.
package rules
