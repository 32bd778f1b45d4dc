// Package sys queries the operating system about processes, terminals and this process.
//
//		/proc      ParseStat, ReadStat, Environ …   one reader of each file; the formats are those of proc(5)
//	           ReadTable → Table                all processes at one moment, by parent, terminal session and mark
//		           Process                          a pid with its start time: a signal never hits a reused pid
//		           Dir                              a process's directory, held open for many reads (Linux)
//		sockets    PeerOf                           the process at the other end
//		terminals  ForegroundGroup, Size, SetSize, ReadModes … ioctls of a PTY, by its master's descriptor
//
// limits     DescriptorLimit, FreeDescriptors
//
// It knows neither sessions nor keepers: callers define the meaning of marks in an environment. The keeper links it, so
// it imports only the standard library and golang.org/x/sys.
//
// Parsers take bytes, so that tests and fuzzing need no process. They do not trust their input, which may be cut off
// when a process exits. Reading is supported on Linux; elsewhere it fails with errors.ErrUnsupported, and callers do without.
// Ages and times are time.Duration, start times are ticks since boot, sizes have their unit in the name. The package has no
// state, goroutine or lock; a Dir is for one goroutine at a time.
package sys
