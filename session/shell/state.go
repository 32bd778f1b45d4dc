package shell

import "time"

// Phase is what a shell is doing.
type Phase string

// Phases.
const (
	PhaseUnknown Phase = "unknown"
	PhasePrompt  Phase = "prompt"
	PhaseRunning Phase = "running"
	PhaseEnded   Phase = "ended" // the shell's process has exited
)

// State is the complete state of a Tracker. It survives a restart as JSON: a tracker made from it continues with later
// events. It holds the nonce: keep it private.
type State struct {
	Nonce   string    `json:"nonce"`
	Offered Quality   `json:"offered"` // what the shell's integration gives
	Quality Quality   `json:"quality"` // what is known at this moment
	Phase   Phase     `json:"phase"`
	Since   time.Time `json:"since"` // when Phase began
	// Running is the command under way; also after its end until the next prompt.
	Running *Command `json:"running,omitempty"`
	Done    bool     `json:"done,omitempty"` // Running has ended
	Numbers uint64   `json:"numbers"`        // of commands given out

	// Mark is the place of the newest mark that was taken, 0 for a shell that does not count
	// its marks (started by an older version).
	Mark     uint64 `json:"mark,omitempty"`
	Prompt   uint64 `json:"prompt"`            // number of the newest prompt
	PromptAt uint64 `json:"prompt_at"`         // where it began
	InputAt  uint64 `json:"input_at"`          // where it ended; 0 if unknown
	Drawing  bool   `json:"drawing,omitempty"` // the prompt is being printed: mark B is to come
	// Kept: the shell's editor still holds a line that it refused; Ctrl-U clears it.
	Kept bool `json:"kept,omitempty"`
	// Given: at this prompt the editor knows GivenKey.
	Given        bool `json:"given,omitempty"`
	Continuation bool `json:"continuation,omitempty"`

	Cwd  Cwd  `json:"cwd"`           // at the newest prompt
	Hint Cwd  `json:"hint"`          // directory reported by a program since then, perhaps on another machine
	Alt  bool `json:"alt,omitempty"` // the alternate screen is shown

	Typed    *typedLine `json:"typed,omitempty"`
	Doubt    *doubt     `json:"doubt,omitempty"`
	Sentinel string     `json:"sentinel,omitempty"`
	Shell    string     `json:"shell,omitempty"` // its executable
}

// typedLine waits for its prompt and the mark that it runs.
type typedLine struct {
	Text   string    `json:"text"`
	At     uint64    `json:"at"`
	Time   time.Time `json:"time"`
	Prompt uint64    `json:"prompt"` // the one that will read it
}

// doubt is the end of a prompt seen while a command ran: either the shell's hooks are
// gone and the command has ended, or the command itself expanded the prompt.
type doubt struct {
	At   uint64    `json:"at"`
	Time time.Time `json:"time"`
	Exit *int      `json:"exit,omitempty"`
	// Prompt is the mark of a late prompt. It counts once the shell reads its terminal.
	Prompt *Mark `json:"prompt,omitempty"`
}
