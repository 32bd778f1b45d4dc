package shell

import "github.com/longterm-dev/longterm/session/pattern"

// briefRead is a "read" that waits for less than a second.
var briefRead = pattern.Lazy(`\bread\b[^;&|\n]*?\s-[a-zA-Z]*t\s*(?:0+(?:\.\d+)?|\.\d+)(?:[\s;&|]|$)`)

// ReadsBriefly reports whether a line has a builtin that waits for input only for a moment. In ksh93 the kernel does
// not show that, as the limit is an alarm.
func ReadsBriefly(line string) bool { return briefRead.MatchString(line) }
