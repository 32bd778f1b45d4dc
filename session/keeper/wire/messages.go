package wire

// Message is a pointer to one of the message structs of this package.
type Message interface{ kind() Kind }

// Roles a peer may take in its Hello.
const (
	RoleDaemon = "daemon" // receives notices; a newer one replaces an older one
	RoleTool   = "tool"   // sends requests and disconnects
)

// Scopes of Signal.
const (
	ScopeChild      = "child"      // the session's own process
	ScopeGroup      = "group"      // its process group
	ScopeForeground = "foreground" // the terminal's foreground process group
	ScopeAll        = "all"        // every process of its terminal session
)

// Hello is the first message of both sides. The keeper answers with its own and
// closes the connection when the versions do not overlap.
type Hello struct {
	Version            uint64 `wire:"1"`
	MinVersion         uint64 `wire:"2"`
	Build              string `wire:"3"`
	Role               string `wire:"4"`
	PID                int64  `wire:"5"`
	Key                string `wire:"6"` // the keeper's placement key
	HandlesSignalCalls bool   `wire:"7"` // the keeper decides about calls that would act on longterm's own processes
	Rejection          string `wire:"8"` // why the keeper does not serve this caller; the connection ends then
}

// Spawn starts a child. Answer: Spawned.
type Spawn struct {
	Req        uint64   `wire:"1"`
	ID         string   `wire:"2"`
	Argv       []string `wire:"3"`
	Env        []string `wire:"4"`
	Dir        string   `wire:"5"`
	Cols       uint64   `wire:"6"`
	Rows       uint64   `wire:"7"`
	RingBytes  uint64   `wire:"8"`
	Pipe       bool     `wire:"9"`  // stdout and stderr on a pipe instead of a PTY
	Path       string   `wire:"10"` // the executable; Argv[0] is only a name
	Base       uint64   `wire:"11"` // offset of the first byte it will print: where its journal ends
	Separate   bool     `wire:"12"` // with Pipe: a pipe each for stdout and stderr, kept separate in the ring
	Input      bool     `wire:"13"` // with Pipe: standard input is a pipe as well, not empty
	Memory     uint64   `wire:"14"` // limit of a separate cgroup, bytes; 0: none
	CPU        uint64   `wire:"15"` // likewise, thousandths of a CPU
	PIDs       uint64   `wire:"16"` // likewise, processes and threads
	Umask      uint64   `wire:"17"` // umask plus one; 0: the keeper's
	Shim       bool     `wire:"18"` // the program restricts itself before it executes the intended one: see shim.go
	Restricted bool     `wire:"19"` // as if a Bound message followed
}

// Spawned answers Spawn. Errno is the system's error number, 0 when it started.
type Spawned struct {
	Req     uint64 `wire:"1"`
	PID     int64  `wire:"2"`
	Started int64  `wire:"3"` // Unix time, ns
	Errno   int64  `wire:"4"`
	Error   string `wire:"5"`
	Base    uint64 `wire:"6"` // as requested; 0 from a keeper that does not support it
	Limited bool   `wire:"7"` // limits were requested and are in force
	Code    string `wire:"8"` // with Error, as in Done
	Shim    bool   `wire:"9"` // requested, and the intended program was executed
	// Checked states that the keeper holds a listener and reports each execution.
	Checked bool   `wire:"10"`
	Report  string `wire:"11"` // report of the shim
}

// List requests one Session per kept session and a Done.
type List struct {
	Req uint64 `wire:"1"`
}

// Session describes a session kept. It answers List and, with the ring's and the
// PTY's descriptors, Adopt.
type Session struct {
	Req      uint64 `wire:"1"`
	ID       string `wire:"2"`
	PID      int64  `wire:"3"`
	Started  int64  `wire:"4"`
	Cols     uint64 `wire:"5"`
	Rows     uint64 `wire:"6"`
	Pipe     bool   `wire:"7"`
	Exited   bool   `wire:"8"`
	Closed   bool   `wire:"9"`  // no more output is possible
	Separate bool   `wire:"10"` // the ring keeps stdout and stderr separate
	Input    bool   `wire:"11"` // the second descriptor is the writing end of standard input
	Cgroup   string `wire:"12"` // directory of the session's cgroup; empty: none
}

// Adopt requests a session's descriptors: the ring, then the PTY's (or standard input's of a session on pipes) while
// open. Answer: Session with descriptors, or Done with an error.
type Adopt struct {
	Req uint64 `wire:"1"`
	ID  string `wire:"2"`
}

// Done answers requests without other results.
type Done struct {
	Req   uint64 `wire:"1"`
	Error string `wire:"2"`
	Code  string `wire:"3"` // one of the Code constants, for errors that callers distinguish
}

// Codes of Done.
const (
	CodeNotFound  = "not-found"
	CodeExists    = "exists"
	CodeBusy      = "busy"
	CodeCrashLoop = "crash-loop"
	CodeNoCgroup  = "no-cgroup"
)

// Output reports unread bytes in a session's ring.
type Output struct {
	ID string `wire:"1"`
}

// Resume reports that the daemon made room in a ring whose writer had stalled.
type Resume struct {
	ID string `wire:"1"`
}

// Exited reports that a session's child ended. Each connecting daemon receives it once until the session is released.
// All output of the child is in the ring.
type Exited struct {
	ID     string `wire:"1"`
	Code   int64  `wire:"2"` // exit status; -1 when killed by a signal
	Signal int64  `wire:"3"`
	Time   int64  `wire:"4"` // Unix time, ns
	User   int64  `wire:"5"` // CPU time, ns
	System int64  `wire:"6"`
	MaxRSS int64  `wire:"7"` // bytes
	Head   uint64 `wire:"8"` // ring head when the child was reaped and drained
}

// Closed reports that no more output of a session is possible: no process holds its terminal.
type Closed struct {
	ID   string `wire:"1"`
	Head uint64 `wire:"2"`
}

// Signal sends a signal to a session's processes; never to a recycled pid.
type Signal struct {
	Req    uint64 `wire:"1"`
	ID     string `wire:"2"`
	Signal int64  `wire:"3"`
	Scope  string `wire:"4"`
}

// Release forgets a session: its terminal is hung up, its exit status dropped.
type Release struct {
	Req uint64 `wire:"1"`
	ID  string `wire:"2"`
}

// Ready is sent by a daemon that has adopted everything and serves clients.
type Ready struct {
	Socket string `wire:"1"`
}

// Leave is sent by a daemon before it ends on purpose. Restart: start another.
type Leave struct {
	Restart bool `wire:"1"`
}

// StartDaemon requests a running daemon. Answer: Done, once one is Ready.
type StartDaemon struct {
	Req uint64 `wire:"1"`
}

// Upgrade asks the keeper to re-execute itself in place from the executable whose descriptor comes with it. Answer:
// Done with an error, or none on success (the connection ends, the socket stays).
type Upgrade struct {
	Req uint64 `wire:"1"`
}

// Shutdown ends the keeper. It is refused (busy) while children live unless Kill.
type Shutdown struct {
	Req  uint64 `wire:"1"`
	Kill bool   `wire:"2"`
}

// Status requests a StatusReply.
type Status struct {
	Req uint64 `wire:"1"`
}

// StatusReply describes the keeper.
type StatusReply struct {
	Req        uint64 `wire:"1"`
	PID        int64  `wire:"2"`
	Build      string `wire:"3"`
	Started    int64  `wire:"4"`
	Sessions   uint64 `wire:"5"`
	DaemonPID  int64  `wire:"6"`
	Restarts   uint64 `wire:"7"`
	LastError  string `wire:"8"`
	Executions uint64 `wire:"9"` // 1, plus one per upgrade in place
}

// Handoff is what a keeper leaves for its next execution, one frame per session with
// ring and PTY as inherited descriptor numbers. It never crosses the socket.
type Handoff struct {
	ID         string `wire:"1"`
	PID        int64  `wire:"2"`
	Started    int64  `wire:"3"`
	Cols       uint64 `wire:"4"`
	Rows       uint64 `wire:"5"`
	Pipe       bool   `wire:"6"`
	RingFD     int64  `wire:"7"`
	PTYFD      int64  `wire:"8"` // -1: closed
	Exited     bool   `wire:"9"`
	Code       int64  `wire:"10"`
	Signal     int64  `wire:"11"`
	Time       int64  `wire:"12"`
	User       int64  `wire:"13"`
	System     int64  `wire:"14"`
	MaxRSS     int64  `wire:"15"`
	Head       uint64 `wire:"16"`
	ErrFD      int64  `wire:"17"` // reading end of stderr's pipe; 0: none, -1: closed
	InputFD    int64  `wire:"18"` // writing end of standard input's pipe; 0: none
	Cgroup     string `wire:"19"`
	Restricted bool   `wire:"20"`
}

// Restricted marks a session as restricted: it is an agent's, or has a policy or a sandbox. The keeper serves none of its
// processes until the session is released. The message has no answer.
type Restricted struct {
	ID string `wire:"1"`
}

// Rejected reports refused callers to a daemon that is ready.
type Rejected struct {
	Session string `wire:"1"` // "" if unknown
	Role    string `wire:"2"`
	Reason  string `wire:"3"`
	UID     int64  `wire:"4"`
	PID     int64  `wire:"5"` // of the newest
	Path    string `wire:"6"` // its executable, "" if unknown
	Count   uint64 `wire:"7"` // connections
	Time    int64  `wire:"8"` // of the first, Unix time, ns
}

// CloseInput ends the standard input of a session on pipes. Answer: Done. A process that
// holds the descriptor closes it as well.
type CloseInput struct {
	Req uint64 `wire:"1"`
	ID  string `wire:"2"`
}

// Execution reports that a process of a session waits in execve for an answer. Each ready daemon receives it until it
// is answered or the process has ended. Its content comes from the process's memory, which other threads may change: it
// is an observation, not a security boundary.
type Execution struct {
	ID            string   `wire:"1"`
	Number        uint64   `wire:"2"` // of the notification, unique in the session
	PID           int64    `wire:"3"` // the thread that waits
	Parent        int64    `wire:"4"`
	Start         uint64   `wire:"5"` // when the process started, in ticks since the machine did
	Path          string   `wire:"6"` // as requested
	Argv          []string `wire:"7"`
	ArgvTruncated bool     `wire:"8"`  // Argv is truncated
	Dir           string   `wire:"9"`  // directory of a relative Path; if Path is empty, the file itself
	Flags         uint64   `wire:"10"` // of execveat
	Cwd           string   `wire:"11"`
	Error         string   `wire:"12"` // why a part could not be read
	LeaderPID     int64    `wire:"13"` // the session's own process
	Run           uint64   `wire:"14"` // run whose listener it waits at
}

// ExecutionAnswer lets an execution happen, or fail with an error number (0: EPERM). It has no answer; for an execution
// that no longer waits it has no effect.
type ExecutionAnswer struct {
	ID     string `wire:"1"`
	Number uint64 `wire:"2"`
	Allow  bool   `wire:"3"`
	Errno  int64  `wire:"4"`
	Done   bool   `wire:"5"` // the kernel was answered already, at the listener that the daemon was given
	Run    uint64 `wire:"6"`
}

// ExecutionListener comes with the descriptor of a session's listener, before its first Execution, to each ready
// daemon: it may answer the kernel there, and only there. Without a descriptor, all possible callers have ended. The
// keeper keeps its own descriptor. A daemon closes its copy with the connection: after a keeper's death it would keep
// executions waiting forever.
type ExecutionListener struct {
	ID string `wire:"1"`
	// Run separates it from the listener of an earlier run of a restored session, which leftovers of that run use. 0:
	// from an older keeper with one listener per session.
	Run uint64 `wire:"2"`
}

// ExecutionReceiver states which process receives executions at a session's listener: the daemon itself for a while,
// which saves the way through the keeper and requires an inbox. Its only answer is ExecutionInbox.
type ExecutionReceiver struct {
	ID  string `wire:"1"`
	Run uint64 `wire:"2"`
	// Daemon states that the daemon receives from now on; otherwise the keeper does again, as after the end of the
	// connection.
	Daemon bool `wire:"3"`
	// Number is a call in the inbox that the daemon leaves to the keeper, as if the keeper had received it; 0: none.
	Number uint64 `wire:"4"`
	Inbox  bool   `wire:"5"` // request for an inbox; the receiver does not change
}

// ExecutionInbox comes with the descriptor of a listener's inbox (package sys/notifyqueue), to a daemon that requested
// it.
type ExecutionInbox struct {
	ID  string `wire:"1"`
	Run uint64 `wire:"2"`
}

// ExecutionEnded reports that a reported execution no longer waits: its process has ended.
type ExecutionEnded struct {
	ID     string `wire:"1"`
	Number uint64 `wire:"2"`
	Run    uint64 `wire:"3"`
}

// HandoffListener is a listener in a handoff, followed by the Executions that wait for an answer.
type HandoffListener struct {
	ID        string `wire:"1"`
	FD        int64  `wire:"2"`
	LeaderPID int64  `wire:"3"`
	Run       uint64 `wire:"4"`
	// Inbox is the descriptor of what a daemon may have received and not answered; 0: none.
	Inbox int64 `wire:"5"`
}

// HandoffKeeper is the first frame of a handoff.
type HandoffKeeper struct {
	ListenerFD int64  `wire:"1"`
	LockFD     int64  `wire:"2"`
	Started    int64  `wire:"3"`
	Executions uint64 `wire:"4"`
	DaemonPID  int64  `wire:"5"`
	Restarts   uint64 `wire:"6"`
	Cgroups    string `wire:"7"` // directory for the cgroups of sessions; empty: none
	Limits     string `wire:"8"` // controllers that can limit them, separated by spaces
	StateLock  int64  `wire:"9"` // descriptor; 0: none
	LastError  string `wire:"10"`
}

// Kinds, never reused. Requests and notices share the space.
const (
	KindHello Kind = 1 + iota
	KindSpawn
	KindSpawned
	KindList
	KindSession
	KindAdopt
	KindDone
	KindOutput
	KindResume
	KindExited
	KindClosed
	KindSignal
	KindRelease
	KindReady
	KindLeave
	KindStartDaemon
	KindUpgrade
	KindShutdown
	KindStatus
	KindStatusReply
	KindHandoff
	KindHandoffKeeper
	KindCloseInput
	KindExecution
	KindExecutionAnswer
	KindExecutionEnded
	KindHandoffListener
	KindExecutionListener
	KindExecutionReceiver
	KindExecutionInbox
	KindRestricted
	KindRejected
)

func (*Hello) kind() Kind         { return KindHello }
func (*Spawn) kind() Kind         { return KindSpawn }
func (*Spawned) kind() Kind       { return KindSpawned }
func (*List) kind() Kind          { return KindList }
func (*Session) kind() Kind       { return KindSession }
func (*Adopt) kind() Kind         { return KindAdopt }
func (*Done) kind() Kind          { return KindDone }
func (*Output) kind() Kind        { return KindOutput }
func (*Resume) kind() Kind        { return KindResume }
func (*Exited) kind() Kind        { return KindExited }
func (*Closed) kind() Kind        { return KindClosed }
func (*Signal) kind() Kind        { return KindSignal }
func (*Release) kind() Kind       { return KindRelease }
func (*Ready) kind() Kind         { return KindReady }
func (*Leave) kind() Kind         { return KindLeave }
func (*StartDaemon) kind() Kind   { return KindStartDaemon }
func (*Upgrade) kind() Kind       { return KindUpgrade }
func (*Shutdown) kind() Kind      { return KindShutdown }
func (*Status) kind() Kind        { return KindStatus }
func (*StatusReply) kind() Kind   { return KindStatusReply }
func (*Handoff) kind() Kind       { return KindHandoff }
func (*HandoffKeeper) kind() Kind { return KindHandoffKeeper }
func (*CloseInput) kind() Kind    { return KindCloseInput }
func (*Restricted) kind() Kind    { return KindRestricted }
func (*Rejected) kind() Kind      { return KindRejected }

func (*Execution) kind() Kind         { return KindExecution }
func (*ExecutionAnswer) kind() Kind   { return KindExecutionAnswer }
func (*ExecutionEnded) kind() Kind    { return KindExecutionEnded }
func (*HandoffListener) kind() Kind   { return KindHandoffListener }
func (*ExecutionListener) kind() Kind { return KindExecutionListener }
func (*ExecutionReceiver) kind() Kind { return KindExecutionReceiver }
func (*ExecutionInbox) kind() Kind    { return KindExecutionInbox }
