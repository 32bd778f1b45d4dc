package wire

// Message is a pointer to one of the structs below.
type Message interface{ kind() Kind }

// Roles a peer may take in its Hello.
const (
	RoleDaemon = "daemon" // gets notices; a newer one takes over from an older one
	RoleTool   = "tool"   // asks and leaves
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
	Version    uint64 `wire:"1"`
	MinVersion uint64 `wire:"2"`
	Build      string `wire:"3"`
	Role       string `wire:"4"`
	PID        int64  `wire:"5"`
	Key        string `wire:"6"` // the keeper's placement key
	Reach      bool   `wire:"7"` // the keeper answers processes that would act on longterm's own
	Refused    string `wire:"8"` // why the keeper does not serve this caller; the connection ends then
}

// Spawn starts a child. Answer: Spawned.
type Spawn struct {
	Req       uint64   `wire:"1"`
	ID        string   `wire:"2"`
	Argv      []string `wire:"3"`
	Env       []string `wire:"4"`
	Dir       string   `wire:"5"`
	Cols      uint64   `wire:"6"`
	Rows      uint64   `wire:"7"`
	RingBytes uint64   `wire:"8"`
	Pipe      bool     `wire:"9"`  // stdout and stderr on a pipe instead of a PTY
	Path      string   `wire:"10"` // the executable; Argv[0] is only what it is told
	Base      uint64   `wire:"11"` // offset of the first byte it will print: where its journal ends
	Separate  bool     `wire:"12"` // with Pipe: a pipe each for stdout and stderr, kept separate in the ring
	Input     bool     `wire:"13"` // with Pipe: standard input is a pipe as well, not empty
	Memory    uint64   `wire:"14"` // limit of a cgroup of its own, bytes; 0: none
	CPU       uint64   `wire:"15"` // likewise, thousandths of a CPU
	PIDs      uint64   `wire:"16"` // likewise, processes and threads
	Umask     uint64   `wire:"17"` // one more than it; 0: the keeper's
	Shim      bool     `wire:"18"` // it restricts itself before it executes what is meant: see shim.go
	Bound     bool     `wire:"19"` // as if a message Bound followed
}

// Spawned answers Spawn. Errno is the system's error number, 0 when it started.
type Spawned struct {
	Req     uint64 `wire:"1"`
	PID     int64  `wire:"2"`
	Started int64  `wire:"3"` // Unix time, ns
	Errno   int64  `wire:"4"`
	Error   string `wire:"5"`
	Base    uint64 `wire:"6"` // as asked for; a keeper that does not know it says 0
	Limited bool   `wire:"7"` // limits were asked for and are in force
	Code    string `wire:"8"` // with Error, as in Done
	Shim    bool   `wire:"9"` // it was asked for, and the program that is meant has been executed
	// Judged: the keeper holds a listener, and asks about each execution.
	Judged bool   `wire:"10"`
	Report string `wire:"11"` // of the shim
}

// List asks for one Session per session kept and a Done.
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
	Closed   bool   `wire:"9"`  // no more output can come
	Separate bool   `wire:"10"` // the ring keeps stdout and stderr separate
	Input    bool   `wire:"11"` // the second descriptor is the writing end of standard input
	Cgroup   string `wire:"12"` // directory of the session's cgroup; empty: it has none
}

// Adopt asks for a session's descriptors: ring, then the PTY's, or standard input's of a
// session on pipes, while there is one.
// Answer: Session with descriptors, or Done with an error.
type Adopt struct {
	Req uint64 `wire:"1"`
	ID  string `wire:"2"`
}

// Done answers requests that have nothing else to say.
type Done struct {
	Req   uint64 `wire:"1"`
	Error string `wire:"2"`
	Code  string `wire:"3"` // one of the Code constants, for errors worth telling apart
}

// Codes of Done.
const (
	CodeNotFound  = "not-found"
	CodeExists    = "exists"
	CodeBusy      = "busy"
	CodeCrashLoop = "crash-loop"
	CodeNoCgroup  = "no-cgroup"
)

// Output says that a session's ring has bytes that were not looked at yet.
type Output struct {
	ID string `wire:"1"`
}

// Resume says that the daemon made room in a ring whose writer had stalled.
type Resume struct {
	ID string `wire:"1"`
}

// Exited says that a session's child ended. It is sent once to each daemon that
// connects until the session is released. All the child printed is in the ring.
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

// Closed says that no more output of a session can come: no process holds its terminal.
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

// StartDaemon asks for a running daemon. Answer: Done, once one is Ready.
type StartDaemon struct {
	Req uint64 `wire:"1"`
}

// Upgrade asks the keeper to re-execute itself in place from the executable whose
// descriptor travels along. Answer: Done with an error; none when it worked (the
// connection ends, the socket stays).
type Upgrade struct {
	Req uint64 `wire:"1"`
}

// Shutdown ends the keeper. It is refused (busy) while children live unless Kill.
type Shutdown struct {
	Req  uint64 `wire:"1"`
	Kill bool   `wire:"2"`
}

// Status asks for a StatusReply.
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
	ID      string `wire:"1"`
	PID     int64  `wire:"2"`
	Started int64  `wire:"3"`
	Cols    uint64 `wire:"4"`
	Rows    uint64 `wire:"5"`
	Pipe    bool   `wire:"6"`
	RingFD  int64  `wire:"7"`
	PTYFD   int64  `wire:"8"` // -1: closed
	Exited  bool   `wire:"9"`
	Code    int64  `wire:"10"`
	Signal  int64  `wire:"11"`
	Time    int64  `wire:"12"`
	User    int64  `wire:"13"`
	System  int64  `wire:"14"`
	MaxRSS  int64  `wire:"15"`
	Head    uint64 `wire:"16"`
	ErrFD   int64  `wire:"17"` // reading end of stderr's pipe; 0: none, -1: closed
	InputFD int64  `wire:"18"` // writing end of standard input's pipe; 0: none
	Cgroup  string `wire:"19"`
	Bound   bool   `wire:"20"`
}

// Bound marks a session as not a user's alone: it is an agent's, or has a policy or a sandbox. The keeper serves none of its
// processes until the session is released. The message has no answer.
type Bound struct {
	ID string `wire:"1"`
}

// Refused reports refused callers to a daemon that is ready.
type Refused struct {
	Session string `wire:"1"` // "" if unknown
	Role    string `wire:"2"`
	Why     string `wire:"3"`
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

// Execution says that a process of a session's waits in execve for an answer. It is sent to each daemon that is ready,
// until it is answered or the process has ended. What the process asked for was read from its memory, which its other
// threads may change: it is what a watcher sees, not a boundary.
type Execution struct {
	ID     string   `wire:"1"`
	Number uint64   `wire:"2"` // of the notification, unique in the session
	PID    int64    `wire:"3"` // the thread that waits
	Parent int64    `wire:"4"`
	Start  uint64   `wire:"5"` // when the process started, in ticks since the machine did
	Path   string   `wire:"6"` // as it was asked for
	Argv   []string `wire:"7"`
	Cut    bool     `wire:"8"`  // there is more argv
	Dir    string   `wire:"9"`  // what Path is below, if it is not absolute; the file itself, if it is empty
	Flags  uint64   `wire:"10"` // of execveat
	Cwd    string   `wire:"11"`
	Error  string   `wire:"12"` // it could not be read
	Lead   int64    `wire:"13"` // the session's own process
	Run    uint64   `wire:"14"` // at whose listener it waits
}

// ExecutionAnswer lets an execution happen, or fail with an error number (0: EPERM). It has no answer; one about an
// execution that does not wait any more says nothing.
type ExecutionAnswer struct {
	ID     string `wire:"1"`
	Number uint64 `wire:"2"`
	Allow  bool   `wire:"3"`
	Errno  int64  `wire:"4"`
	Done   bool   `wire:"5"` // the kernel has been answered already, at the listener that the daemon was handed
	Run    uint64 `wire:"6"`
}

// ExecutionListener comes with the descriptor of a session's listener, before its first Execution, to each daemon that is
// ready: it may answer the kernel there, and only there. Without one: everybody who could ask has ended. A keeper keeps
// its own. A daemon closes it with the connection: of a keeper that was killed it would have executions wait for nobody.
type ExecutionListener struct {
	ID string `wire:"1"`
	// Run tells it from the listener of an earlier run of a session that was restored: what that left running asks there.
	// 0: of a keeper that knew one a session.
	Run uint64 `wire:"2"`
}

// ExecutionHearing says who takes what is executed at a session's listener: the daemon itself for a while, which spares each
// execution the way by us, and never without an inbox. It has no answer but ExecutionInbox.
type ExecutionHearing struct {
	ID  string `wire:"1"`
	Run uint64 `wire:"2"`
	// Daemon says that it is the daemon that takes, from now on. Else it is the keeper again, as when the connection has ended.
	Daemon bool `wire:"3"`
	// Number is of a call in the inbox that the daemon leaves to the keeper, who hears of it as if it had taken it; 0: none.
	Number uint64 `wire:"4"`
	Inbox  bool   `wire:"5"` // an inbox is wanted, and nothing changes
}

// ExecutionInbox comes with the descriptor of a listener's inbox (package sys/inbox), to a daemon that wants it.
type ExecutionInbox struct {
	ID  string `wire:"1"`
	Run uint64 `wire:"2"`
}

// ExecutionGone says that an execution that was told of waits no more: its process has ended.
type ExecutionGone struct {
	ID     string `wire:"1"`
	Number uint64 `wire:"2"`
	Run    uint64 `wire:"3"`
}

// HandoffListener is a listener in a handoff, followed by the Executions that wait for an answer.
type HandoffListener struct {
	ID   string `wire:"1"`
	FD   int64  `wire:"2"`
	Lead int64  `wire:"3"`
	Run  uint64 `wire:"4"`
	// Inbox is the descriptor of what a daemon may have taken and not answered; 0: there is none.
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
	Cgroups    string `wire:"7"` // directory in which sessions get cgroups; empty: none
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
	KindExecutionGone
	KindHandoffListener
	KindExecutionListener
	KindExecutionHearing
	KindExecutionInbox
	KindBound
	KindRefused
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
func (*Bound) kind() Kind         { return KindBound }
func (*Refused) kind() Kind       { return KindRefused }

func (*Execution) kind() Kind         { return KindExecution }
func (*ExecutionAnswer) kind() Kind   { return KindExecutionAnswer }
func (*ExecutionGone) kind() Kind     { return KindExecutionGone }
func (*HandoffListener) kind() Kind   { return KindHandoffListener }
func (*ExecutionListener) kind() Kind { return KindExecutionListener }
func (*ExecutionHearing) kind() Kind  { return KindExecutionHearing }
func (*ExecutionInbox) kind() Kind    { return KindExecutionInbox }
