package api

import (
	"time"
	"unicode/utf8"
)

// Refused is a program whose execution was rejected.
type Refused struct {
	Time    time.Time `json:"time"`
	PID     int       `json:"pid,omitempty"`
	Path    string    `json:"path" doc:"path of the file, without symbolic links"`
	Argv    []string  `json:"argv"`
	Cwd     string    `json:"cwd,omitempty"`
	Depth   int       `json:"depth" doc:"1: executed by the session's process; 2: by a child of it, and so on"`
	Parent  []string  `json:"parent,omitempty" doc:"argv of the program that tried to execute it"`
	Why     string    `json:"why"`
	Instead string    `json:"instead,omitempty" doc:"what to do about it"`
}

// maxRefusedArg and maxRefusedArgs bound the arguments kept of a refused execution, besides the audit log.
const maxRefusedArg, maxRefusedArgs = 256, 16

// Truncate returns r with long arguments truncated.
func (r Refused) Truncate() Refused {
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

// ExecutionsJudged is the value of Session.Executions if executions are checked.
const ExecutionsJudged = "judged"
