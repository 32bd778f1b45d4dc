package shell

import "time"

// Phase is what a shell does.
type Phase string

// Phases.
const (
	PhaseUnknown Phase = "unknown"
	PhasePrompt  Phase = "prompt"
	PhaseRunning Phase = "running"
	PhaseEnded   Phase = "ended" // the shell's process has exited
)

// State is the complete state of a Tracker. It survives a restart as JSON: a tracker resumed from it continues with
// later events. It has the nonce, which must stay private.
type State struct {
	Nonce        string    `json:"nonce"`
	MaxQuality   Quality   `json:"offered"` // quality of the shell's integration
	Quality      Quality   `json:"quality"` // quality at this moment
	Phase        Phase     `json:"phase"`
	Since        time.Time `json:"since"`             // when Phase began
	Running      *Command  `json:"running,omitempty"` // running command; after its end, until the next prompt
	HasEnded     bool      `json:"done,omitempty"`    // Running has ended
	CommandCount uint64    `json:"numbers"`           // number of the newest command

	// LastMark is the sequence number of the newest accepted mark, 0 for a shell that does not count its marks (started
	// by an older version).
	LastMark        uint64 `json:"mark,omitempty"`
	Prompt          uint64 `json:"prompt"`            // number of the newest prompt
	PromptAt        uint64 `json:"prompt_at"`         // offset of its start
	InputAt         uint64 `json:"input_at"`          // offset of its end; 0 if unknown
	IsDrawingPrompt bool   `json:"drawing,omitempty"` // the prompt is being printed: mark B will follow
	// HasKeptLine is set while the shell's editor holds a line that it did not run; Ctrl-U clears it.
	HasKeptLine bool `json:"kept,omitempty"`
	// SupportsLiteralKey is set if the editor at this prompt supports LiteralKey.
	SupportsLiteralKey bool `json:"given,omitempty"`
	InContinuation     bool `json:"continuation,omitempty"` // the shell waits for the rest of a line (PS2)

	Cwd         Cwd  `json:"cwd"`           // at the newest prompt
	ReportedCwd Cwd  `json:"hint"`          // directory that a program reported since then, perhaps on another machine
	AltScreen   bool `json:"alt,omitempty"` // the alternate screen is shown

	PendingLine *pendingLine `json:"typed,omitempty"` // typed line that has not started
	PossibleEnd *possibleEnd `json:"doubt,omitempty"`
	Sentinel    string       `json:"sentinel,omitempty"` // token of the wrapped line (Wrap)
	Executable  string       `json:"shell,omitempty"`    // of the shell, if known
}

// pendingLine is a typed line whose start the shell has not reported yet.
type pendingLine struct {
	Text   string    `json:"text"`
	At     uint64    `json:"at"` // output offset at which it was typed
	Time   time.Time `json:"time"`
	Prompt uint64    `json:"prompt"` // number of the prompt that will read it
}

// possibleEnd is the end of a prompt while a command runs. Either the shell lost its hooks and the command has ended,
// or the command itself expanded the prompt.
type possibleEnd struct {
	At   uint64    `json:"at"`
	Time time.Time `json:"time"`
	Exit *int      `json:"exit,omitempty"`
	// LatePrompt is the mark of a late prompt. It counts once the shell reads its terminal.
	LatePrompt *Mark `json:"prompt,omitempty"`
}
