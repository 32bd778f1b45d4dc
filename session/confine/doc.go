// Package confine is what is put on a process before its program starts: a hidden entry of our own binary, started by the
// keeper in the program's place, which restricts itself and then executes the program.
//
//	daemon: Spec → Spec.Command → wire.Spawn{Path: our executable, Argv: "longterm" "confined" the program's own, Shim: true}
//	keeper: fork; descriptor 3 is a socket to it (package keeper/wire, shim.go)
//	child:  main → Enter → steps, in order → listener and report to the keeper → its word → execve
//
// Enter is the first thing in main, and in TestMain of tests whose binary is a keeper or daemon. It returns at once
// where there is nothing to enter. The Spec travels in one environment variable, which the program does not get; its argv
// travels as argv, so that arguments are limited as they always are.
//
// What is put on is a row of steps (steps_linux.go), in the order in which it must happen:
//
//	namespaces → mounts → Landlock → no_new_privs → filter of system calls, with the listener → exec
//
// A program that is observed (observe_linux.go) is kept from nothing: this process starts it below itself, and writes down
// what the kernel asks its listener about, before namespaces and Landlock would be put on.
//
// A new kind of restriction is a field of Spec and a row there. A step that cannot do what was asked for returns an
// error, and then nothing is started: nothing runs outside of what it should be in. Only judging executions may be merely
// wanted (ExecutionsWanted): what became of it is in the Report. A step says what is in force by Report.Levels.
//
// A process of several threads cannot enter a user namespace, so namespaces are entered by others (namespaces_linux.go): the step
// starts this executable again with syscall.SysProcAttr.Cloneflags, the same descriptors 0 to 3 and the variable with what is left
// to do (Spec without the steps that are done), and stands in for it: it passes signals on and ends as it ends.
//
// The filter is put on the calling thread alone, which is locked and then executes: the others, of the Go runtime, end
// then. System calls of other conventions (32-bit, x32) do not exist under a filter, so nothing gets past its numbers.
//
// It imports the standard library, golang.org/x/sys and the keeper's protocol. It has no state.
package confine
