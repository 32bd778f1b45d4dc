package shell

import "github.com/longterm-dev/longterm/session/pattern"

// briefRead is a "read" that waits for less than a second.
var briefRead = pattern.Lazy(`\bread\b[^;&|\n]*?\s-[a-zA-Z]*t\s*(?:0+(?:\.\d+)?|\.\d+)(?:[\s;&|]|$)`)

// ReadsBriefly reports if a line has a builtin that waits for input only for a moment: of ksh93 the
// kernel does not tell, for its limit is an alarm.
func ReadsBriefly(line string) bool { return briefRead.MatchString(line) }
