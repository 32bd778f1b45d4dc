package api

import (
	"time"
	"unicode/utf8"
)

// Refused is a program that something in a session was not allowed to execute.
type Refused struct {
	Time    time.Time `json:"time"`
	PID     int       `json:"pid,omitempty"`
	Path    string    `json:"path" doc:"the file, without symbolic links"`
	Argv    []string  `json:"argv"`
	Cwd     string    `json:"cwd,omitempty"`
	Depth   int       `json:"depth" doc:"1: what the session's own process executes; more: what was started by that"`
	Parent  []string  `json:"parent,omitempty" doc:"argv of what would have executed it"`
	Why     string    `json:"why"`
	Instead string    `json:"instead,omitempty" doc:"what to do about it"`
}

// maxRefusedArg and maxRefusedArgs bound what is kept of an execution, beside the audit trail.
const maxRefusedArg, maxRefusedArgs = 256, 16

// Bounded is r with long arguments cut off.
func (r Refused) Bounded() Refused {
	cut := func(argv []string) []string {
		out := make([]string, 0, min(len(argv), maxRefusedArgs)+1)
		for i, a := range argv {
			if i == maxRefusedArgs {
				return append(out, "…")
			}
			if len(a) > maxRefusedArg {
				n := maxRefusedArg
				for n > 0 && !utf8.RuneStart(a[n]) {
					n--
				}
				a = a[:n] + "…"
			}
			out = append(out, a)
		}
		return out
	}
	r.Argv, r.Parent = cut(r.Argv), cut(r.Parent)
	return r
}

// ExecutionsJudged is Session.Executions of one whose executions are judged.
const ExecutionsJudged = "judged"
