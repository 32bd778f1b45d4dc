//go:build unix

package wire

import "github.com/longterm-dev/longterm/session/sys"

// maxArgv bounds the bytes read of an execution's arguments.
const maxArgv = 128 << 10

// ExecutionOf reads the execution that a process requests. Error lists the parts that could not be read.
func ExecutionOf(n sys.Notification) (*Execution, error) {
	e := &Execution{Number: n.ID, PID: int64(n.PID)}
	x, err := sys.ReadExecution(n, maxArgv)
	e.Path, e.Argv, e.ArgvTruncated, e.Dir, e.Flags = x.Path, x.Argv, !x.IsComplete, x.Dir, x.Flags
	if e.Cwd, _ = sys.Cwd(n.PID); err != nil {
		e.Error = err.Error()
	}
	return e, err
}
