//go:build unix

package wire

import "github.com/longterm-dev/longterm/session/sys"

// maxArgv bounds what is read of an execution's arguments, in bytes.
const maxArgv = 128 << 10

// ExecutionOf reads what a process is about to execute. Error lists the parts that could not be read.
func ExecutionOf(n sys.Notification) (*Execution, error) {
	e := &Execution{Number: n.ID, PID: int64(n.PID)}
	x, err := sys.ReadExecution(n, maxArgv)
	e.Path, e.Argv, e.Cut, e.Dir, e.Flags = x.Path, x.Argv, !x.Whole, x.Dir, x.Flags
	if e.Cwd, _ = sys.Cwd(n.PID); err != nil {
		e.Error = err.Error()
	}
	return e, err
}
