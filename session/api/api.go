// Package api holds the requests and responses of the daemon's HTTP interface, and its errors. Both ends share it, and it
// imports no package of either of them. The OpenAPI document is generated from these types.
//
// Offsets count bytes of output from the session's beginning; times are RFC 3339;
// rows and columns are cells, 0-based.
package api

import (
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Version is the prefix of every path.
const Version = "/v1"

// Session describes a session.
type Session struct {
	Host       string            `json:"host,omitempty" doc:"in lists of several hosts: its host, if another"`
	ID         string            `json:"id" doc:"UUID; never reused"`
	Name       string            `json:"name" doc:"unique among sessions"`
	State      string            `json:"state" enum:"running,exited,lost"`
	PID        int               `json:"pid" doc:"the session's process; 0: none"`
	Cwd        string            `json:"cwd" doc:"current working directory, if known"`
	Command    string            `json:"command" doc:"started command, quoted for a shell"`
	Argv       []string          `json:"argv"`
	Labels     map[string]string `json:"labels"`
	Cols       int               `json:"cols" doc:"width in cells"`
	Rows       int               `json:"rows" doc:"height in cells"`
	Size       string            `json:"size_policy" enum:"latest,largest,smallest,fixed" doc:"which client determines its size"`
	Title      string            `json:"title,omitempty"`
	Engine     string            `json:"engine" doc:"emulator in use"`
	Keeper     string            `json:"keeper" doc:"placement key of the keeper that holds it"`
	Mode       string            `json:"mode" enum:"pty,pipe"`
	ModeReason string            `json:"mode_reason,omitempty" doc:"why the mode differs from the requested one"`
	Cgroup     *Cgroup           `json:"cgroup,omitempty" doc:"path of its cgroup; absent: none"`
	Created    time.Time         `json:"created"`
	Ended      *time.Time        `json:"ended,omitempty"`
	ExitCode   *int              `json:"exit_code" doc:"null while it runs, after a signal, and if unknown"`
	Signal     string            `json:"signal,omitempty" doc:"the signal that ended it"`
	Stopped    bool              `json:"stopped,omitempty" doc:"ended on request, as by kill: its status is not a failure"`
	RestartAt  *time.Time        `json:"restarts_at,omitempty" doc:"time of the restart by its restart policy; past: it awaits approval, or is starting; absent: no restart"`
	Duration   int64             `json:"duration_ms" doc:"running time"`
	Usage      *Usage            `json:"usage,omitempty" doc:"resource usage, after its end"`
	Output     Range             `json:"output" doc:"offsets of the stored output"`
	Version    uint64            `json:"version" doc:"version of the screen"`

	// ProgramFrom is the output offset at which its process started, after a restore.
	ProgramFrom uint64 `json:"program_from,omitempty" doc:"after a restore: offset at which the output of its program starts"`

	Alt        bool          `json:"alt,omitempty" doc:"a full-screen program is shown"`
	Progress   *Progress     `json:"progress,omitempty"`
	Activity   *Activity     `json:"activity,omitempty" doc:"progress of the running or newest command"`
	Needs      *InputRequest `json:"needs_input,omitempty" doc:"the program in the foreground waits for input"`
	AgentState *AgentState   `json:"agent_state,omitempty" doc:"state of the coding agent in it"`
	Shell      *Shell        `json:"shell,omitempty" doc:"state of its shell, if known"`
	LastOutput *time.Time    `json:"last_output,omitempty" doc:"time of the newest output"`
	Clients    int           `json:"clients" doc:"attached or watching clients"`
	History    string        `json:"history_error,omitempty" doc:"why its history is not written"`
	Temporary  bool          `json:"temporary,omitempty" doc:"removed when it ends"`
	Draft      *DraftSummary `json:"draft,omitempty" doc:"its file changes are a draft that was neither committed nor discarded"`
	Sandbox    *Sandbox      `json:"sandbox,omitempty" doc:"its sandbox; absent: none"`
	Ports      []Port        `json:"ports,omitempty" doc:"sockets on which its processes accept connections, as of the newest check (Linux only)"`
	MorePorts  int           `json:"more_ports,omitempty" doc:"number of sockets beyond the listed 64"`

	// Started is the start time of its process. A restored session was created before.
	Started time.Time `json:"started,omitzero" doc:"when its process was started"`
	// LeftoverPIDs lists processes that an ended session left running.
	LeftoverPIDs []int `json:"left_pids,omitempty" doc:"processes of an ended session that still run"`
	// Approvals are the ids of the approvals that its commands wait for.
	Approvals []string `json:"needs_approval,omitempty" doc:"ids of approval requests of its commands"`
	Policy    string   `json:"policy,omitempty" doc:"preset requested at its start"`
	Agent     string   `json:"agent,omitempty" doc:"label of the agent that started it"`
	// Executions is empty if executions need not be checked.
	Executions   string    `json:"executions,omitempty" doc:"\"judged\": the rules check each executed program; \"not judged: \" and the reason, if they cannot; absent: no check is required"`
	RefusedCount int       `json:"refused_count,omitempty" doc:"executions in it that were not allowed"`
	Refused      []Refused `json:"refused,omitempty" doc:"the newest of them; absent in lists"`
	Quarantine   string    `json:"quarantine,omitempty" doc:"why its output is stored without being interpreted"`
}

// Shell is the state of a session's shell.
type Shell struct {
	Phase   string    `json:"phase" enum:"prompt,running,unknown,ended" doc:"at its prompt, or running a command"`
	Quality string    `json:"quality" enum:"full,basic,none" doc:"what the shell reports: all marks; prompts and statuses; nothing"`
	Command string    `json:"command,omitempty" doc:"line of the running command"`
	N       int       `json:"n,omitempty" doc:"its number"`
	Since   time.Time `json:"since,omitzero" doc:"start of the phase"`
	Program string    `json:"program,omitempty" doc:"another shell that reads the terminal, whose commands are not followed"`
	// Incomplete states that the shell waits for the rest of a line.
	Incomplete bool `json:"incomplete,omitempty" doc:"the shell waits for the rest of a line"`
}

// InputRequest is input that a program waits for.
type InputRequest struct {
	Kind       string    `json:"kind" enum:"password,confirm,menu,text,screen,prompt" doc:"screen: a full-screen program is idle; prompt: a shell within the shell, or behind ssh, waits for a command: neither asks anything"`
	Confidence int       `json:"confidence" doc:"percent"`
	Reason     string    `json:"reason" doc:"the evidence; ends with the question in quotes, if there is one"`
	Since      time.Time `json:"since"`
	Prompt     bool      `json:"prompt,omitempty" doc:"it is a prompt for commands (a REPL), not a question"`
}

// NeedsAnswer reports whether it is a question. Prompts and idle screens are not.
func (n *InputRequest) NeedsAnswer() bool {
	return n != nil && !n.Prompt && n.Kind != "screen" && n.Kind != "prompt"
}

// Usage is the resource use of a process until its end.
type Usage struct {
	UserMS   int64 `json:"user_ms"`
	SystemMS int64 `json:"system_ms"`
	MaxRSS   int64 `json:"max_rss_bytes"`
}

// Range is a range of output offsets, in bytes.
type Range struct {
	Start uint64 `json:"start"`
	End   uint64 `json:"end"`
}

// JudgedFile identifies a program's file at the time of the policy check. The zero value means none.
type JudgedFile struct {
	Path string // without links
	ID   string // differs for other or changed files
	// OwnShell states that it is not one of the system's shells.
	OwnShell bool
}

// NewSession describes a session to start.
type NewSession struct {
	Name string   `json:"name,omitempty" maxLength:"128" doc:"default: derived from the command"`
	Argv []string `json:"argv,omitempty" doc:"default: the user's shell"`
	Line string   `json:"line,omitempty" doc:"a command line for the user's shell, instead of argv"`
	Cwd  string   `json:"cwd,omitempty" doc:"absolute; default: the home directory"`
	// GivenCwd is the directory as the user wrote it, if a user did: clients of other hosts need it.
	GivenCwd string `json:"-"`
	// Judged is the file of Argv[0] at the time of the policy check. Only the daemon sets it.
	Judged JudgedFile `json:"-"`
	Env    []string   `json:"env,omitempty" doc:"the whole environment, NAME=VALUE; default: the daemon's"`
	SetEnv []string   `json:"set_env,omitempty" doc:"additions to it"`

	EnvMode string   `json:"env_mode,omitempty" enum:"full,minimal,listed" doc:"passed part of the environment: all of it (full), what programs need, such as HOME, PATH and LANG (minimal), or minimal plus shells.env_listed (listed); default: full, for agents shells.agent_env"`
	EnvPass []string `json:"env_pass,omitempty" doc:"names of further variables to pass, unless all are passed"`
	Umask   string   `json:"umask,omitempty" pattern:"^[0-7]{1,4}$" doc:"octal; default 022"`
	Cols    int      `json:"cols,omitempty" doc:"default 80"`
	Rows    int      `json:"rows,omitempty" doc:"default 24"`

	Labels   map[string]string `json:"labels,omitempty"`
	Engine   string            `json:"engine,omitempty" doc:"emulator; default: vterm"`
	Plain    bool              `json:"plain,omitempty" doc:"start a shell without command integration"`
	Isolated bool              `json:"isolated,omitempty" doc:"give the session a separate keeper"`
	Pipe     bool              `json:"pipe,omitempty" doc:"pipes instead of a terminal, with separate stdout and stderr"`
	Stdin    bool              `json:"stdin,omitempty" doc:"with pipes: open its standard input for input requests until eof; default: empty"`
	Limits   *Limits           `json:"limits,omitempty" doc:"limits of all its processes together; requires cgroup v2"`
	Sandbox  string            `json:"sandbox,omitempty" maxLength:"64" doc:"profile of its sandbox; a profile that cannot be enforced is an error"`
	// OnDifference overrides the sandbox profile's setting.
	OnDifference string   `json:"on_difference,omitempty" enum:"deny,ask" doc:"with sandbox: deny hosts (and programs, if the profile lists some) that are not listed, or ask for approval; default: as in the profile"`
	Draft        []string `json:"draft,omitempty" maxItems:"16" doc:"directories whose file changes form a draft, until a user commits or discards them: absolute, ~, ~/DIR, or project for the project of cwd. The session runs in the sandbox, by default workspace, with the drafts as its writable directories. A draft that cannot be enforced is an error"`
	DraftSize    int64    `json:"draft_size_bytes,omitempty" minimum:"0" doc:"with draft: limit of the disk space of its changes together, and of each written file; beyond it the session's programs are ended, and the changes stay; default: draft_size of the sandbox profile, or none"`
	Observe      string   `json:"observe,omitempty" maxLength:"4096" doc:"absolute path of a file that gets what the program reads, writes, executes and connects to; executions cannot be judged then"`

	ApprovalOptions

	// PipeFallback is set by the verb run.
	PipeFallback bool `json:"pipe_fallback,omitempty" doc:"use pipes if no terminal is available"`

	AskID     string `json:"ask_id,omitempty" maxLength:"64" pattern:"^[0-9A-Za-z-]*$" doc:"request id of the caller (a UUID): an equal request with the same id returns the started session, and needs approval once; default: a new one"`
	Again     bool   `json:"again,omitempty" doc:"the caller sent this request before with its ask_id, and lost the response; a daemon that does not know the ask_id rejects it"`
	Temporary bool   `json:"temporary,omitempty" doc:"remove the session when it ends and no client shows it"`
	Restore   string `json:"restore,omitempty" enum:"never,shell,command" doc:"what to start after a reboot; default: shells.restore of the configuration, never"`
}

// ApprovalOptions control policy checks and approvals of a request.
type ApprovalOptions struct {
	Policy        string `json:"policy,omitempty" maxLength:"64" doc:"preset that the rules apply too; it can only make them stricter; stored with a new session"`
	Yes           bool   `json:"yes,omitempty" doc:"approve in advance; denials remain"`
	OnApproval    string `json:"on_approval,omitempty" enum:"wait,return" doc:"if approval is needed: wait for it (default), or return at once, also later if a started program needs approval; repeat with the same id to wait"`
	KnownApproval string `json:"told,omitempty" maxLength:"20" doc:"with on_approval return: the approval already known to the caller; the call returns with another one, or the end"`

	ApprovalTimeoutMS int64 `json:"approval_timeout_ms,omitempty" minimum:"0" doc:"for a line or a command: timeout of its approval; then on_timeout applies: it is withdrawn, or stays in the background; default: no limit"`
}

// Restore starts a session's process again, in its last directory.
type Restore struct {
	Command         bool     `json:"command,omitempty" doc:"run the session's command again"`
	Shell           bool     `json:"shell,omitempty" doc:"start the user's shell instead of the previous program"`
	NewConversation bool     `json:"fresh,omitempty" doc:"do not resume the conversation of the coding agent that ran in it; default: start it with its resume flags, in a shell by a line"`
	Env             []string `json:"env,omitempty" doc:"the whole environment, NAME=VALUE; default: the daemon's; the session's settings are added"`
	// Judged is the file of the program at the time of the policy check. Only the daemon sets it.
	Judged JudgedFile `json:"-"`
}

// Limits bound the resources of a session's processes in total. 0 is no limit.
type Limits struct {
	Memory int64   `json:"memory_bytes,omitempty" minimum:"0" doc:"beyond it the kernel kills one of the processes"`
	CPU    float64 `json:"cpus,omitempty" minimum:"0" doc:"number of CPUs, as in 1.5"`
	PIDs   int     `json:"pids,omitempty" minimum:"0" doc:"processes and threads; further ones fail to start"`
}

// Cgroup is the resource use of a session's processes. Numbers that the system does not report are absent.
type Cgroup struct {
	Path   string  `json:"path" doc:"directory"`
	Memory *int64  `json:"memory_bytes,omitempty"`
	CPUMS  *int64  `json:"cpu_ms,omitempty" doc:"CPU time used"`
	PIDs   *int64  `json:"pids,omitempty" doc:"processes and threads"`
	Limits *Limits `json:"limits,omitempty" doc:"current limits"`
}

// Edit changes a session's name, labels and size policy. A label with an empty value is removed.
type Edit struct {
	Name   *string           `json:"name,omitempty" minLength:"1" maxLength:"128"`
	Labels map[string]string `json:"labels,omitempty"`
	Size   string            `json:"size_policy,omitempty" enum:"latest,largest,smallest,fixed" doc:"size of the most recently active, the largest or the smallest client; fixed: independent of clients"`
}

// Input is input to type. Exactly one of Text, Keys, Paste and Data is set; Enter presses that key afterwards.
type Input struct {
	Text  string   `json:"text,omitempty" doc:"text to type, unchanged"`
	Keys  []string `json:"keys,omitempty" doc:"key names, as in Enter, C-c, Up, F5"`
	Paste *string  `json:"paste,omitempty" doc:"text to paste; bracketed if the program enabled that"`
	Data  []byte   `json:"data,omitempty" doc:"raw bytes, base64"`
	Enter bool     `json:"enter,omitempty"`
	EOF   bool     `json:"eof,omitempty" doc:"then close the standard input of a session on pipes"`

	ID     string `json:"id,omitempty" maxLength:"64" doc:"makes retries safe: input with the id of earlier input is not typed again"`
	Secret bool   `json:"secret,omitempty" doc:"rejected while the terminal echoes, and not recorded"`
	Auto   bool   `json:"auto,omitempty" doc:"typed by a program: a line that it completes does not count as the user's"`
	Force  bool   `json:"force,omitempty" doc:"type it even into a user's partial line; of a secret: even if the terminal echoes"`
	// FreshLine is for answers to a question.
	FreshLine bool `json:"fresh_line,omitempty" doc:"refuse while the shell has a partial line: the text would be appended"`
	// ConfirmMS and Submit request confirmation of input.
	ConfirmMS int64  `json:"prove_ms,omitempty" minimum:"0" doc:"wait up to this time for the program to read it; see taken"`
	Submit    string `json:"submit,omitempty" enum:"always,agent" doc:"submit text as one message: paste it, then press Enter once it is drawn; agent: only if a coding agent runs and enter is set, else type normally"`

	ExpectVersion uint64 `json:"expect_version,omitempty" doc:"refuse if the screen has another version"`

	OnApproval string `json:"on_approval,omitempty" enum:"wait,return" doc:"if an agent's input needs approval: wait for it (default), or return at once; repeat with the same id to wait"`
}

// Typed is the response to Input: the terminal has accepted all of it.
type Typed struct {
	Cursor    uint64 `json:"cursor" doc:"output offset at which the program's response starts"`
	Echo      string `json:"echo" enum:"on,off,app" doc:"echo by the terminal (on), nothing (off), or the program (app)"`
	Outcome   *Taken `json:"taken,omitempty" doc:"result of prove_ms"`
	Duplicate bool   `json:"again,omitempty" doc:"an earlier request with this id typed it; this request typed nothing, and taken is absent"`
}

// Taken is the confirmed outcome of input. Parts that cannot be determined are unknown.
type Taken struct {
	Written   bool   `json:"written" doc:"written to the terminal"`
	Read      string `json:"read" enum:"yes,no,unknown" doc:"read by the program: the terminal's queue is empty"`
	Echoed    string `json:"echoed" enum:"yes,no,unknown" doc:"its text is shown on the screen"`
	Drawn     string `json:"drawn" enum:"yes,no,unknown" doc:"the screen changed afterwards"`
	Submitted string `json:"submitted,omitempty" enum:"yes,no,unknown" doc:"for a message: whether the program took it: its line is empty, or the agent works; no: Enter was not pressed, or had no effect"`
}

// Resize is a new size in cells.
type Resize struct {
	Cols int `json:"cols"`
	Rows int `json:"rows"`
}

// Signal names a signal for a session's processes.
type Signal struct {
	Signal string `json:"signal" doc:"name or number, as in INT, SIGTERM, 9"`
	Scope  string `json:"scope,omitempty" enum:"child,group,foreground,all" doc:"default foreground"`
}

// Kill ends processes by the kill ladder: interrupt, terminate, kill.
type Kill struct {
	GraceMS int `json:"grace_ms,omitempty" doc:"time that each step of the kill ladder gets; default: exec.grace of the configuration (10000), for agents exec.agent_grace (2000)"`
}

// KillSeveral ends several sessions at the same time.
type KillSeveral struct {
	Kill
	Sessions []string `json:"sessions,omitempty" doc:"ids or names; if one is missing, no session is ended"`
	All      bool     `json:"all,omitempty" doc:"all listed sessions"`
	Labels   []string `json:"labels,omitempty" doc:"all with these labels, NAME or NAME=VALUE"`
}

// Killed lists the sessions that ended.
type Killed struct {
	Ended  []Session `json:"ended"`
	Failed []Failed  `json:"failed,omitempty" doc:"sessions that did not end, and why"`
}

// Output is a piece of a session's output.
type Output struct {
	Data []byte `json:"data" doc:"base64"`
	From uint64 `json:"from" doc:"offset of the first byte"`
	Next uint64 `json:"next" doc:"offset for the next read"`
	Gap  uint64 `json:"gap_bytes" doc:"bytes lost between the requested offset and from"`
	End  bool   `json:"end" doc:"the session has ended and nothing comes after this"`
	// Streams is set for sessions on pipes.
	Streams []StreamRun `json:"streams,omitempty" doc:"of a session on pipes: the streams in data, in order"`
}

// OutputText is a piece of a session's output as text, within a budget.
type OutputText struct {
	Text        string   `json:"text" doc:"plain text; a note marks an omitted part, with its size and the command that reads it"`
	From        uint64   `json:"from" doc:"offset of the first byte"`
	Next        uint64   `json:"next" doc:"offset for the next read"`
	Gap         uint64   `json:"gap_bytes,omitempty" doc:"bytes lost between the requested offset and from"`
	End         bool     `json:"end" doc:"the session has ended and nothing comes after this"`
	Truncated   bool     `json:"truncated,omitempty" doc:"part of the text was omitted"`
	Omitted     *Omitted `json:"omitted,omitempty" doc:"the omitted part"`
	Binary      bool     `json:"binary,omitempty" doc:"binary data was omitted; the raw output has it"`
	BinaryBytes uint64   `json:"binary_bytes,omitempty"`
	Note        string   `json:"note,omitempty" doc:"for a transcript: why it may be incomplete"`
}

// StreamRun is a piece of output from one stream.
type StreamRun struct {
	Stream string `json:"stream" enum:"stdout,stderr,merged" doc:"merged: the streams were not separated"`
	Bytes  int    `json:"bytes"`
}

// Command is a line that a session's shell ran or runs.
type Command struct {
	Session  string             `json:"session" doc:"id"`
	Name     string             `json:"name" doc:"name of the session"`
	N        int                `json:"n" doc:"command number in its session, from 1"`
	Text     string             `json:"text"`
	State    string             `json:"state" enum:"running,done,lost" doc:"lost: its end was not seen"`
	Quality  string             `json:"quality" enum:"full,basic,none" doc:"what the shell reported of it"`
	ExitCode *int               `json:"exit_code" doc:"null while it runs and if unknown"`
	Signal   string             `json:"signal,omitempty"`
	Started  time.Time          `json:"started,omitzero"`
	Duration int64              `json:"duration_ms"`
	Cwd      string             `json:"cwd" doc:"directory before it"`
	CwdAfter string             `json:"cwd_after,omitempty"`
	Env      map[string]*string `json:"env_changes,omitempty" doc:"variables it changed in the shell; null: unset; secrets are redacted"`
	Output   Range              `json:"output_range" doc:"offsets of its output, so far while it runs"`
	Activity *Activity          `json:"activity,omitempty" doc:"its progress; kept for the session's newest command"`
	By       string             `json:"by,omitempty" doc:"source of the line, unless the local user typed it: exec, agent:LABEL, program, token:NAME (a web login or share link), or host:HOST"`
}

// Exec is a line to run in a session's shell.
type Exec struct {
	Call
	Line    string        `json:"line" doc:"text of the line; several lines are allowed"`
	Wait    bool          `json:"wait,omitempty" doc:"wait for the prompt of a busy shell; default: an error"`
	Respond *RespondRules `json:"respond,omitempty" doc:"rules that answer its prompts until it ends"`
	ApprovalOptions
	History bool `json:"history,omitempty" doc:"record the line in the shell's history; default: shells.history of the configuration (false)"`
	// Foreign types the line into the program that the shell runs.
	Sandbox      string `json:"sandbox,omitempty" maxLength:"64" doc:"reject it unless the session has this sandbox profile, or a stricter one"`
	OnDifference string `json:"on_difference,omitempty" enum:"deny,ask" doc:"reject it unless the session's sandbox answers unlisted accesses so"`
	Foreign      bool   `json:"foreign,omitempty" doc:"pass the line to the program that waits for input in the shell (a REPL, ssh); exit_code is null. A session without a shell always gets lines so"`
}

// Call controls the wait for a line or a command, and the content of the response.
type Call struct {
	Job           string `json:"job,omitempty" maxLength:"64" pattern:"^[0-9A-Za-z-]*$" doc:"id of the job (a UUID), chosen by the caller: a request with the same id runs nothing twice; default: a new one"`
	TimeoutMS     *int64 `json:"timeout_ms,omitempty" doc:"any positive number; 0: no limit; default for agents: exec.timeout of the configuration (60000), in the background 86400000; for people and scripts: no limit"`
	IdleTimeoutMS *int64 `json:"idle_timeout_ms,omitempty" doc:"timeout without output, any positive number; 0: no limit; default for agents: exec.idle_timeout of the configuration (300000), in the background 0; for people and scripts: no limit"`
	OnTimeout     string `json:"on_timeout,omitempty" enum:"background,kill" doc:"leave it running (default for lines), or end it with all its processes (default for commands)"`
	YieldMS       int64  `json:"yield_ms,omitempty" doc:"return after this time with the output so far; the job continues in the background"`
	Background    bool   `json:"background,omitempty" doc:"return at once"`
	OnInput       string `json:"on_input,omitempty" enum:"wait,return" doc:"if it waits for input: wait (default), or return; the job continues"`
	Parse         bool   `json:"parse,omitempty" doc:"parse the output: problems, tests, listings"`
	MaxOutput     int    `json:"max_output,omitempty" minimum:"0" maximum:"16777216" doc:"bytes of output in the response, head and tail; default for agents: exec.max_output of the configuration (16384); for people and scripts: 16777216"`
	MaxLine       int    `json:"max_line,omitempty" minimum:"0" maximum:"16777216" doc:"bytes of one line in the response, head and tail; default: no separate limit"`
	Digest        bool   `json:"digest,omitempty" doc:"within max_output keep the first failure, errors, warnings and the end, instead of head and tail, and few of the lines that differ only in numbers; for terminal output"`
}

// Run is a command to run in a new session.
type Run struct {
	Call
	NewSession
	Warm  bool `json:"warm,omitempty" doc:"run line in a shell that was started in advance in this directory and environment, and is used once"`
	Keep  bool `json:"keep,omitempty" doc:"keep the session; default: remove it after the response, or later if the response lacks part of its output"`
	Start bool `json:"start,omitempty" doc:"return at once, with foreground timeouts; the caller queries the job's end"`
}

// Batch is a list of lines to run one after the other in a session's shell.
type Batch struct {
	Call
	ApprovalOptions
	Lines        []string `json:"lines" minItems:"1" maxItems:"1000"`
	Wait         bool     `json:"wait,omitempty" doc:"wait for the prompt of a busy shell; default: an error"`
	OnDifference string   `json:"on_difference,omitempty" enum:"deny,ask" doc:"reject it unless the session's sandbox answers unlisted accesses so"`
	StopOnError  bool     `json:"stop_on_error,omitempty" doc:"skip the remaining lines after a failure"`
	Sandbox      string   `json:"sandbox,omitempty" maxLength:"64" doc:"reject it unless the session has this sandbox profile, or a stricter one"`
}

// Batched is the response to Batch: a result for each line that was run. A line that did not end is the last one.
type Batched struct {
	Results []Result `json:"results"`
	LeftOut int      `json:"left_out,omitempty" doc:"skipped lines"`
}

// Job is a line or command that runs or ran under the timeouts of its caller.
type Job struct {
	ID         string     `json:"id"`
	Session    string     `json:"session" doc:"id of its session"`
	Name       string     `json:"name,omitempty" doc:"name of its session, while it exists"`
	Line       string     `json:"line"`
	Agent      string     `json:"agent,omitempty" doc:"label of the agent that started it; absent for users, and in lists"`
	State      string     `json:"state" enum:"waiting,needs_approval,running,needs_input,done" doc:"needs_input: it runs and waits for input; done: it ended, see outcome and result"`
	Needs      string     `json:"needs_input,omitempty" enum:"password,confirm,menu,text,screen,prompt" doc:"the input that it waits for"`
	Outcome    string     `json:"outcome,omitempty" doc:"of an ended job: the state of its result, as exited, killed or refused"`
	Approval   string     `json:"approval,omitempty" doc:"id of its pending approval"`
	Background bool       `json:"in_background" doc:"no caller waits for it"`
	Started    time.Time  `json:"started,omitzero"`
	Ended      *time.Time `json:"ended,omitempty"`
	DurationMS int64      `json:"duration_ms"`
	Command    int        `json:"command,omitempty" doc:"command number in the session"`
	Result     *Result    `json:"result,omitempty" doc:"its result after the end; without output in lists"`
}

// JobStop ends a job by the kill ladder.
type JobStop struct {
	Next    bool `json:"next,omitempty" doc:"if the job is being ended: continue with the next step of the kill ladder at once"`
	GraceMS int  `json:"grace_ms,omitempty" doc:"time that each step of the kill ladder gets; default: exec.grace of the configuration (10000), for agents exec.agent_grace (2000)"`
}

// MaxSimilarRunningBytes is how many bytes of similar lines a digest keeps of a running command without a prompt. They
// only show progress, and more of them follow.
const MaxSimilarRunningBytes = 400

// Values of Result.ExitUnknown.
const (
	ExitNone        = "none"
	ExitNotReported = "not_reported"
)

// IsSuccess reports whether a line or command ended without a failure: with exit code 0, or in a program that has no exit
// codes. A line whose exit code is not reported may have failed.
func (r *Result) IsSuccess() bool {
	return r.State == "exited" && (r.ExitUnknown == ExitNone || r.ExitCode != nil && *r.ExitCode == 0)
}

// Result is the result of a line or command (R2).
type Result struct {
	Job           string              `json:"job,omitempty" doc:"id of the job"`
	InBackground  bool                `json:"in_background,omitempty" doc:"it continues without the caller"`
	Output        string              `json:"output" doc:"plain text; all of it is in output_range"`
	State         string              `json:"state" enum:"exited,signalled,killed,running,needs_input,needs_approval,denied,refused,waiting,ended,lost" doc:"killed: by a timeout or on request; needs_input: it waits for input; needs_approval: a user must allow it; denied: not allowed, not run; refused: rejected by the shell (incomplete, for example), not run; ended: the shell has exited; waiting: for the prompt; lost: exit status unknown"`
	NeedsApproval bool                `json:"needs_approval,omitempty" doc:"whether it waits for approval by a user"`
	Approval      string              `json:"approval,omitempty" doc:"id of the approval that it waits for, or that allowed or rejected it"`
	Policy        *Judgement          `json:"policy,omitempty" doc:"why it was denied or needs approval"`
	Outcome       string              `json:"outcome,omitempty" enum:"stable" doc:"stable: a program without command reports is idle and waits for input again; exit_code is null"`
	Needs         string              `json:"needs_input,omitempty" enum:"password,confirm,menu,text,screen,prompt"`
	ExitCode      *int                `json:"exit_code" doc:"null while it runs, after a signal, and if unknown"`
	ExitUnknown   string              `json:"exit_unknown,omitempty" enum:"none,not_reported" doc:"why exit_code is null although the line ended. none: a program without exit statuses, such as a REPL, read it. not_reported: a shell or another program read it whose status longterm cannot see (ssh, a shell without integration); the line may have failed"`
	Signal        string              `json:"signal,omitempty" doc:"the signal that ended it, if the kernel reported it; a shell reports only a code (128 plus the signal's number, or an ordinary exit code)"`
	Error         string              `json:"error,omitempty"`
	Aborted       bool                `json:"aborted"`
	TimedOut      string              `json:"timed_out" enum:"none,wall,idle"`
	DurationMS    int64               `json:"duration_ms"`
	Message       string              `json:"message,omitempty" doc:"summary in one line; absent: it exited with 0"`
	Hint          string              `json:"hint,omitempty" doc:"what to do instead"`
	Cleared       string              `json:"cleared,omitempty" doc:"for a line: the partial line that was cleared from the prompt; … if unknown"`
	PID           int                 `json:"pid" doc:"process id of the session"`
	PGID          int                 `json:"pgid" doc:"foreground process group, else that of the session's process; 0: unknown"`
	Background    []int               `json:"background_pids,omitempty" doc:"its processes that still run"`
	Mode          string              `json:"mode" enum:"pty,pipe"`
	ModeReason    string              `json:"mode_reason,omitempty" doc:"why the mode differs from the requested one"`
	Sandbox       *Sandbox            `json:"sandbox,omitempty" doc:"its sandbox; absent: none"`
	Draft         *DraftSummary       `json:"draft,omitempty" doc:"its draft of file changes, or that of the session whose shell ran the line; absent: no draft, or no changes"`
	Review        *DraftReview        `json:"draft_review,omitempty" doc:"it ran in a draft, as the rules want: what a user decides about, or has decided"`
	Executions    string              `json:"executions,omitempty" doc:"\"judged\": the rules checked each executed program; \"not judged: \" and the reason; absent: no check was required"`
	Refused       []Refused           `json:"refused,omitempty" doc:"executions in the session that were rejected while it ran"`
	Stdout        *string             `json:"stdout,omitempty" doc:"on pipes with separate streams; output has both in order of arrival"`
	Stderr        *string             `json:"stderr,omitempty"`
	Merged        bool                `json:"merged,omitempty" doc:"on pipes: the streams were not separated"`
	Binary        bool                `json:"binary,omitempty" doc:"binary data was omitted; the history has it"`
	BinaryBytes   uint64              `json:"binary_bytes,omitempty"`
	Encoding      string              `json:"encoding,omitempty" doc:"of the output, as detected by --encoding auto, by its name in the WHATWG standard; absent: UTF-8, or given"`
	Truncated     bool                `json:"truncated,omitempty" doc:"part of the output was omitted"`
	Omitted       *Omitted            `json:"omitted,omitempty" doc:"the omitted part"`
	Summary       string              `json:"summary,omitempty" doc:"summary of the whole output by output.summary_command of the configuration; output is a shorter excerpt then"`
	SummaryError  string              `json:"summary_error,omitempty" doc:"why output.summary_command returned no summary"`
	Session       string              `json:"session"`
	Command       int                 `json:"command,omitempty" doc:"command number in the session"`
	Quality       string              `json:"quality,omitempty"`
	Range         Range               `json:"output_range" doc:"offsets of its output; while it runs, so far: end is a cursor"`
	CwdBefore     string              `json:"cwd_before,omitempty"`
	CwdAfter      string              `json:"cwd_after,omitempty" doc:"directory after it, or the current one while it runs; absent if unknown, as after a separate command; see guess"`
	Env           map[string]*string  `json:"env_changes,omitempty" doc:"null: unset"`
	Guess         *Guess              `json:"guess,omitempty" doc:"estimated state of a shell without reports (such as ssh) after the lines so far, or of a command's directory at its end"`
	EnvOmitted    int                 `json:"env_omitted,omitempty" doc:"variables that an agent's session was started without in a CI job because they look like secrets; for a line only if it is the shell's first"`
	Parsed        *diagnostics.Result `json:"parsed,omitempty"`
	Answers       []RespondFiring     `json:"answers,omitempty" doc:"actions of the rules in the request"`
	Unused        []string            `json:"unused_rules,omitempty" doc:"after a timeout: patterns of the request's rules that never matched"`
}

// EnvNote returns a line about the omitted variables of the environment, or "".
func (r *Result) EnvNote() string {
	switch r.EnvOmitted {
	case 0:
		return ""
	case 1:
		return "environment: 1 variable that looks like a secret omitted (agent in a CI job); pass it with --env NAME or shells.env_listed"
	}
	return fmt.Sprintf("environment: %d variables that look like secrets omitted (agent in a CI job); pass them with --env NAME or shells.env_listed", r.EnvOmitted)
}

// Omitted describes the omitted part of a text within a budget. It counts bytes of text; above 64 MiB of output the
// middle counts as printed.
type Omitted struct {
	Bytes     int64  `json:"bytes"`
	Lines     int    `json:"lines" doc:"lines omitted between head and tail, also partly"`
	LongLines int    `json:"long_lines,omitempty" doc:"lines shortened to max_line"`
	Start     uint64 `json:"start,omitempty" doc:"offset at which the omitted output starts"`
	End       uint64 `json:"end,omitempty"`
	Read      string `json:"read,omitempty" doc:"command that prints the omitted part, if the text does not name it"`
}

// Guess is the likely state of a shell that reports none, from its input lines alone.
type Guess struct {
	Cwd        string             `json:"cwd,omitempty"`
	Env        map[string]*string `json:"env,omitempty" doc:"exported variables; null: unset"`
	Confidence string             `json:"confidence" enum:"likely,doubtful" doc:"doubtful: the lines may have had effects that the estimate does not know"`
}

// Environment is the environment that a session's program exports.
type Environment struct {
	Source string            `json:"source" enum:"shell,guess,start" doc:"shell: as of its newest prompt; guess: from the output of a shell without reports, and the lines since; start: the environment at the program's start"`
	Env    map[string]string `json:"env" doc:"secrets are redacted"`
}

// Found is the response to a search.
type Found struct {
	Hits []Hit `json:"hits" doc:"newest first"`
	// Truncated states that the search stopped early; next continues it.
	Truncated bool   `json:"truncated,omitempty" doc:"the search stopped early, because the pattern has no fixed text; continue with next"`
	Next      string `json:"next,omitempty" doc:"pass as before to continue; absent: no more results"`
	// Behind and Note are set by older daemons only, which did not search the newest output.
	Behind uint64 `json:"behind_bytes,omitempty" doc:"bytes of new output that are not indexed yet: retry soon"`
	Note   string `json:"note,omitempty" doc:"behind_bytes in words"`
}

// Hit is a line of output that a search found.
type Hit struct {
	Session string    `json:"session" doc:"id"`
	Name    string    `json:"name" doc:"name of the session"`
	From    uint64    `json:"from" doc:"offset of the line; screen and output take it"`
	To      uint64    `json:"to"`
	Time    time.Time `json:"time" doc:"when it was printed"`
	Command int       `json:"command,omitempty" doc:"number of the command that printed it"`
	Text    string    `json:"text" doc:"the line, or the part around the first match"`
	Start   int       `json:"start,omitempty" doc:"offset of text in the line, bytes"`
	Cut     bool      `json:"cut,omitempty" doc:"text is a part of the line"`
	Matches [][2]int  `json:"matches" doc:"ranges of text that match, bytes"`
}

// Prune sets the limits of history; 0 is no limit.
type Prune struct {
	SessionBytes int64 `json:"session_bytes,omitempty" doc:"limit on disk for one session: the oldest output is removed"`
	SessionAgeMS int64 `json:"session_age_ms,omitempty" doc:"maximum age of output"`
	TotalBytes   int64 `json:"total_bytes,omitempty" doc:"limit on disk for all sessions: ended sessions are removed first, the oldest first"`
	Dead         int   `json:"dead,omitempty" doc:"maximum number of ended sessions"`
	DeadAgeMS    int64 `json:"dead_age_ms,omitempty" doc:"maximum time since their end"`
}

// Pruned lists the removed sessions and history.
type Pruned struct {
	Removed []string `json:"removed" doc:"names of sessions that were removed"`
	Cut     []string `json:"cut" doc:"names of sessions that lost their oldest output"`
	Bytes   int64    `json:"bytes" doc:"bytes freed on disk"`
}

// Record is an entry of a session's history.
type Record struct {
	Kind   string    `json:"kind" enum:"screen,output,resize,exit,gap,end" doc:"screen: the initial screen, always first; end: always last"`
	Offset uint64    `json:"offset" doc:"output bytes before it"`
	Time   time.Time `json:"time,omitzero" doc:"absent when unknown"`
	Data   []byte    `json:"data,omitempty" doc:"base64; for output: the printed bytes; for screen: ANSI sequences that draw it"`
	Cols   int       `json:"cols,omitempty" doc:"for screen and resize: the size from here on, cells"`
	Rows   int       `json:"rows,omitempty"`
	Exit   *Exit     `json:"exit,omitempty"`
	Lost   uint64    `json:"lost,omitempty" doc:"for gap: printed bytes that are not stored"`

	Streams []StreamRun `json:"streams,omitempty" doc:"for output of a session on pipes: the streams in data, in order"`
}

// Exit is how a program ended.
type Exit struct {
	ExitCode *int   `json:"exit_code" doc:"null after a signal"`
	Signal   string `json:"signal,omitempty"`
	Usage    Usage  `json:"usage"`
}

// Wait lists the conditions to wait for.
type Wait struct {
	Conds     []Condition `json:"conditions" minItems:"1"`
	All       bool        `json:"all,omitempty" doc:"all conditions instead of any"`
	Since     *uint64     `json:"since,omitempty" doc:"output offset; default: after the newest input"`
	TimeoutMS int64       `json:"timeout_ms,omitempty" doc:"default: no limit; for agents exec.timeout of the configuration (60000); -1: no limit"`
	// Input is typed first, in the same step: no part of its response is missed.
	Input *Input `json:"input,omitempty"`
}

// Condition is one thing to wait for.
type Condition struct {
	Kind    string `json:"kind" enum:"text,regexp,gone,prompt,command,exit,quiet,input,fullscreen,title,bell,progress,cursor,agent,port,anomaly" doc:"anomaly: a running command printed a line that only earlier failures of it printed"`
	Text    string `json:"text,omitempty" doc:"for text, gone and title; for input a kind: password, confirm, menu, text or screen; for agent a state: working, needs_input, needs_approval, done, idle (done, too) or unknown, else any in which it waits for its user"`
	Pattern string `json:"pattern,omitempty" doc:"RE2, for regexp and gone"`
	QuietMS int64  `json:"quiet_ms,omitempty" doc:"for quiet; default 1000"`
	Off     bool   `json:"off,omitempty" doc:"for fullscreen: wait until none is shown"`
	Percent int    `json:"percent,omitempty" doc:"for progress: at least; default 100"`
	Row     *int   `json:"row,omitempty" doc:"for cursor, 0-based; absent: any"`
	Col     *int   `json:"col,omitempty" doc:"for cursor, 0-based; absent: any"`
	Port    int    `json:"port,omitempty" minimum:"0" maximum:"65535" doc:"for port: the TCP port on which a process of the session accepts connections; default: any"`
}

// Waited is a wait's result.
type Waited struct {
	Outcome string  `json:"outcome" enum:"fired,timeout,ended" doc:"ended: the session ended before the conditions held, or, for anomaly, the command"`
	Fired   []Fired `json:"fired"`
	Session Session `json:"session"`
	Version uint64  `json:"version" doc:"version of the screen"`
	Cursor  uint64  `json:"cursor" doc:"output offset, for since of the next request"`
}

// Fired is a condition that matched.
type Fired struct {
	Condition Condition `json:"condition"`
	Match     string    `json:"match,omitempty"`
}

// Status describes the daemon.
type Status struct {
	DaemonPID int       `json:"daemon_pid"`
	KeeperPID int       `json:"keeper_pid"`
	Build     string    `json:"build"`
	Started   time.Time `json:"started"`
	Sessions  int       `json:"sessions"`
	Running   int       `json:"running"`
	Socket    string    `json:"socket"`
	State     string    `json:"state_dir"`
	Keepers   []Keeper  `json:"keepers"`
	Restarts  int       `json:"restarts" doc:"number of daemon restarts by the keeper"`
	Audit     string    `json:"audit,omitempty" doc:"NUMBER:HASH of the newest audit record that the daemon has written"`
	Notices   []string  `json:"notices" doc:"problems that were repaired at the start"`
	// Goroutines helps to find leaks.
	Goroutines int `json:"goroutines,omitempty" doc:"goroutines of the daemon"`

	Webhooks []Webhook `json:"webhooks,omitempty" doc:"addresses to which notices were posted since the daemon started"`

	Config Configuration `json:"config"`
	HTTP   string        `json:"http,omitempty" doc:"address of the API for clients with a token; absent: none"`
	Rules  RuleFile      `json:"rules" doc:"the user's file of rules, policy.toml"`
	Caller Caller        `json:"caller" doc:"the caller as seen by the daemon"`
}

// Webhook is the delivery status of a webhook. URLs of one host are not distinguished: they are secrets.
type Webhook struct {
	Host          string     `json:"host"`
	Waiting       int        `json:"waiting" doc:"notices in the queue"`
	LeftOut       int        `json:"left_out,omitempty" doc:"notices dropped since the newest delivery: too many, too old, or rejected"`
	Failing       string     `json:"failing,omitempty" doc:"why the newest attempt failed; absent: it succeeded"`
	Since         *time.Time `json:"since,omitempty" doc:"time of the first failure since the newest success"`
	LastDelivered *time.Time `json:"told,omitempty" doc:"time of the newest delivery"`
}

// Caller identifies a caller by the process at the other end of the connection and by its label.
type Caller struct {
	Agent        string `json:"agent,omitempty" doc:"label of the agent; empty: a user"`
	Policy       string `json:"policy,omitempty" doc:"rules of the session that the caller runs in"`
	Session      string `json:"session,omitempty" doc:"id of the session that it runs in, unless a user started it"`
	IsRestricted bool   `json:"held,omitempty" doc:"it runs in an agent's session, or in a session with rules: operations reserved for users are rejected"`
}

// ErrUserRequired rejects an operation that only a user may do.
func (c Caller) ErrUserRequired(what string) *Error {
	where := "a session with its own rules (" + c.Policy + ")"
	if c.Agent != "" {
		where = "the session of an agent (" + c.Agent + ")"
	}
	return Errorf(CodeDenied, "%s requires a user, not a program in %s", what, where).
		WithHint("a user must do it, from a terminal without an agent")
}

// RuleFile is the status of the user's rule file.
type RuleFile struct {
	File     string   `json:"file" doc:"path of the file"`
	Using    string   `json:"using" enum:"file,kept,none,broken" doc:"kept: the newest valid version; broken: no version was valid, and everything except reading needs approval"`
	Rules    int      `json:"rules" doc:"number of rules in effect"`
	Problems []string `json:"problems" doc:"why the file is not used"`
}

// Configuration is the status of the configuration file.
type Configuration struct {
	File     string    `json:"file" doc:"path of the file"`
	Using    string    `json:"using" enum:"file,kept,defaults" doc:"kept: the newest valid version"`
	Loaded   time.Time `json:"loaded"`
	Problems []string  `json:"problems" doc:"why the file is not used"`
}

// Keeper describes one keeper.
type Keeper struct {
	Key        string    `json:"key"`
	PID        int       `json:"pid"`
	Build      string    `json:"build"`
	Started    time.Time `json:"started"`
	Sessions   int       `json:"sessions"`
	Executions int       `json:"executions" doc:"1, plus one per upgrade in place"`
}

// Stop ends the daemon.
type Stop struct {
	KillSessions bool `json:"kill_sessions,omitempty"`
	Restart      bool `json:"restart,omitempty" doc:"make the keeper start a new one"`
}

// Upgrade replaces keepers and daemon by another executable.
type Upgrade struct {
	Path string `json:"path" doc:"absolute path of the new executable"`
}

// Event is something that happened.
type Event struct {
	Seq     uint64         `json:"seq" doc:"increases by one, or by more after a daemon restart; for listening: that of the newest event. The newest 512 are kept for reconnecting clients (after, or Last-Event-ID)"`
	Kind    string         `json:"kind" enum:"listening,created,state,size,title,cwd,bell,notification,alt,progress,shell,command,input,history,quarantine,edited,removed,draft-changed,draft-committed,draft-discarded,job,respond,refused,approval,approval-answered,approval-gone,inbox,agent,lost,config,arrange,hook,port-open,port-closed,anomaly,data,screen,binary" doc:"data, screen, binary: only on request; job: a job ended; draft-changed: a draft has another number of changes; config: the configuration was reloaded; inbox: an entry was marked or a message recorded; arrange: viewers are asked to"`
	Session *Session       `json:"session,omitempty"`
	Job     *Job           `json:"job,omitempty" doc:"for job: the one that ended"`
	Answer  *RespondFiring `json:"answer,omitempty" doc:"for respond: the action of a rule"`
	Refused *Refused       `json:"refused,omitempty" doc:"for refused: the execution that was not allowed"`
	// Approval is the approval request.
	Approval *Approval    `json:"approval,omitempty" doc:"for approval, approval-answered and approval-gone"`
	Port     *Port        `json:"port,omitempty" doc:"for port-open and port-closed: the socket; of one check at most 16 of each session, session.ports has all"`
	Anomaly  *Anomaly     `json:"anomaly,omitempty" doc:"for anomaly: the line"`
	Arrange  *Arrange     `json:"arrange,omitempty" doc:"for arrange: the requested change of the viewers"`
	Hook     *HookFailure `json:"hook,omitempty" doc:"for hook: how a hook failed"`
	Draft    *DraftResult `json:"draft,omitempty" doc:"for draft-committed and draft-discarded: the result, with at most 100 paths"`
	Lost     uint64       `json:"lost,omitempty" doc:"for lost: number of missed events; absent: unknown, for example events of another daemon"`
	Count    int          `json:"count,omitempty" doc:"for bell: number of bells since the previous bell event"`
	Title    string       `json:"title,omitempty" doc:"for notification: its title"`
	Text     string       `json:"text,omitempty" doc:"for notification (OSC 9, 99, 777): its text"`
	Printed  *Range       `json:"printed,omitempty" doc:"for data: offsets of the output since the previous data event"`
	Version  uint64       `json:"version,omitempty" doc:"for screen: its version"`
	Binary   uint64       `json:"binary_bytes,omitempty" doc:"for binary: bytes so far that are not text"`
}

// Anomaly is the first line of a running command that earlier failures of it printed and its good runs did not.
type Anomaly struct {
	Command int    `json:"command,omitempty" doc:"number of the shell's command; absent: the session's program"`
	Job     string `json:"job,omitempty" doc:"id of the job that runs it"`
	Text    string `json:"text" doc:"the command"`
	Line    string `json:"line"`
	Offset  uint64 `json:"offset" doc:"output offset of the line"`
}

// ShortID returns the part of an id that users need to name a session or a job.
func ShortID(id string) string { return id[:min(8, len(id))] }

// RestartLabel is the label of sessions that are started again when they end by themselves: on-failure or always.
const RestartLabel = "longterm.restart"

// ProjectLabel labels a project's sessions with its directory, and prefixes their other project labels.
const ProjectLabel = "longterm.project"

// ProjectFromLabel has the output offset at which the running program started.
const ProjectFromLabel = ProjectLabel + ".from"

// KeptRunLabel marks, with the value KeptRun, the session of an ended command whose output is kept for a day.
const (
	KeptRunLabel = "longterm.kept"
	KeptRun      = "run"
)

// HookLabel labels sessions that hooks started; its value is the hook.
const HookLabel = "longterm.hook"

// HookEnv is a variable with the same value, for processes of hooks: sessions that they start get the label too.
const HookEnv = "LONGTERM_HOOK"

// OneLineLabel marks, with the value OneLine, a session that an agent's call created for one line. The line's job
// reports its end, and only the job has completions (store/migrations).
const (
	OneLineLabel = "longterm.mcp"
	OneLine      = "exec"
)
