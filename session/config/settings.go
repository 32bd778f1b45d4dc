// Package config is longterm's configuration: one table of keys (table.go) drives decoding, checks, `longterm config`,
// completion and docs/config.md.
//
//	file → document (TOML with positions) → check against the table → Settings
//
// All but load.go is pure: callers pass bytes and environment. A file is applied whole or not at all: with Problems
// there are no Settings, and the caller keeps its current ones.
package config

import (
	"time"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// Settings are all values.
type Settings struct {
	View      View
	Keys      map[string]string            // viewer: action → keys that do it, as in "z F11"
	Themes    map[string]map[string]string // name → what is drawn → colour
	Editor    Editor
	Alerts    Alerts
	Notify    Notify
	Retention Retention
	Files     Files
	Sync      Sync
	Limits    Limits
	Shells    Shells
	Exec      Exec
	Run       Run
	Attach    Attach
	Pool      Pool
	Policy    Policy
	HTTP      HTTP
	Secrets   Secrets
	Hosts     Hosts
	Fleet     Fleet
	Matchers  []diagnostics.Matcher
	Hooks     []Hook
}

// Hosts are other machines, reached over ssh.
type Hosts struct {
	Names []string      // that belong together: ls and view --all-hosts
	SSH   []string      // argv
	Keep  time.Duration // how long an unused connection stays open
}

// Fleet is this machine's part in a fleet.
type Fleet struct {
	CopyRate int64 // bytes a second
}

// View is how the viewer looks.
type View struct {
	Prefix string        // prefix key of the viewer's commands
	Keys   string        // whose keys they are, as keymap.Choose takes it
	Repeat time.Duration // of tmux's keys that need no prefix when they come again
	Theme  string        // name of a built-in theme or of one in Themes
	Glyphs string        // auto, unicode, ascii
	Images string        // auto, blocks, sixel, kitty, iterm2
	Frames bool
	Hints  bool
	Layout string
	Mouse  bool
	// AllHosts shows the sessions of Hosts.Names and of the fleet, besides those of this host.
	AllHosts bool
	Size     string // size policy of sessions shown
}

// Editor opens files where errors are.
type Editor struct {
	Command string // shell command line; empty: $VISUAL or $EDITOR
}

// Alerts selects the events worth an alert.
type Alerts struct {
	Bell           bool
	Command        bool          // a command that ended
	Input          bool          // a program that waits for input
	Approval       bool          // something that a user has to allow
	MinDuration    time.Duration // of a command that is worth it
	UnattendedOnly bool          // only when no client shows the session
}

// Notify sets the targets of alerts.
type Notify struct {
	Desktop bool
	Command []string // argv; empty: none
	Webhook string   // URL; empty: none
	Format  string   // of posted data: auto, json, ntfy
	Details bool     // include command and output
}

// Retention is what history may take. 0 is no limit.
type Retention struct {
	SessionBytes int64
	SessionAge   time.Duration
	TotalBytes   int64
	AuditBytes   int64
	AuditAge     time.Duration
	Dead         int
	DeadAge      time.Duration
}

// Files bounds what is stored with sessions, in bytes. 0 is no limit.
type Files struct{ MaxSize, MaxTotal int64 }

// Sync sets when history is forced to disk.
type Sync struct {
	Policy   string        // interval or never
	Interval time.Duration // between two
}

// Policies of Sync.
const (
	SyncInterval = "interval"
	SyncNever    = "never"
)

// Limits bound what the daemon takes on.
type Limits struct {
	Sessions  int // that run at once
	FrameRate int // frames a second of a session
}

// Shells sets how sessions start.
type Shells struct {
	Default     string // path; empty: $SHELL
	Integration bool   // shells report their commands
	History     bool   // lines that programs give are recorded in the user's history
	Restore     string // what to start after the machine went down: never, shell or command
	Engine      string // terminal emulator
	AgentEnv    string // environment of agents' sessions: full, minimal or listed
	EnvListed   []string
	Renew       []string // variables that shells take over from an attaching client
	SSHAgent    bool     // sessions reach the ssh agent of the last attached client
}

// Environments of sessions.
const (
	EnvFull    = "full"
	EnvMinimal = "minimal"
	EnvListed  = "listed"
)

// Exec are defaults for lines run in a shell.
type Exec struct {
	Timeout     time.Duration // of agents' calls; 0: none
	IdleTimeout time.Duration // of agents' calls; 0: never
	Grace       time.Duration // of each step of the kill ladder
	AgentGrace  time.Duration // the same for agents' calls
	MaxOutput   int64         // bytes of output in an answer to an agent
}

// Run sets defaults for commands in new sessions.
type Run struct {
	Mode string // pty or pipe
}

// Attach is how sessions are put on a user's terminal.
type Attach struct {
	DetachKey   string
	NextKey     string
	PreviousKey string
	Size        string // size policy
	Scrollback  bool   // use the terminal's own scrollback
	Predict     string // one of Predictions
}

// Predictions are the settings of local echo.
var Predictions = []string{"auto", "always", "never"}

// Pool keeps shells ready to be used.
type Pool struct {
	Size int
}

// HTTP sets where the API is served besides the daemon's socket.
type HTTP struct {
	Listen  string   // HOST:PORT; empty: nowhere
	Hosts   []string // names under which it is reached
	Origins []string // pages that may ask
	Proxies []string // addresses of proxies whose word on clients counts
}

// Secrets sets what is masked for agents and in exports.
type Secrets struct {
	Names   []string // patterns of variables whose values are secrets
	Formats bool     // tokens are known by their form
}

// Policy sets the rules for users and agents.
type Policy struct {
	Default           string   // preset for users
	Agents            string   // preset for agents
	Executions        string   // whose executions are judged: agents, always or never
	RequireExecutions bool     // refuse what cannot be judged while it runs
	Roots             []string // directories below which sessions start; none: anywhere
	AgentsYes         bool     // --yes counts where an agent gives it
	AuditFull         string   // when the audit trail cannot be written: stop or go_on
}

// Values of Policy.
const (
	ExecutionsAgents = "agents"
	ExecutionsAlways = "always"
	ExecutionsNever  = "never"
	AuditStop        = "stop"
	AuditGoOn        = "go_on"
)

// Default returns the settings without a file.
func Default() *Settings {
	s := &Settings{Keys: map[string]string{}, Themes: map[string]map[string]string{}}
	for i := range table {
		if err := table[i].set(s, table[i].Default); err != nil {
			panic("config: default of " + table[i].Key + ": " + err.Error()) // a test would not pass
		}
	}
	return s
}
