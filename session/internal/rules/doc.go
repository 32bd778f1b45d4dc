// Package rules runs a session's response rules: rules of package respond that answer prompts of the session's program.
//
// One engine has all rules of a session: first those of lines, then the session's own. Output reaches the engine after the
// emulator. The engine's actions become actions of the host, one after the other. They are saved (ActSave) before they run, so
// that a restart does not type a reply twice. The host looks up a slow reply (a secret, a hook); later replies wait for it.
//
// Machine has no goroutine, clock, file or terminal: events come with their time, and the host acts. It belongs to the
// session's owner. Log, the record of matches, is a file. Offsets count all bytes that the program has printed.
package rules
