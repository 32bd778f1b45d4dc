// Package sys is what longterm asks the operating system of processes, terminals and itself.
//
//	/proc      ParseStat, ReadStat, Environ …   one reader of each file; the formats are those of proc(5)
//	           Look → Table                     all processes at one moment, by parent, terminal session and mark
//	           Process                          a pid with its start: what is signalled is still who it was
//	           Dir                              a process's directory, held open for many reads (Linux)
//	sockets    PeerOf                           who is at the other end
//	terminals  ForegroundGroup, Size, SetSize, ReadModes … what ioctls say of a PTY, by its master's descriptor
//	limits     DescriptorLimit, DescriptorsLeft
//
// It knows neither sessions nor their keeper: what a mark in an environment means is its callers'.
// The keeper's process links it, so that it imports the standard library and golang.org/x/sys only.
//
// Parsers take bytes, so that they are tested and fuzzed without a process; they never trust what
// they read, which may be cut off when a process ends meanwhile. Reading is on Linux; elsewhere it
// fails with errors.ErrUnsupported, and callers do without. Ages and times are time.Duration, start
// times are ticks since the machine was started, sizes say their unit. Nothing here has state, a
// goroutine or a lock; a Dir is for one goroutine at a time.
package sys
