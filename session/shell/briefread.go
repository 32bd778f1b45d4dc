package shell

import "github.com/longterm-dev/longterm/session/pattern"

// briefRead matches the builtin read with a timeout of less than a second.
var briefRead = pattern.Lazy(`\bread\b[^;&|\n]*?\s-[a-zA-Z]*t\s*(?:0+(?:\.\d+)?|\.\d+)(?:[\s;&|]|$)`)

// HasBriefRead reports whether a line has a builtin that waits for input with a timeout below a second. In ksh93 the
// kernel does not show that, as the timeout is an alarm.
func HasBriefRead(line string) bool { return briefRead.MatchString(line) }
