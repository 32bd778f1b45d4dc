// Package api holds the requests and answers of the daemon's HTTP interface, and its
// errors. It is what both ends share and imports nothing that either of them is made
// of. The OpenAPI document is made from these types.
//
// Offsets count bytes of output from the session's beginning; times are RFC 3339;
// rows and columns are cells, 0-based.
package api

import (
	"time"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Version is the prefix of every path.
const Version = "/v1"

// Session describes a session.
type Session struct {
	Host      string            `json:"host,omitempty" doc:"in lists of several hosts: where it is, if not here"`
	ID        string            `json:"id" doc:"UUID, for ever the session's"`
	Name      string            `json:"name" doc:"unique among sessions"`
	State     string            `json:"state" enum:"running,exited,lost"`
	PID       int               `json:"pid" doc:"the session's process; 0 when there is none"`
	Cwd       string            `json:"cwd" doc:"working directory now, as far as known"`
	Command   string            `json:"command" doc:"what was started, quoted for a shell"`
	Argv      []string          `json:"argv"`
	Labels    map[string]string `json:"labels"`
	Cols      int               `json:"cols" doc:"width in cells"`
	Rows      int               `json:"rows" doc:"height in cells"`
	Size      string            `json:"size_policy" enum:"latest,largest,smallest,fixed" doc:"whose size it takes, of the clients that look at it"`
	Title     string            `json:"title,omitempty"`
	Engine    string            `json:"engine" doc:"emulator in use"`
	Keeper    string            `json:"keeper" doc:"placement key of the keeper that holds it"`
	Mode      string            `json:"mode" enum:"pty,pipe"`
	Why       string            `json:"mode_reason,omitempty" doc:"why the mode is not the one asked for"`
	Cgroup    *Cgroup           `json:"cgroup,omitempty" doc:"its own cgroup, where it has one"`
	Created   time.Time         `json:"created"`
	Ended     *time.Time        `json:"ended,omitempty"`
	ExitCode  *int              `json:"exit_code" doc:"null while it runs, when a signal ended it and when unknown"`
	Signal    string            `json:"signal,omitempty" doc:"the signal that ended it"`
	Stopped   bool              `json:"stopped,omitempty" doc:"it was ended by request, as by kill: its status, whatever it is, tells of no failure"`
	RestartAt *time.Time        `json:"restarts_at,omitempty" doc:"it has ended, and is started again then by its restart policy; past: somebody is asked first, or it starts; absent: it stays ended"`
	Duration  int64             `json:"duration_ms" doc:"how long it ran or has been running"`
	Usage     *Usage            `json:"usage,omitempty" doc:"what it used, once it ended"`
	Output    Range             `json:"output" doc:"offsets of the output kept"`
	Version   uint64            `json:"version" doc:"of the screen"`
	Alt       bool              `json:"alt,omitempty" doc:"a full-screen program is up"`
	Progress  *Progress         `json:"progress,omitempty"`
	Activity  *Activity         `json:"activity,omitempty" doc:"how the command that runs, or the newest one, gets on"`
	Needs     *Needs            `json:"needs_input,omitempty" doc:"the program in the foreground waits for input"`
	AgentIs   *AgentState       `json:"agent_state,omitempty" doc:"how the coding agent that runs in it gets on"`
	Shell     *Shell            `json:"shell,omitempty" doc:"what its shell is doing, where that can be known"`
	LastWrite *time.Time        `json:"last_output,omitempty" doc:"when it last printed"`
	Clients   int               `json:"clients" doc:"attached or watching clients"`
	History   string            `json:"history_error,omitempty" doc:"why history is not being written"`
	Temporary bool              `json:"temporary,omitempty" doc:"removed when it ends"`
	Sandbox   *Sandbox          `json:"sandbox,omitempty" doc:"what its programs are kept from; absent: nothing"`

	// Started is when its process was; a restored session was created before.
	Started time.Time `json:"started,omitzero" doc:"when its process was started"`
	// Left is what an ended session left behind.
	Left []int `json:"left_pids,omitempty" doc:"processes that an ended session started and that run on"`
	// Approvals are what keeps commands in it waiting.
	Approvals []string `json:"needs_approval,omitempty" doc:"ids of approvals that commands in it wait for"`
	Policy    string   `json:"policy,omitempty" doc:"rules that were asked for when it was started"`
	Agent     string   `json:"agent,omitempty" doc:"label of the agent that started it"`
	// Quarantine is set when its emulator, tracker or rules failed.
	// Executions is empty where they need not be judged.
	Executions   string    `json:"executions,omitempty" doc:"\"judged\": each program that is executed in it is; \"not judged: \" and why, where they should be; absent: they need not be"`
	RefusedCount int       `json:"refused_count,omitempty" doc:"executions in it that were not allowed"`
	Refused      []Refused `json:"refused,omitempty" doc:"the newest of those; not in lists"`
	Quarantine   string    `json:"quarantine,omitempty" doc:"why its output is only kept, and no longer looked at"`
}

// Shell is what a session's shell is doing.
type Shell struct {
	Phase   string    `json:"phase" enum:"prompt,running,unknown,ended" doc:"at its prompt, or running a command"`
	Quality string    `json:"quality" enum:"full,basic,none" doc:"how much is known: every mark; prompts and statuses; nothing"`
	Command string    `json:"command,omitempty" doc:"the command that runs"`
	N       int       `json:"n,omitempty" doc:"its number"`
	Since   time.Time `json:"since,omitzero" doc:"when the phase began"`
	Program string    `json:"program,omitempty" doc:"another shell that reads the terminal, whose commands are not followed"`
	// Incomplete says that the shell asks for the rest of a line.
	Incomplete bool `json:"incomplete,omitempty" doc:"the shell asks for the rest of a line"`
}

// Needs is input that a program waits for.
type Needs struct {
	Kind       string    `json:"kind" enum:"password,confirm,menu,text,screen,prompt" doc:"screen: a full-screen program is idle; prompt: a shell within the shell, or behind ssh, waits for a command: neither asks anything"`
	Confidence int       `json:"confidence" doc:"percent"`
	Reason     string    `json:"reason" doc:"why that is thought; at its end in quotes the words that ask, where there are any"`
	Since      time.Time `json:"since"`
	Prompt     bool      `json:"prompt,omitempty" doc:"it is the prompt of a program that takes commands (a REPL), which asks nothing"`
}

// Asks says that it is a question: prompts and idle screens are none.
func (n *Needs) Asks() bool {
	return n != nil && !n.Prompt && n.Kind != "screen" && n.Kind != "prompt"
}

// Usage is what a process used in its life.
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

// JudgedFile is a program's file as it was when it was judged; the zero value is none.
type JudgedFile struct {
	Path string // without links
	ID   string // tells it from another file, and from a changed one
	// OwnShell says that it is none of the system's shells.
	OwnShell bool
}

// NewSession says what to start.
type NewSession struct {
	Name string   `json:"name,omitempty" maxLength:"128" doc:"default: made from the command"`
	Argv []string `json:"argv,omitempty" doc:"default: the user's shell"`
	Line string   `json:"line,omitempty" doc:"a command line for the user's shell, instead of argv"`
	Cwd  string   `json:"cwd,omitempty" doc:"absolute; default: the home directory"`
	// GivenCwd is the directory as a person wrote it, where one did: clients of other hosts have to know.
	GivenCwd string `json:"-"`
	// Judged is the file of Argv[0] that was judged, as it was then; the daemon's own.
	Judged JudgedFile `json:"-"`
	Env    []string   `json:"env,omitempty" doc:"the whole environment, NAME=VALUE; default: the daemon's"`
	SetEnv []string   `json:"set_env,omitempty" doc:"additions to it"`

	EnvMode string   `json:"env_mode,omitempty" enum:"full,minimal,listed" doc:"what of the environment is passed on: all; what a program needs (HOME, PATH, LANG and the like); that and what shells.env_listed names; default: full, of an agent shells.agent_env"`
	EnvPass []string `json:"env_pass,omitempty" doc:"names of variables that are passed on besides, where not all are"`
	Umask   string   `json:"umask,omitempty" pattern:"^[0-7]{1,4}$" doc:"octal; default 022"`
	Cols    int      `json:"cols,omitempty" doc:"default 80"`
	Rows    int      `json:"rows,omitempty" doc:"default 24"`

	Labels   map[string]string `json:"labels,omitempty"`
	Engine   string            `json:"engine,omitempty" doc:"emulator; default: the best there is"`
	Plain    bool              `json:"plain,omitempty" doc:"start a shell without the integration that tells of its commands"`
	Isolated bool              `json:"isolated,omitempty" doc:"give the session a keeper of its own"`
	Pipe     bool              `json:"pipe,omitempty" doc:"pipes instead of a terminal, with stdout and stderr kept apart"`
	Stdin    bool              `json:"stdin,omitempty" doc:"with pipes: give it a standard input to type into, until eof; otherwise it reads nothing"`
	Limits   *Limits           `json:"limits,omitempty" doc:"of all its processes together; needs a cgroup v2"`
	Sandbox  string            `json:"sandbox,omitempty" maxLength:"64" doc:"profile of the sandbox to start it in; what cannot be held is an error"`
	// OnDifference takes the place of what the sandbox's profile says.
	OnDifference string `json:"on_difference,omitempty" enum:"deny,ask" doc:"with sandbox: hosts, and programs where the profile lists some, that are not listed are refused, or asked about; default: as the profile has it"`
	Observe      string `json:"observe,omitempty" maxLength:"4096" doc:"absolute path of a file that gets what the program reads, writes, executes and connects to; executions cannot be judged then"`

	Asking

	// PipeFallback is what run does.
	PipeFallback bool `json:"pipe_fallback,omitempty" doc:"use pipes when no terminal can be had"`

	AskID     string `json:"ask_id,omitempty" maxLength:"64" pattern:"^[0-9A-Za-z-]*$" doc:"made by the caller (a UUID): asked again with the same id and for the same, it is the session that was started, and an approval is asked for once; default: a new one"`
	Again     bool   `json:"again,omitempty" doc:"the call was made before with its ask_id, and its answer was not seen; a daemon that does not know ask_id for that refuses it"`
	Temporary bool   `json:"temporary,omitempty" doc:"remove the session when it ends and no client shows it"`
	Restore   string `json:"restore,omitempty" enum:"never,shell,command" doc:"what to start when the machine went down under it; default: shells.restore of the configuration, never"`
}

// Asking is how what is to be done stands to the rules.
type Asking struct {
	Policy     string `json:"policy,omitempty" maxLength:"64" doc:"judge by these rules too (a preset): they can only be stricter; of a new session: kept with it"`
	Yes        bool   `json:"yes,omitempty" doc:"do not ask: what would be asked about is allowed; what is denied stays so"`
	OnApproval string `json:"on_approval,omitempty" enum:"wait,return" doc:"what to do when a person has to be asked: wait for the answer (default), or answer at once, also later when a program that was started has to be allowed; ask again with the same id to wait"`
	Told       string `json:"told,omitempty" maxLength:"20" doc:"with on_approval return: the approval that the caller knows of; the answer comes with another one, or the end"`

	ApprovalTimeoutMS int64 `json:"approval_timeout_ms,omitempty" minimum:"0" doc:"of a line or a command: wait at most so long for an approval; then on_timeout counts: it is taken back, or stays in the background; default: no limit"`
}

// Restore starts a session's process again, in its last directory.
type Restore struct {
	Command bool     `json:"command,omitempty" doc:"run the session's command again"`
	Shell   bool     `json:"shell,omitempty" doc:"start the user's shell, whatever ran before"`
	Fresh   bool     `json:"fresh,omitempty" doc:"do not take up the conversation of the coding agent that ran in it; default: it is started with its flags to go on, and in a shell by a line"`
	Env     []string `json:"env,omitempty" doc:"the whole environment, NAME=VALUE; default: the daemon's; what the session was given comes on top"`
	// Judged is the file of the program that was judged, as it was then; the daemon's own.
	Judged JudgedFile `json:"-"`
}

// Limits bound what a session's processes use together. 0 is no limit.
type Limits struct {
	Memory int64   `json:"memory_bytes,omitempty" minimum:"0" doc:"beyond it the system kills one of them"`
	CPU    float64 `json:"cpus,omitempty" minimum:"0" doc:"CPUs they get, as in 1.5"`
	PIDs   int     `json:"pids,omitempty" minimum:"0" doc:"processes and threads; starting another one fails"`
}

// Cgroup is what a session's processes use together. A number that the system does not
// tell is absent.
type Cgroup struct {
	Path   string  `json:"path" doc:"directory"`
	Memory *int64  `json:"memory_bytes,omitempty"`
	CPUMS  *int64  `json:"cpu_ms,omitempty" doc:"used since it began"`
	PIDs   *int64  `json:"pids,omitempty" doc:"processes and threads"`
	Limits *Limits `json:"limits,omitempty" doc:"in force"`
}

// Edit changes a session's name and labels, and whose size it takes. A label with an
// empty value is removed.
type Edit struct {
	Name   *string           `json:"name,omitempty" minLength:"1" maxLength:"128"`
	Labels map[string]string `json:"labels,omitempty"`
	Size   string            `json:"size_policy,omitempty" enum:"latest,largest,smallest,fixed" doc:"of the client active last, the largest, the smallest; fixed: clients have no say"`
}

// Input is something to type. Exactly one of Text, Keys, Paste and Data is given;
// Enter presses that key afterwards.
type Input struct {
	Text  string   `json:"text,omitempty" doc:"typed as it is"`
	Keys  []string `json:"keys,omitempty" doc:"key names, as in Enter, C-c, Up, F5"`
	Paste *string  `json:"paste,omitempty" doc:"pasted, bracketed when the program asked for it"`
	Data  []byte   `json:"data,omitempty" doc:"raw bytes, base64"`
	Enter bool     `json:"enter,omitempty"`
	EOF   bool     `json:"eof,omitempty" doc:"afterwards close the standard input of a session on pipes"`

	ID     string `json:"id,omitempty" maxLength:"64" doc:"makes it safe to repeat the request: input with the id of input that was typed is not typed again"`
	Secret bool   `json:"secret,omitempty" doc:"refused while the terminal shows what is typed, and not recorded"`
	Auto   bool   `json:"auto,omitempty" doc:"a program types it by itself: a line that it ends is not told as what a person ran"`
	Force  bool   `json:"force,omitempty" doc:"type it even if a person has begun a line; of a secret: even if it is shown"`
	// FreshLine is for what answers a question.
	FreshLine bool `json:"fresh_line,omitempty" doc:"refuse while a line is half typed there, by whomever: it would be appended"`
	// ProveMS and Submit ask what became of it.
	ProveMS int64  `json:"prove_ms,omitempty" minimum:"0" doc:"look for at most this long whether the program took it: see taken"`
	Submit  string `json:"submit,omitempty" enum:"always,agent" doc:"have the program take text as one message: pasted, then Enter once it is drawn, both once; agent: if a coding agent runs and enter is set, typed as ever otherwise"`

	ExpectVersion uint64 `json:"expect_version,omitempty" doc:"refuse when the screen is not at this version any more"`

	OnApproval string `json:"on_approval,omitempty" enum:"wait,return" doc:"what to do when a person has to be asked about what an agent types: wait for the answer (default), or answer at once; ask again with the same id to wait"`
}

// Typed answers Input: everything was taken by the terminal.
type Typed struct {
	Cursor uint64 `json:"cursor" doc:"offset after which the program's answer lies"`
	Echo   string `json:"echo" enum:"on,off,app" doc:"who echoes it: on: the terminal; off: none; app: the program, if it chooses to"`
	Taken  *Taken `json:"taken,omitempty" doc:"what became of it, where that was asked for"`
	Again  bool   `json:"again,omitempty" doc:"an earlier request with this id had typed it; this one typed nothing, and taken is absent"`
}

// Taken is what became of input. What cannot be known is unknown.
type Taken struct {
	Written   bool   `json:"written" doc:"the terminal has it"`
	Read      string `json:"read" enum:"yes,no,unknown" doc:"the program read it: nothing waits in the terminal's queue"`
	Echoed    string `json:"echoed" enum:"yes,no,unknown" doc:"its text is on the screen"`
	Drawn     string `json:"drawn" enum:"yes,no,unknown" doc:"the screen changed after it"`
	Submitted string `json:"submitted,omitempty" enum:"yes,no,unknown" doc:"of a message: it is not in the program's line any more, or the agent works; no: Enter was not pressed, or changed nothing"`
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

// Kill asks for an end by the kill ladder: interrupt, terminate, kill.
type Kill struct {
	GraceMS int `json:"grace_ms,omitempty" doc:"time that each step of the kill ladder gets; default: exec.grace of the configuration (10000), for agents exec.agent_grace (2000)"`
}

// KillSeveral asks for that of several sessions at the same time.
type KillSeveral struct {
	Kill
	Sessions []string `json:"sessions,omitempty" doc:"ids or names; if one of them is not there, nothing is ended"`
	All      bool     `json:"all,omitempty" doc:"all that are listed"`
	Labels   []string `json:"labels,omitempty" doc:"all with these labels, NAME or NAME=VALUE"`
}

// Killed says which sessions ended.
type Killed struct {
	Ended  []Session `json:"ended"`
	Failed []Failed  `json:"failed,omitempty" doc:"those that did not, and why"`
}

// Output is a piece of a session's output.
type Output struct {
	Data []byte `json:"data" doc:"base64"`
	From uint64 `json:"from" doc:"offset of the first byte"`
	Next uint64 `json:"next" doc:"offset to read on from"`
	Gap  uint64 `json:"gap_bytes" doc:"bytes lost between the offset asked for and from"`
	End  bool   `json:"end" doc:"the session has ended and nothing comes after this"`
	// Streams is set for sessions on pipes.
	Streams []StreamRun `json:"streams,omitempty" doc:"of a session on pipes: what data is, in order"`
}

// OutputText is a piece of a session's output as text, within a budget.
type OutputText struct {
	Text        string   `json:"text" doc:"plain text; where something is left out a note says how much, and what reads it"`
	From        uint64   `json:"from" doc:"offset of the first byte"`
	Next        uint64   `json:"next" doc:"offset to read on from"`
	Gap         uint64   `json:"gap_bytes,omitempty" doc:"bytes lost between the offset asked for and from"`
	End         bool     `json:"end" doc:"the session has ended and nothing comes after this"`
	Truncated   bool     `json:"truncated,omitempty" doc:"text is not all there was"`
	Omitted     *Omitted `json:"omitted,omitempty" doc:"what of it is left out"`
	Binary      bool     `json:"binary,omitempty" doc:"some of it was not text and is left out; the raw output has it"`
	BinaryBytes uint64   `json:"binary_bytes,omitempty"`
	Note        string   `json:"note,omitempty" doc:"of a transcript: why it may tell little"`
}

// StreamRun is a piece of output that came from one place.
type StreamRun struct {
	Stream string `json:"stream" enum:"stdout,stderr,merged" doc:"merged: they were not kept apart"`
	Bytes  int    `json:"bytes"`
}

// Command is a line that a session's shell ran.
type Command struct {
	Session  string             `json:"session" doc:"id"`
	Name     string             `json:"name" doc:"of the session"`
	N        int                `json:"n" doc:"number in its session, from 1"`
	Text     string             `json:"text"`
	State    string             `json:"state" enum:"running,done,lost" doc:"lost: its end was not seen"`
	Quality  string             `json:"quality" enum:"full,basic,none" doc:"how much is known of it"`
	ExitCode *int               `json:"exit_code" doc:"null while it runs and when unknown"`
	Signal   string             `json:"signal,omitempty"`
	Started  time.Time          `json:"started,omitzero"`
	Duration int64              `json:"duration_ms"`
	Cwd      string             `json:"cwd" doc:"before"`
	CwdAfter string             `json:"cwd_after,omitempty"`
	Env      map[string]*string `json:"env_changes,omitempty" doc:"variables it changed in the shell; null: unset; secrets are redacted"`
	Output   Range              `json:"output_range" doc:"offsets of what it printed; while it runs, so far"`
	Activity *Activity          `json:"activity,omitempty" doc:"how it gets on; kept of the session's newest command"`
	By       string             `json:"by,omitempty" doc:"who gave it to the shell, where that was not the user of this machine at the keys: exec, agent:LABEL, program, token:NAME (a login of the page, a link that was shared), or host:HOST"`
}

// Exec is a line to run in a session's shell.
type Exec struct {
	Call
	Line    string        `json:"line" doc:"typed as it is, several lines too"`
	Wait    bool          `json:"wait,omitempty" doc:"wait for the prompt when the shell runs something, instead of refusing"`
	Respond *RespondRules `json:"respond,omitempty" doc:"rules that answer what the line asks, until it ends"`
	Asking
	History bool `json:"history,omitempty" doc:"have the shell record the line in its user's history, as what is typed; default: shells.history of the configuration (false)"`
	// Foreign types the line into the program that the shell runs.
	Sandbox      string `json:"sandbox,omitempty" maxLength:"64" doc:"refuse unless the session was started in this sandbox profile, or a stricter one"`
	OnDifference string `json:"on_difference,omitempty" enum:"deny,ask" doc:"refuse unless the session's sandbox does so with what its profile does not list"`
	Foreign      bool   `json:"foreign,omitempty" doc:"when the shell runs something, give the line to that program where it waits for input (a REPL, ssh); the exit code is null. A session that is no shell is always given lines so"`
}

// Call is how a line or a command is waited for, and what its answer holds.
type Call struct {
	Job           string `json:"job,omitempty" maxLength:"64" pattern:"^[0-9A-Za-z-]*$" doc:"id of the job, made by the caller (a UUID): asked again with the same id, nothing is run twice; default: a new one"`
	TimeoutMS     *int64 `json:"timeout_ms,omitempty" doc:"any positive number; 0: no limit; default for agents: exec.timeout of the configuration (60000), in the background 86400000; for people and scripts: no limit"`
	IdleTimeoutMS *int64 `json:"idle_timeout_ms,omitempty" doc:"ends after so long without output, any positive number; 0: no limit; default for agents: exec.idle_timeout of the configuration (300000), in the background 0; for people and scripts: no limit"`
	OnTimeout     string `json:"on_timeout,omitempty" enum:"background,kill" doc:"leave it running (a line's default), or end it and all it started (a command's default)"`
	YieldMS       int64  `json:"yield_ms,omitempty" doc:"answer after so long with what there is; it goes on in the background"`
	Background    bool   `json:"background,omitempty" doc:"answer at once"`
	OnInput       string `json:"on_input,omitempty" enum:"wait,return" doc:"what to do when it waits for input: wait on (default), or answer; it goes on"`
	Parse         bool   `json:"parse,omitempty" doc:"read the output as what the command prints: problems, tests, listings"`
	MaxOutput     int    `json:"max_output,omitempty" minimum:"0" maximum:"16777216" doc:"bytes of output in the answer, head and tail; default for agents: exec.max_output of the configuration (16384); for people and scripts: 16777216"`
	MaxLine       int    `json:"max_line,omitempty" minimum:"0" maximum:"16777216" doc:"bytes of one line in the answer, head and tail; default: no limit of its own"`
	Digest        bool   `json:"digest,omitempty" doc:"within max_output keep the first failure, errors, warnings and the end before the rest, instead of head and tail, and a few only of lines that are alike but for their numbers; of output of terminals"`
}

// Run is a command to run in a session of its own.
type Run struct {
	Call
	NewSession
	Warm  bool `json:"warm,omitempty" doc:"run line in a warm shell: one that was started before in this directory and environment, and is used once"`
	Keep  bool `json:"keep,omitempty" doc:"keep the session; else it is removed when the answer was given, or later when the answer has not all of its output"`
	Start bool `json:"start,omitempty" doc:"answer at once, with the timeouts of the foreground; the caller asks for the job's end"`
}

// Batch are lines to run one after the other in a session's shell.
type Batch struct {
	Call
	Asking
	Lines        []string `json:"lines" minItems:"1" maxItems:"1000"`
	Wait         bool     `json:"wait,omitempty" doc:"wait for the prompt when the shell runs something, instead of refusing"`
	OnDifference string   `json:"on_difference,omitempty" enum:"deny,ask" doc:"refuse unless the session's sandbox does so with what its profile does not list"`
	StopOnError  bool     `json:"stop_on_error,omitempty" doc:"leave the rest out after a line that failed"`
	Sandbox      string   `json:"sandbox,omitempty" maxLength:"64" doc:"refuse unless the session was started in this sandbox profile, or a stricter one"`
}

// Batched answers Batch: a result for each line that was run. One that did not end is the
// last one.
type Batched struct {
	Results []Result `json:"results"`
	Left    int      `json:"left_out,omitempty" doc:"lines that were not run"`
}

// Job is a line or command that runs or ran under the timeouts of its caller.
type Job struct {
	ID         string     `json:"id"`
	Session    string     `json:"session" doc:"id of its session"`
	Name       string     `json:"name,omitempty" doc:"of its session, while there is one"`
	Line       string     `json:"line"`
	Agent      string     `json:"agent,omitempty" doc:"label of the agent that it was run for; absent: a person, and in lists"`
	State      string     `json:"state" enum:"waiting,needs_approval,running,needs_input,done" doc:"needs_input: it runs and waits for input; done: outcome and result have how it ended"`
	Needs      string     `json:"needs_input,omitempty" enum:"password,confirm,menu,text,screen,prompt" doc:"the input that it waits for"`
	Outcome    string     `json:"outcome,omitempty" doc:"of one that is done: the state of its result, as exited, killed or refused"`
	Approval   string     `json:"approval,omitempty" doc:"that it waits for"`
	Background bool       `json:"in_background" doc:"no caller waits for it"`
	Started    time.Time  `json:"started,omitzero"`
	Ended      *time.Time `json:"ended,omitempty"`
	DurationMS int64      `json:"duration_ms"`
	Command    int        `json:"command,omitempty" doc:"its number in the session"`
	Result     *Result    `json:"result,omitempty" doc:"once it ended; in a list without what it printed"`
}

// JobStop ends a job by the kill ladder.
type JobStop struct {
	Next    bool `json:"next,omitempty" doc:"of a job that is being ended: continue with the next step of the kill ladder at once"`
	GraceMS int  `json:"grace_ms,omitempty" doc:"time that each step of the kill ladder gets; default: exec.grace of the configuration (10000), for agents exec.agent_grace (2000)"`
}

// Meanwhile is how many bytes of lines that are alike but for their numbers a digest tells of what goes on and asks nothing:
// that it gets on is all that they say, and more of them follow.
const Meanwhile = 400

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

// Result is how a line or command went (R2).
type Result struct {
	Job           string              `json:"job,omitempty" doc:"its id, to ask for it again"`
	InBackground  bool                `json:"in_background,omitempty" doc:"it goes on without the caller"`
	Output        string              `json:"output" doc:"plain text; all of it is in output_range"`
	State         string              `json:"state" enum:"exited,signalled,killed,running,needs_input,needs_approval,denied,refused,waiting,ended,lost" doc:"killed: it was ended by a timeout or by request; needs_input: it waits for input; needs_approval: a person has to allow it; denied: it was not allowed, and not run; refused: the shell did not take it (it is incomplete, say), and nothing was run; ended: the shell itself is gone; waiting: for the prompt; lost: its end was not seen"`
	NeedsApproval bool                `json:"needs_approval,omitempty" doc:"a person has to allow it"`
	Approval      string              `json:"approval,omitempty" doc:"that it waits for, or that allowed or rejected it"`
	Policy        *Judgement          `json:"policy,omitempty" doc:"why it was not allowed, or has to be"`
	Outcome       string              `json:"outcome,omitempty" enum:"stable" doc:"stable: a program that tells nothing of its commands rests and waits for input again; that is all there is to know, and exit_code is null"`
	Needs         string              `json:"needs_input,omitempty" enum:"password,confirm,menu,text,screen,prompt"`
	ExitCode      *int                `json:"exit_code" doc:"null when it runs on, when a signal ended it and when unknown"`
	ExitUnknown   string              `json:"exit_unknown,omitempty" enum:"none,not_reported" doc:"why exit_code is null although the line ended. none: a program without exit statuses, such as a REPL, read it. not_reported: a shell or another program read it whose status longterm cannot see (ssh, a shell without integration); the line may have failed"`
	Signal        string              `json:"signal,omitempty" doc:"the signal that ended it, where the kernel said so; a shell tells only a code (128 and the signal's number, or an exit code like any other)"`
	Error         string              `json:"error,omitempty"`
	Aborted       bool                `json:"aborted"`
	TimedOut      string              `json:"timed_out" enum:"none,wall,idle"`
	DurationMS    int64               `json:"duration_ms"`
	Message       string              `json:"message,omitempty" doc:"how it went, in a line; absent: it exited with 0"`
	Hint          string              `json:"hint,omitempty" doc:"what to do instead"`
	Cleared       string              `json:"cleared,omitempty" doc:"of a line: what somebody had typed at the prompt before and not ended, which was cleared; … where it is not known"`
	PID           int                 `json:"pid" doc:"of the session"`
	PGID          int                 `json:"pgid" doc:"process group: of what runs in the foreground, else of the session's process; 0: not known"`
	Background    []int               `json:"background_pids,omitempty" doc:"processes it started that run on"`
	Mode          string              `json:"mode" enum:"pty,pipe"`
	ModeReason    string              `json:"mode_reason,omitempty" doc:"why the mode is not the one asked for"`
	Sandbox       *Sandbox            `json:"sandbox,omitempty" doc:"what it was kept from; absent: nothing"`
	Executions    string              `json:"executions,omitempty" doc:"\"judged\": each program that it executed was; \"not judged: \" and why; absent: they need not be"`
	Refused       []Refused           `json:"refused,omitempty" doc:"programs that were not allowed to be executed in the session while it ran"`
	Stdout        *string             `json:"stdout,omitempty" doc:"on pipes, where the streams were kept apart; output has both in the order they came"`
	Stderr        *string             `json:"stderr,omitempty"`
	Merged        bool                `json:"merged,omitempty" doc:"on pipes: the streams were not kept apart"`
	Binary        bool                `json:"binary,omitempty" doc:"some of it was not text and is left out; the history has it"`
	BinaryBytes   uint64              `json:"binary_bytes,omitempty"`
	Truncated     bool                `json:"truncated,omitempty" doc:"output is not all there was"`
	Omitted       *Omitted            `json:"omitted,omitempty" doc:"what of it is left out"`
	Session       string              `json:"session"`
	Command       int                 `json:"command,omitempty" doc:"its number in the session"`
	Quality       string              `json:"quality,omitempty"`
	Range         Range               `json:"output_range" doc:"offsets of what it printed; while it runs, so far: end is a cursor"`
	CwdBefore     string              `json:"cwd_before,omitempty"`
	CwdAfter      string              `json:"cwd_after,omitempty" doc:"while it runs: now; absent when it is not known, as of a command of its own that has ended; guess may have it"`
	Env           map[string]*string  `json:"env_changes,omitempty" doc:"null: unset"`
	Guess         *Guess              `json:"guess,omitempty" doc:"what the lines given so far make of a shell that tells nothing of itself (ssh, say), or a command's line of its directory at its end"`
	Parsed        *diagnostics.Result `json:"parsed,omitempty"`
	Answers       []RespondFiring     `json:"answers,omitempty" doc:"what the rules given with the line did"`
	Unused        []string            `json:"unused_rules,omitempty" doc:"after a timeout: the patterns of the rules given with it that matched nothing"`
}

// Omitted is what a text within a budget leaves out. It is counted as text (of more than
// 64 MiB of output, what is in the middle as it was printed).
type Omitted struct {
	Bytes     int64  `json:"bytes"`
	Lines     int    `json:"lines" doc:"left out at least partly, between head and tail"`
	LongLines int    `json:"long_lines,omitempty" doc:"lines that were shortened, as max_line asks for"`
	Start     uint64 `json:"start,omitempty" doc:"offsets of the output between head and tail; output reads it"`
	End       uint64 `json:"end,omitempty"`
	Read      string `json:"read,omitempty" doc:"the command that prints it, where the text had no room to say so"`
}

// Guess is what a shell that tells nothing of itself may be like, from the lines it was
// given alone.
type Guess struct {
	Cwd        string             `json:"cwd,omitempty"`
	Env        map[string]*string `json:"env,omitempty" doc:"variables that were exported; null: unset"`
	Confidence string             `json:"confidence" enum:"likely,doubtful" doc:"doubtful: something may have happened that cannot be read from the lines"`
}

// Environment is what a session's program exports.
type Environment struct {
	Source string            `json:"source" enum:"shell,guess,start" doc:"shell: as of its newest prompt; guess: what a shell that tells nothing of itself printed of it, and the lines given since; start: what the program was started with"`
	Env    map[string]string `json:"env" doc:"values of secrets are redacted"`
}

// Found answers a search.
type Found struct {
	Hits []Hit `json:"hits" doc:"newest first"`
	// Truncated says that the search stopped early; next goes on.
	Truncated bool   `json:"truncated,omitempty" doc:"it was stopped early: the pattern needs no fixed text; go on with next"`
	Next      string `json:"next,omitempty" doc:"for before, to go on; absent: there is no more"`
	// Behind and Note are set by older daemons only, which did not search the newest output.
	Behind uint64 `json:"behind_bytes,omitempty" doc:"how much was printed last, in bytes, that is not searched yet: search again in a moment"`
	Note   string `json:"note,omitempty" doc:"the same in words"`
}

// Hit is a line of output that was searched for.
type Hit struct {
	Session string    `json:"session" doc:"id"`
	Name    string    `json:"name" doc:"of the session"`
	From    uint64    `json:"from" doc:"offset of the line; screen and output take it"`
	To      uint64    `json:"to"`
	Time    time.Time `json:"time" doc:"when it was printed"`
	Command int       `json:"command,omitempty" doc:"number of the command that printed it"`
	Text    string    `json:"text" doc:"the line, or what is around the first match"`
	Start   int       `json:"start,omitempty" doc:"where text begins in the line, bytes"`
	Cut     bool      `json:"cut,omitempty" doc:"text is not all of the line"`
	Matches [][2]int  `json:"matches" doc:"ranges of text that match, bytes"`
}

// Prune says what history may take; 0 is no limit.
type Prune struct {
	SessionBytes int64 `json:"session_bytes,omitempty" doc:"on disk, of one session: the oldest output goes"`
	SessionAgeMS int64 `json:"session_age_ms,omitempty" doc:"of output"`
	TotalBytes   int64 `json:"total_bytes,omitempty" doc:"on disk, of all: ended sessions go first, the oldest first"`
	Dead         int   `json:"dead,omitempty" doc:"ended sessions"`
	DeadAgeMS    int64 `json:"dead_age_ms,omitempty" doc:"since they ended"`
}

// Pruned says what was dropped.
type Pruned struct {
	Removed []string `json:"removed" doc:"names of sessions that were removed"`
	Cut     []string `json:"cut" doc:"names of sessions that lost their oldest output"`
	Bytes   int64    `json:"bytes" doc:"freed on disk"`
}

// Record is an entry of a session's history.
type Record struct {
	Kind   string    `json:"kind" enum:"screen,output,resize,exit,gap,end" doc:"screen: first of all, the screen to begin with; end: last of all"`
	Offset uint64    `json:"offset" doc:"output bytes before it"`
	Time   time.Time `json:"time,omitzero" doc:"absent when unknown"`
	Data   []byte    `json:"data,omitempty" doc:"base64; of output: what was printed; of screen: ANSI sequences that draw it"`
	Cols   int       `json:"cols,omitempty" doc:"of screen and resize: the size from here on, cells"`
	Rows   int       `json:"rows,omitempty"`
	Exit   *Exit     `json:"exit,omitempty"`
	Lost   uint64    `json:"lost,omitempty" doc:"of gap: bytes that were printed and are not kept"`

	Streams []StreamRun `json:"streams,omitempty" doc:"of output of a session on pipes: what data is, in order"`
}

// Exit is how a program ended.
type Exit struct {
	ExitCode *int   `json:"exit_code" doc:"null when a signal ended it"`
	Signal   string `json:"signal,omitempty"`
	Usage    Usage  `json:"usage"`
}

// Wait says what to wait for.
type Wait struct {
	Conds     []Condition `json:"conditions" minItems:"1"`
	All       bool        `json:"all,omitempty" doc:"all conditions instead of any"`
	Since     *uint64     `json:"since,omitempty" doc:"output offset; default: since something was last typed"`
	TimeoutMS int64       `json:"timeout_ms,omitempty" doc:"default: no limit; for agents exec.timeout of the configuration (60000); -1: no limit"`
	// Input is typed first, in the same step: nothing of its answer is missed.
	Input *Input `json:"input,omitempty"`
}

// Condition is one thing to wait for.
type Condition struct {
	Kind    string `json:"kind" enum:"text,regexp,gone,prompt,command,exit,quiet,input,fullscreen,title,bell,progress,cursor,agent"`
	Text    string `json:"text,omitempty" doc:"for text, gone and title; for input a kind: password, confirm, menu, text or screen; for agent a state: working, needs_input, needs_approval, done, idle (done, too) or unknown, else any in which it waits for its person"`
	Pattern string `json:"pattern,omitempty" doc:"RE2, for regexp and gone"`
	QuietMS int64  `json:"quiet_ms,omitempty" doc:"for quiet; default 1000"`
	Off     bool   `json:"off,omitempty" doc:"for fullscreen: none is up"`
	Percent int    `json:"percent,omitempty" doc:"for progress: at least; default 100"`
	Row     *int   `json:"row,omitempty" doc:"for cursor, 0-based; absent: any"`
	Col     *int   `json:"col,omitempty" doc:"for cursor, 0-based; absent: any"`
}

// Waited is a wait's result.
type Waited struct {
	Outcome string  `json:"outcome" enum:"fired,timeout,ended" doc:"ended: the session has ended, and what has not held never will"`
	Fired   []Fired `json:"fired"`
	Session Session `json:"session"`
	Version uint64  `json:"version" doc:"of the screen"`
	Cursor  uint64  `json:"cursor" doc:"output offset: the next since"`
}

// Fired is a condition that came true.
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
	Restarts  int       `json:"restarts" doc:"times the keeper had to restart the daemon"`
	Audit     string    `json:"audit,omitempty" doc:"NUMBER:HASH of the newest audit record that the daemon has written"`
	Notices   []string  `json:"notices" doc:"what went wrong at the start and was repaired"`
	// Goroutines is for looking for leaks.
	Goroutines int `json:"goroutines,omitempty" doc:"of the daemon"`

	Webhooks []Webhook `json:"webhooks,omitempty" doc:"addresses that notices were posted to since the daemon began"`

	Config Configuration `json:"config"`
	HTTP   string        `json:"http,omitempty" doc:"address on which the API is served to who shows a token; absent: none"`
	Rules  RuleFile      `json:"rules" doc:"the user's file of rules, policy.toml"`
	Caller Caller        `json:"caller" doc:"who asks, as the daemon sees it"`
}

// Webhook is how posting to an address gets on. Addresses of one host are told apart by nothing: they are passwords.
type Webhook struct {
	Host    string     `json:"host"`
	Waiting int        `json:"waiting" doc:"notices that are posted later"`
	LeftOut int        `json:"left_out,omitempty" doc:"dropped since the last one that was delivered: too many, too old, or refused"`
	Failing string     `json:"failing,omitempty" doc:"why the last attempt failed; absent: it did not"`
	Since   *time.Time `json:"since,omitempty" doc:"of the first attempt that failed since one that did not"`
	Told    *time.Time `json:"told,omitempty" doc:"of the last that was delivered"`
}

// Caller is who asks, by the process at the other end of the connection and by the label that it gives.
type Caller struct {
	Agent   string `json:"agent,omitempty" doc:"label of the agent; empty: a person"`
	Policy  string `json:"policy,omitempty" doc:"rules of the session that the caller runs in"`
	Session string `json:"session,omitempty" doc:"id of the session that it runs in, where it is not a person's"`
	Held    bool   `json:"held,omitempty" doc:"it runs in an agent's session, or in one with rules: what is for a person to do is refused"`
}

// NoPerson is the refusal of what is for a person to do.
func (c Caller) NoPerson(what string) *Error {
	where := "a session with rules of its own (" + c.Policy + ")"
	if c.Agent != "" {
		where = "the session of an agent (" + c.Agent + ")"
	}
	return Errorf(CodeDenied, "%s is for a person to do, not for what runs in %s", what, where).
		WithHint("a person does it, from a terminal that no agent works in")
}

// RuleFile says what became of the user's file of rules.
type RuleFile struct {
	File     string   `json:"file" doc:"where it is looked for"`
	Using    string   `json:"using" enum:"file,kept,none,broken" doc:"kept: the last one that was in order; broken: none ever was, all but reading is asked about"`
	Rules    int      `json:"rules" doc:"how many are in effect"`
	Problems []string `json:"problems" doc:"why the file is not taken"`
}

// Configuration says which configuration is in effect.
type Configuration struct {
	File     string    `json:"file" doc:"where it is looked for"`
	Using    string    `json:"using" enum:"file,kept,defaults" doc:"kept: the last one that was in order"`
	Loaded   time.Time `json:"loaded"`
	Problems []string  `json:"problems" doc:"why the file is not taken"`
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
	Restart      bool `json:"restart,omitempty" doc:"have the keeper start a new one"`
}

// Upgrade replaces keepers and daemon by another executable.
type Upgrade struct {
	Path string `json:"path" doc:"absolute path of the new executable"`
}

// Event is something that happened.
type Event struct {
	Seq     uint64         `json:"seq" doc:"grows by one, from daemon to daemon by more; of listening: the newest before. The newest 512 are kept for who comes again (after, or Last-Event-ID)"`
	Kind    string         `json:"kind" enum:"listening,created,state,size,title,cwd,bell,notification,alt,progress,shell,command,input,history,quarantine,edited,removed,job,respond,refused,approval,approval-answered,approval-gone,agent,lost,config,arrange,hook,data,screen,binary" doc:"data, screen, binary: only when they were asked for; job: a job ended; config: the configuration was read anew; arrange: viewers are asked to"`
	Session *Session       `json:"session,omitempty"`
	Job     *Job           `json:"job,omitempty" doc:"for job: the one that ended"`
	Answer  *RespondFiring `json:"answer,omitempty" doc:"for respond: what a rule did"`
	Refused *Refused       `json:"refused,omitempty" doc:"for refused: the execution that was not allowed"`
	// Approval is what a person is asked for.
	Approval *Approval    `json:"approval,omitempty" doc:"for approval (asked), approval-answered and approval-gone"`
	Arrange  *Arrange     `json:"arrange,omitempty" doc:"for arrange: what viewers are to change"`
	Hook     *HookFailure `json:"hook,omitempty" doc:"for hook: how a hook failed"`
	Lost     uint64       `json:"lost,omitempty" doc:"for lost: events this listener missed, by being slow or away; absent: it is not known how many, as of another daemon's"`
	Count    int          `json:"count,omitempty" doc:"for bell: how often it rang since the last such event"`
	Title    string       `json:"title,omitempty" doc:"for notification: its title"`
	Text     string       `json:"text,omitempty" doc:"for notification (OSC 9, 99, 777): its text"`
	Printed  *Range       `json:"printed,omitempty" doc:"for data: offsets of what was printed since the last such event"`
	Version  uint64       `json:"version,omitempty" doc:"for screen: its version"`
	Binary   uint64       `json:"binary_bytes,omitempty" doc:"for binary: bytes so far that are not text"`
}

// ShortID is as much of an id as people need to name a session or a job.
func ShortID(id string) string { return id[:min(8, len(id))] }

// RestartLabel is the label of sessions that are started again when they end by themselves: on-failure or always.
const RestartLabel = "longterm.restart"

// ProjectLabel is the label of a project's sessions, with its directory, and what their other labels begin with.
const ProjectLabel = "longterm.project"

// ProjectFromLabel has the output offset at which the program that runs began.
const ProjectFromLabel = ProjectLabel + ".from"

// KeptRunLabel marks, with the value KeptRun, the session of an ended command whose output is kept for a day.
const (
	KeptRunLabel = "longterm.kept"
	KeptRun      = "run"
)

// HookLabel is a label of what hooks run; its value is the hook.
const HookLabel = "longterm.hook"

// HookEnv is a variable with the same value, for what hooks run: what that starts has the label, too.
const HookEnv = "LONGTERM_HOOK"

// OneLineLabel marks, with the value OneLine, a session that an agent's call made for one line: the line's job tells of its end,
// and its completions are the job's alone (store/migrations).
const (
	OneLineLabel = "longterm.mcp"
	OneLine      = "exec"
)
