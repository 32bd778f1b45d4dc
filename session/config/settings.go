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

// Settings contains the values of all keys.
type Settings struct {
	View      View
	Keys      map[string]string            // keys of the viewer by action, as in "z F11"
	Themes    map[string]map[string]string // colours by theme and part
	Editor    Editor
	Alerts    Alerts
	Notify    Notify
	Retention Retention
	Files     Files
	Sync      Sync
	Limits    Limits
	Shells    Shells
	Exec      Exec
	Output    Output
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

// Hosts configures remote hosts, reached over ssh.
type Hosts struct {
	Names           []string      // hosts of ls and view --all-hosts
	SSH             []string      // argv
	ConnIdleTimeout time.Duration // how long an unused connection stays open
}

// Fleet configures this machine's part in a fleet.
type Fleet struct {
	ReplicaRate int64 // bytes a second for copies of output
}

// View configures the viewer.
type View struct {
	Prefix      string        // prefix key of the viewer's commands
	Keys        string        // key preset, as in keymap.Choose
	Repeat      time.Duration // time in which tmux's keys repeat without the prefix
	Theme       string        // name of a built-in theme or of one in Themes
	Glyphs      string        // auto, unicode, ascii
	Images      string        // auto, blocks, sixel, kitty, iterm2
	PaneBorders bool
	Hints       bool
	Layout      string
	Mouse       bool
	// AllHosts shows the sessions of Hosts.Names and of the fleet, besides those of this host.
	AllHosts bool
	Size     string // size policy of shown sessions
}

// Editor configures how files of errors are opened.
type Editor struct {
	Command string // shell command line; empty: $VISUAL or $EDITOR
}

// Alerts selects the events that raise an alert.
type Alerts struct {
	Bell           bool
	Command        bool          // end of a command
	Input          bool          // a program needs input
	Approval       bool          // a pending approval
	Anomaly        string        // sessions whose running commands are compared with earlier runs: users, all, off
	MinDuration    time.Duration // minimum duration of a command
	UnattendedOnly bool          // only if no client shows the session
}

// Notify configures the targets of alerts.
type Notify struct {
	Desktop bool
	Command []string // argv; none if empty
	Webhook string   // URL; empty: none
	Format  string   // of posted data: auto, json, ntfy
	Details bool     // posts include command and output
}

// Retention bounds the stored history. 0 is no limit.
type Retention struct {
	SessionBytes  int64
	SessionAge    time.Duration
	TotalBytes    int64
	AuditBytes    int64
	AuditAge      time.Duration
	EndedSessions int
	EndedAge      time.Duration
}

// Files bounds what is stored with sessions, in bytes. 0 is no limit.
type Files struct{ MaxSize, MaxTotal int64 }

// Sync configures when history is forced to disk.
type Sync struct {
	Policy   string        // interval or never
	Interval time.Duration // between two syncs
}

// Policies of Sync.
const (
	SyncInterval = "interval"
	SyncNever    = "never"
)

// Limits bounds the load of the daemon.
type Limits struct {
	Sessions  int // running at once
	FrameRate int // frames a second per session
}

// Shells configures how sessions start.
type Shells struct {
	Default     string // path; empty: $SHELL
	Integration bool   // shells report their commands
	History     bool   // lines of exec are recorded in the user's history
	Restore     string // action after a machine restart: never, shell or command
	Engine      string // terminal emulator
	AgentEnv    string // environment of agents' sessions: full, minimal or listed
	EnvListed   []string
	UpdateEnv   []string // variables that shells take over from an attaching client
	SSHAgent    bool     // sessions reach the ssh agent of the last attached client
}

// Values of Shells.AgentEnv.
const (
	EnvFull    = "full"
	EnvMinimal = "minimal"
	EnvListed  = "listed"
)

// Exec configures defaults for lines run in a shell.
type Exec struct {
	Timeout     time.Duration // of agents' calls; 0: none
	IdleTimeout time.Duration // of agents' calls; 0: never
	Grace       time.Duration // of each step of the kill ladder
	AgentGrace  time.Duration // the same for agents' calls
	MaxOutput   int64         // bytes of output in an answer to an agent
}

// Output configures the output in results.
type Output struct {
	SummaryCommand []string      // argv; none if empty
	SummaryTimeout time.Duration // of SummaryCommand
}

// Run configures commands in new sessions.
type Run struct {
	Mode string // pty or pipe
}

// Attach configures attached terminals.
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

// Pool configures warm shells.
type Pool struct {
	Size int
}

// HTTP configures the API on TCP.
type HTTP struct {
	Listen  string   // HOST:PORT; empty: nowhere
	Hosts   []string // accepted host names
	Origins []string // accepted origins of pages
	Proxies []string // addresses of trusted proxies
	// PushPrivate permits push services at private addresses.
	PushPrivate bool
}

// Secrets configures what is masked for agents and in exports.
type Secrets struct {
	Names            []string // patterns of variables whose values are secrets
	MaskKnownFormats bool     // tokens are masked by their form
}

// Policy configures the rules for users and agents.
type Policy struct {
	Default           string   // preset for users
	Agents            string   // preset for agents
	Executions        string   // sessions whose executions are checked: agents, always or never
	RequireExecutions bool     // reject sessions whose executions cannot be checked
	Roots             []string // directories below which sessions start; none: anywhere
	AgentsYes         bool     // --yes also counts for agents
	AuditFull         string   // action if the audit log cannot be written: stop or go_on
}

// Values of Policy.
const (
	ExecutionsAgents = "agents"
	ExecutionsAlways = "always"
	ExecutionsNever  = "never"
	AuditStop        = "stop"
	AuditGoOn        = "go_on"
)

// Default returns the settings for an empty file.
func Default() *Settings {
	s := &Settings{Keys: map[string]string{}, Themes: map[string]map[string]string{}}
	for i := range table { // the table is invalid; a test finds this
		if err := table[i].setText(s, table[i].Default); err != nil {
			panic("config: default of " + table[i].Key + ": " + err.Error()) // a test would not pass
		}
	}
	return s
}
