// Package confine applies restrictions to a process before its program starts. The keeper starts a hidden entry of this
// binary in the program's place, which restricts itself and then executes the program.
//
// daemon: Spec → Spec.Command → wire.Spawn{Path: our executable, Argv: "longterm" "confined" the program's own, Shim: true}
// keeper: fork; descriptor 3 is a socket to it (package keeper/wire, shim.go)
// child:  main → Enter → steps, in order → listener and report to the keeper → its permission → execve
//
// Enter is the first call in main, and in TestMain of tests whose binary is a keeper or daemon. It returns at once in
// other processes. The Spec travels in one environment variable, which the program does not get. The argv travels as
// argv, within its usual limits.
//
// The restrictions are a table of steps (steps_linux.go), in their required order:
//
//	namespaces → mounts → Landlock → no_new_privs → filter of system calls, with the listener → exec
//
// An observed program (observe_linux.go) is not restricted: this process starts it as a child and records the calls
// that the kernel reports to its listener.
//
// A new kind of restriction is a field of Spec and a row in the table. A step that fails returns an error, and nothing
// is started: no program runs outside of its restrictions. Only execution checks may be optional (ExecutionsWanted);
// the Report states their result. A step reports its restrictions by Report.Levels.
//
// A process with several threads cannot enter a user namespace, so other processes do (namespaces_linux.go). The step
// starts this executable again with syscall.SysProcAttr.Cloneflags, the same descriptors 0 to 3 and the remaining Spec.
// It then represents that process: it forwards signals and exits with its status.
//
// The filter applies to the calling thread only, which is locked and then executes; the Go runtime's other threads end
// then. The filter rejects system calls of other conventions (32-bit, x32), so that none bypasses its numbers.
//
// The package imports the standard library, golang.org/x/sys and the keeper's protocol. It has no state.
package confine
