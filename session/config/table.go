package config

import (
	"math"
	"time"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// Kind is the type of a value.
type Kind uint8

// Kinds. Bytes and durations are texts with a unit, as in "2GiB" and "90d".
const (
	Bool Kind = iota
	Int
	Bytes
	Duration
	Text
	Choice // one of Values
	Chord  // a control key and a second key, as in "C-a d"; empty: none
	Keys   // name of a key, as in "C-Space"
	List   // texts
)

var kindNames = [...]string{"true or false", "number", "size", "time", "text", "one of", "control key and key", "key", "list of texts"}

func (k Kind) String() string { return kindNames[k] }

// When states when a changed value takes effect without a restart.
type When string

// Times a change takes effect.
const (
	AtOnce      When = "at once"
	NextUse     When = "next use"     // the next attach, viewer, exec …
	NewSessions When = "new sessions" // existing sessions are unchanged
)

// KeySpec describes a key.
type KeySpec struct {
	Key      string // section.name
	Kind     Kind
	Default  string // in the form of `longterm config set`; of a List: words
	Min, Max int64  // of Int; of Bytes in bytes; of Duration in nanoseconds
	Values   []string
	Env      string // variable that overrides it
	Flag     string // flag that overrides it, with its verb
	When     When
	Help     string
	field    func(*Settings) any // pointer to its field: bool, int, int64, Duration, string or []string
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// engines equals session.EngineNames; a test of the daemon checks that.
var engines = []string{"native", "vt10x"}

// presets equals those of session/policy; a test of the gateway checks that.
var presets = []string{"hard", "build-draft", "build", "readonly", "listed", "off"}

var sizePolicies = []string{"latest", "largest", "smallest", "fixed", "none"}

// table has every key except those of [keys], [themes.NAME], [[matchers]] and [[hooks]], whose names users choose.
var table = []KeySpec{
	{Key: "view.prefix", Kind: Keys, Default: "C-Space", Env: "LONGTERM_PREFIX", Flag: "view --prefix", When: AtOnce, Help: "prefix key of the viewer's commands", field: func(s *Settings) any { return &s.View.Prefix }},
	{Key: "view.keys", Kind: Choice, Default: "longterm", Values: keymap.PresetNames(), Flag: "view --keys", When: AtOnce, Help: "key preset of the viewer: its own, tmux's (copy mode of vi or emacs by $VISUAL or $EDITOR), or zellij's; [keys] changes single keys. With tmux's and zellij's, a prefix of C-Space means C-b", field: func(s *Settings) any { return &s.View.Keys }},
	{Key: "view.repeat", Kind: Duration, Default: "500ms", Max: int64(10 * time.Second), When: AtOnce, Help: "with tmux's keys, how long pane and resize keys repeat without the prefix; 0: never", field: func(s *Settings) any { return &s.View.Repeat }},
	{Key: "view.theme", Kind: Text, Default: "auto", Env: "LONGTERM_THEME", Flag: "view --theme", When: AtOnce, Help: "theme of the viewer: auto (as it was last, or what suits the terminal), a built-in one, or NAME of [themes.NAME]", field: func(s *Settings) any { return &s.View.Theme }},
	{Key: "view.frames", Kind: Bool, Default: "false", When: AtOnce, Help: "draw a border around each pane, with its title in it", field: func(s *Settings) any { return &s.View.PaneBorders }},
	{Key: "view.glyphs", Kind: Choice, Default: "auto", Values: []string{"auto", "unicode", "ascii"}, When: AtOnce, Help: "signs and lines of the viewer's own: ascii for fonts and terminals that lack others; auto: ascii where the locale is not UTF-8", field: func(s *Settings) any { return &s.View.Glyphs }},
	{Key: "view.images", Kind: Choice, Default: "auto", Values: []string{"auto", "blocks", "sixel", "kitty", "iterm2"}, When: AtOnce, Help: "how the viewer draws images: auto (as the terminal reports, else as two-colour blocks), blocks, or one fixed protocol", field: func(s *Settings) any { return &s.View.Images }},
	{Key: "view.hints", Kind: Bool, Default: "true", When: AtOnce, Help: "show which keys can follow", field: func(s *Settings) any { return &s.View.Hints }},
	{Key: "view.layout", Kind: Text, Default: "last", Flag: "view --layout", When: NextUse, Help: "initial layout of the viewer: last, or a saved one", field: func(s *Settings) any { return &s.View.Layout }},
	{Key: "view.mouse", Kind: Bool, Default: "true", When: AtOnce, Help: "take the mouse; otherwise it is the terminal's", field: func(s *Settings) any { return &s.View.Mouse }},
	{Key: "view.all_hosts", Kind: Bool, Default: "false", Flag: "view --all-hosts", When: NextUse, Help: "the viewer shows the sessions of this host, of all of hosts.names and of the fleet's hosts together", field: func(s *Settings) any { return &s.View.AllHosts }},
	{Key: "view.size", Kind: Choice, Default: "latest", Values: sizePolicies, When: NextUse, Help: "size policy of a session once the viewer shows it: of the last typing client, the largest, the smallest, fixed, or without this viewer", field: func(s *Settings) any { return &s.View.Size }},

	{Key: "editor.command", Kind: Text, When: NextUse, Help: "shell line that opens a file at a place, with {file}, {line}, {column}, and for remote files {host} and {path} ({file} is HOST:PATH there), as in `code --goto {file}:{line}:{column}`, without quotes; empty: $VISUAL or $EDITOR, with the syntax of known editors", field: func(s *Settings) any { return &s.Editor.Command }},

	{Key: "alerts.bell", Kind: Bool, Default: "true", When: AtOnce, Help: "a program's bell is an alert: once a minute at most, and not the bell of a shell at its prompt", field: func(s *Settings) any { return &s.Alerts.Bell }},
	{Key: "alerts.command", Kind: Bool, Default: "true", When: AtOnce, Help: "a command's end is an alert", field: func(s *Settings) any { return &s.Alerts.Command }},
	{Key: "alerts.input", Kind: Bool, Default: "true", When: AtOnce, Help: "a program that waits for input is an alert", field: func(s *Settings) any { return &s.Alerts.Input }},
	{Key: "alerts.approval", Kind: Bool, Default: "true", When: AtOnce, Help: "a pending approval is an alert", field: func(s *Settings) any { return &s.Alerts.Approval }},
	{Key: "alerts.anomaly", Kind: Choice, Default: "users", Values: []string{"users", "all", "off"}, When: AtOnce, Help: "sessions in which a line of earlier failures is an event and an inbox entry: users, all (agents' too), off", field: func(s *Settings) any { return &s.Alerts.Anomaly }},
	{Key: "alerts.min_duration", Kind: Duration, Default: "10s", Max: int64(30 * day), When: AtOnce, Help: "how long a command has to run for its end to be an alert, and a program to wait for an answer", field: func(s *Settings) any { return &s.Alerts.MinDuration }},
	{Key: "alerts.unattended_only", Kind: Bool, Default: "true", When: AtOnce, Help: "alert only when no client shows the session", field: func(s *Settings) any { return &s.Alerts.UnattendedOnly }},

	{Key: "notify.desktop", Kind: Bool, Default: "false", When: AtOnce, Help: "show alerts on the desktop", field: func(s *Settings) any { return &s.Notify.Desktop }},
	{Key: "notify.command", Kind: List, When: AtOnce, Help: "program and arguments to run for an alert", field: func(s *Settings) any { return &s.Notify.Command }},
	{Key: "notify.webhook", Kind: Text, When: AtOnce, Help: "URL (http or https) to post an alert to: a topic of ntfy, or a program that reads JSON", field: func(s *Settings) any { return &s.Notify.Webhook }},
	{Key: "notify.format", Kind: Choice, Default: string(webhook.Auto), Values: webhook.Formats, When: AtOnce, Help: "format of webhook posts: JSON, or text with headers for ntfy; auto: ntfy's if the host name starts with ntfy", field: func(s *Settings) any { return &s.Notify.Format }},
	{Key: "notify.details", Kind: Bool, Default: "true", When: AtOnce, Help: "include command and prompt in webhook posts, with secrets masked; false: session name and event only", field: func(s *Settings) any { return &s.Notify.Details }},

	{Key: "retention.session_bytes", Kind: Bytes, Default: "2GiB", Max: math.MaxInt64, When: AtOnce, Help: "history of one session on disk; its oldest output goes first; 0: no limit", field: func(s *Settings) any { return &s.Retention.SessionBytes }},
	{Key: "retention.session_age", Kind: Duration, Default: "0", Max: int64(100 * year), When: AtOnce, Help: "age of output; 0: no limit", field: func(s *Settings) any { return &s.Retention.SessionAge }},
	{Key: "retention.total_bytes", Kind: Bytes, Default: "32GiB", Max: math.MaxInt64, When: AtOnce, Help: "all history on disk; ended sessions go first, the oldest first; 0: no limit", field: func(s *Settings) any { return &s.Retention.TotalBytes }},
	{Key: "retention.audit_bytes", Kind: Bytes, Default: "4GiB", Max: math.MaxInt64, When: AtOnce, Help: "the audit log on disk; its oldest records go first, some 8 MiB at a time, and a record seals them; 0: no limit", field: func(s *Settings) any { return &s.Retention.AuditBytes }},
	{Key: "retention.audit_age", Kind: Duration, Default: "0", Max: int64(100 * year), When: AtOnce, Help: "age of audit records; 0: no limit", field: func(s *Settings) any { return &s.Retention.AuditAge }},
	{Key: "retention.dead", Kind: Int, Default: "2000", Max: 1_000_000, When: AtOnce, Help: "ended sessions that are kept; 0: no limit", field: func(s *Settings) any { return &s.Retention.EndedSessions }},
	{Key: "retention.dead_age", Kind: Duration, Default: "0", Max: int64(100 * year), When: AtOnce, Help: "how long ended sessions are kept; 0: no limit", field: func(s *Settings) any { return &s.Retention.EndedAge }},

	{Key: "files.max_size", Kind: Bytes, Default: "1GiB", Max: math.MaxInt64, When: AtOnce, Help: "largest file that `put` stores with a session; 0: no limit", field: func(s *Settings) any { return &s.Files.MaxSize }},
	{Key: "files.max_total", Kind: Bytes, Default: "4GiB", Max: math.MaxInt64, When: AtOnce, Help: "files stored with one session together; 0: no limit", field: func(s *Settings) any { return &s.Files.MaxTotal }},

	{Key: "sync.policy", Kind: Choice, Default: SyncInterval, Values: []string{SyncInterval, SyncNever}, When: AtOnce, Help: "force history to the disk at intervals, or leave it to the system: what a power cut may take", field: func(s *Settings) any { return &s.Sync.Policy }},
	{Key: "sync.interval", Kind: Duration, Default: "1s", Min: int64(100 * time.Millisecond), Max: int64(time.Hour), When: AtOnce, Help: "time between two", field: func(s *Settings) any { return &s.Sync.Interval }},

	{Key: "limits.sessions", Kind: Int, Default: "2000", Min: 1, Max: 100_000, When: AtOnce, Help: "sessions that run at once", field: func(s *Settings) any { return &s.Limits.Sessions }},
	{Key: "limits.frame_rate", Kind: Int, Default: "60", Min: 1, Max: 1000, When: AtOnce, Help: "maximum frames per second sent to a session's watchers", field: func(s *Settings) any { return &s.Limits.FrameRate }},

	{Key: "shells.default", Kind: Text, When: NewSessions, Help: "shell of new sessions, an absolute path; empty: $SHELL", field: func(s *Settings) any { return &s.Shells.Default }},
	{Key: "shells.integration", Kind: Bool, Default: "true", When: NewSessions, Help: "make shells report their commands, by scripts loaded at start", field: func(s *Settings) any { return &s.Shells.Integration }},
	{Key: "shells.history", Kind: Bool, Default: "false", Flag: "exec --history", When: NextUse, Help: "have shells record lines given by exec in their user's history, as what is typed", field: func(s *Settings) any { return &s.Shells.History }},
	{Key: "shells.restore", Kind: Choice, Default: "never", Values: []string{"never", "shell", "command"}, Flag: "new --restore", When: NewSessions, Help: "what to start when the machine went down under a session", field: func(s *Settings) any { return &s.Shells.Restore }},
	{Key: "shells.engine", Kind: Choice, Default: "native", Values: engines, Flag: "new --engine", When: NewSessions, Help: "terminal emulator of new sessions; vt10x has neither scrollback nor wide characters and is there to compare with", field: func(s *Settings) any { return &s.Shells.Engine }},
	{Key: "shells.agent_env", Kind: Choice, Default: EnvFull, Values: []string{EnvFull, EnvMinimal, EnvListed}, Flag: "new --env-mode", When: NewSessions, Help: "environment of agents' sessions: all of it (in a CI job, CI=true or CI=1, without variables that look like secrets); what programs need (HOME, PATH, LANG and the like); that and shells.env_listed", field: func(s *Settings) any { return &s.Shells.AgentEnv }},
	{Key: "shells.env_listed", Kind: List, When: NewSessions, Help: "names of variables that a listed environment has besides, and that agents get in a CI job although they look like secrets", field: func(s *Settings) any { return &s.Shells.EnvListed }},
	{Key: "shells.renew", Kind: List, When: NextUse, Help: "variables that a user's shells (bash, zsh, fish) take over at their next prompt from an attaching client or viewer, such as DISPLAY WAYLAND_DISPLAY XAUTHORITY SSH_CONNECTION; unset ones are unset", field: func(s *Settings) any { return &s.Shells.UpdateEnv }},
	{Key: "shells.ssh_agent", Kind: Bool, Default: "false", When: NewSessions, Help: "a user's sessions reach the ssh agent of the last attached client: SSH_AUTH_SOCK is a link in the runtime directory, which attach and the viewer update", field: func(s *Settings) any { return &s.Shells.SSHAgent }},

	{Key: "exec.timeout", Kind: Duration, Default: "1m", Max: int64(100 * year), Flag: "exec --timeout", When: NextUse, Help: "time limit of a line or command that an agent runs and waits for; 0: none. People and scripts have none unless they give --timeout", field: func(s *Settings) any { return &s.Exec.Timeout }},
	{Key: "exec.idle_timeout", Kind: Duration, Default: "5m", Max: int64(100 * year), Flag: "exec --idle-timeout", When: NextUse, Help: "time limit without output of a line or command that an agent runs and waits for; 0: none. People and scripts have none unless they give --idle-timeout", field: func(s *Settings) any { return &s.Exec.IdleTimeout }},
	{Key: "exec.grace", Kind: Duration, Default: "10s", Min: int64(10 * time.Millisecond), Max: int64(5 * time.Minute), Flag: "kill --grace", When: NextUse, Help: "time each step of the kill ladder gets: interrupt, terminate, hang up, kill. A step ends early once all processes that handle its signal have exited", field: func(s *Settings) any { return &s.Exec.Grace }},
	{Key: "exec.agent_grace", Kind: Duration, Default: "2s", Min: int64(10 * time.Millisecond), Max: int64(5 * time.Minute), When: NextUse, Help: "the same for calls of agents, and for timeouts of their commands", field: func(s *Settings) any { return &s.Exec.AgentGrace }},
	{Key: "exec.max_output", Kind: Bytes, Default: "16KiB", Min: 256, Max: 16 << 20, Flag: "exec --max-output", When: NextUse, Help: "output in an answer to an agent, and with --format text: head and tail. People and scripts get all, up to 16 MiB in one answer", field: func(s *Settings) any { return &s.Exec.MaxOutput }},

	{Key: "output.summary_command", Kind: List, When: NextUse, Help: "program and arguments that summarize the output of a command whose result for an agent is truncated: output on standard input, summary on standard output; none: off", field: func(s *Settings) any { return &s.Output.SummaryCommand }},
	{Key: "output.summary_timeout", Kind: Duration, Default: "10s", Min: int64(100 * time.Millisecond), Max: int64(5 * time.Minute), When: NextUse, Help: "time limit of output.summary_command, at most the remaining --timeout: after it, the process group is killed, and the result has no summary", field: func(s *Settings) any { return &s.Output.SummaryTimeout }},

	{Key: "run.mode", Kind: Choice, Default: "pty", Values: []string{"pty", "pipe"}, Flag: "run --pipe", When: NextUse, Help: "standard streams of run: a terminal, or pipes, which keep stdout and stderr separate; run --pipe=false forces a terminal. --warm and --each always use a terminal", field: func(s *Settings) any { return &s.Run.Mode }},

	{Key: "attach.detach_key", Kind: Chord, Default: `C-\ d`, Env: "LONGTERM_DETACH_KEY", Flag: "attach --detach-key", When: NextUse, Help: "leaves the session", field: func(s *Settings) any { return &s.Attach.DetachKey }},
	{Key: "attach.next_key", Kind: Chord, Default: `C-\ n`, When: NextUse, Help: "goes to the next session", field: func(s *Settings) any { return &s.Attach.NextKey }},
	{Key: "attach.previous_key", Kind: Chord, Default: `C-\ p`, When: NextUse, Help: "goes to the session before", field: func(s *Settings) any { return &s.Attach.PreviousKey }},
	{Key: "attach.size", Kind: Choice, Default: "latest", Values: sizePolicies, Flag: "attach --size", When: NextUse, Help: "whose size a session takes: of the client active last, the largest, the smallest, its own, or not this client's", field: func(s *Settings) any { return &s.Attach.Size }},
	{Key: "attach.scrollback", Kind: Bool, Default: "false", Flag: "attach --scrollback", When: NextUse, Help: "use the terminal's own scrollback instead of its other screen", field: func(s *Settings) any { return &s.Attach.Scrollback }},
	{Key: "attach.predict", Kind: Choice, Default: "auto", Values: Predictions, Flag: "attach --predict", When: NextUse, Help: "on other hosts, draw what is typed before its echo comes, underlined: where the link is slow, always, never", field: func(s *Settings) any { return &s.Attach.Predict }},

	{Key: "pool.size", Kind: Int, Default: "5", Max: 64, When: AtOnce, Help: "warm shells kept ready for each directory and environment that `run --warm` was used with", field: func(s *Settings) any { return &s.Pool.Size }},

	{Key: "policy.default", Kind: Choice, Default: "hard", Values: presets, When: AtOnce, Help: "rules for users. Presets alone never ask users for approval. Any preset denies commands that destroy the machine", field: func(s *Settings) any { return &s.Policy.Default }},
	{Key: "policy.agents", Kind: Choice, Default: "hard", Values: presets, When: AtOnce, Help: "rules for what agents run (--agent, LONGTERM_AGENT)", field: func(s *Settings) any { return &s.Policy.Agents }},
	{Key: "policy.executions", Kind: Choice, Default: ExecutionsAgents, Values: []string{ExecutionsAgents, ExecutionsAlways, ExecutionsNever}, When: NewSessions, Help: "in which sessions every program that is executed is judged too: those of agents, with --policy or in a sandbox; all; none", field: func(s *Settings) any { return &s.Policy.Executions }},
	{Key: "policy.require_executions", Kind: Bool, Default: "false", When: NewSessions, Help: "refuse to start such a session where executions cannot be judged", field: func(s *Settings) any { return &s.Policy.RequireExecutions }},
	{Key: "policy.roots", Kind: List, When: NewSessions, Help: "directories below which sessions start, links resolved, such as ~/work; none: anywhere. It limits the directory that a session starts in, not what its command does", field: func(s *Settings) any { return &s.Policy.Roots }},
	{Key: "policy.agents_yes", Kind: Bool, Default: "false", When: AtOnce, Help: "--yes also counts for agents; otherwise approval is still required", field: func(s *Settings) any { return &s.Policy.AgentsYes }},
	{Key: "policy.audit_full", Kind: Choice, Default: AuditStop, Values: []string{AuditStop, AuditGoOn}, When: AtOnce, Help: "if the audit log cannot be written: reject the request, or continue without", field: func(s *Settings) any { return &s.Policy.AuditFull }},

	{Key: "http.listen", Kind: Text, When: AtOnce, Help: "address of the HTTP API for clients with a token (`longterm token new`), as in 127.0.0.1:7718; empty: none, only the daemon's socket", field: func(s *Settings) any { return &s.HTTP.Listen }},
	{Key: "http.hosts", Kind: List, When: AtOnce, Help: "names under which that address, and the page of `longterm web`, are reached, besides localhost; requests for others are refused", field: func(s *Settings) any { return &s.HTTP.Hosts }},
	{Key: "http.origins", Kind: List, When: AtOnce, Help: "pages that may ask there, as in https://example.org, besides those of the same host", field: func(s *Settings) any { return &s.HTTP.Origins }},
	{Key: "http.proxies", Kind: List, When: AtOnce, Help: "addresses of trusted proxies of `longterm web`, as in 127.0.0.1 or 10.0.0.0/8: only their headers for the client's address and TLS (X-Forwarded-For, X-Forwarded-Proto) count", field: func(s *Settings) any { return &s.HTTP.Proxies }},
	{Key: "http.push_private", Kind: Bool, Default: "false", When: AtOnce, Help: "send notifications of the page also to push services at private addresses", field: func(s *Settings) any { return &s.HTTP.PushPrivate }},

	{Key: "hosts.names", Kind: List, When: NextUse, Help: "hosts that --all-hosts is about, besides this one: USER@HOST, or names of ~/.ssh/config", field: func(s *Settings) any { return &s.Hosts.Names }},
	{Key: "hosts.ssh", Kind: List, Default: "ssh", Env: "LONGTERM_SSH", When: NextUse, Help: "ssh, and arguments that it always has, as in ssh -F FILE", field: func(s *Settings) any { return &s.Hosts.SSH }},
	{Key: "hosts.keep", Kind: Duration, Default: "10m", Min: int64(time.Second), Max: int64(day), When: NextUse, Help: "how long an unused connection to a host stays open", field: func(s *Settings) any { return &s.Hosts.ConnIdleTimeout }},

	{Key: "fleet.copy_rate", Kind: Bytes, Default: "4MiB", Max: 1 << 40, When: AtOnce, Help: "maximum rate per second at which session output is copied to the fleet; 0: no copies", field: func(s *Settings) any { return &s.Fleet.ReplicaRate }},

	{Key: "secrets.names", Kind: List, Default: "*TOKEN* *SECRET* *PASSWORD* *PASSWD* *PASSPHRASE* *CREDENTIAL* *APIKEY* *_KEY *_PASS *_PWD *_AUTH *_COOKIE *_DSN *_PIN *_JWT *WEBHOOK* DATABASE_URL REDIS_URL", When: AtOnce, Help: "variables whose values are masked in what agents are given and in exports; * is anything", field: func(s *Settings) any { return &s.Secrets.Names }},
	{Key: "secrets.formats", Kind: Bool, Default: "true", When: AtOnce, Help: "mask tokens that are known by their form, as in ghp_… and private keys, too", field: func(s *Settings) any { return &s.Secrets.MaskKnownFormats }},
}

// KeySpecs returns all keys, in the order of the file and the docs.
func KeySpecs() []KeySpec { return table }

// keySpecOf returns the row of a key, or nil.
func keySpecOf(key string) *KeySpec {
	for i := range table {
		if table[i].Key == key {
			return &table[i]
		}
	}
	return nil
}
