package shell

import "time"

// EventKind is the kind of an Event.
type EventKind uint8

// Kinds of events. The comments name the fields of Event that are used besides At and Time.
const (
	EventMark       EventKind = iota + 1 // Mark
	EventCwd                             // Cwd: reported by a program, and not trusted
	EventAltScreen                       // On: the alternate screen was entered or left
	EventDropped                         // events were dropped: any state may have changed
	EventTyped                           // Text, TypedAt: a whole line, with Enter, was typed for the shell to run
	EventSentinel                        // Text: the token of a line made by Wrap, about to be typed
	EventForeground                      // On: the foreground process group is the shell's; Text: the shell's executable, if known
	EventShellReads                      // the kernel reports that the shell itself reads a line
	EventExit                            // Exit: the shell's process exited; nil: by a signal
)

// Event is an event at output offset At.
type Event struct {
	Kind EventKind
	At   uint64
	Time time.Time
	Mark Mark
	Cwd  Cwd
	Text string
	On   bool
	Exit *int
	// TypedAt is the output offset at which the line was typed, if its start was detected later; 0: At. Text may then be empty
	// (unknown).
	TypedAt uint64
}

// ChangeKind is the kind of a Change.
type ChangeKind uint8

// Kinds of changes. For each ChangeStarted there is one ChangeFinished, in order.
const (
	ChangeStarted     ChangeKind = iota + 1 // Command: it started
	ChangeOutputEnded                       // Command: its output has ended and its status is known; the shell prepares its prompt
	ChangeFinished                          // Command: its complete record
	ChangePrompt                            // the shell waits for a line
	ChangeInput                             // the shell waits for the rest of the line (PS2)
	ChangePhase                             // State.Phase or Quality changed otherwise
	ChangeCwd                               // State.Cwd changed
)

// Change is a change of a tracker's state that its owner may act on.
type Change struct {
	Kind    ChangeKind
	Command Command
}

// TextSource is the source of a command's text.
type TextSource string

// Sources.
const (
	TextNone  TextSource = ""
	TextShell TextSource = "shell" // the shell reported it
	TextTyped TextSource = "typed" // it was typed or submitted through the session
	TextGuess TextSource = "guess" // the shell's newest history entry, perhaps of another line
)

// Command is one line that a shell ran.
type Command struct {
	Number     uint64     `json:"number"` // from 1
	Text       string     `json:"text,omitempty"`
	TextSource TextSource `json:"text_source,omitempty"`
	TextCut    bool       `json:"text_cut,omitempty"` // Text is only the start of the line
	// Start and End are the offsets of its output, End exclusive; End is 0 while it runs.
	Start     uint64    `json:"start"`
	End       uint64    `json:"end,omitempty"`
	NeverRan  bool      `json:"echoed,omitempty"` // the line did not run: Start is before the echo of Text
	Began     time.Time `json:"began"`
	Ended     time.Time `json:"ended,omitzero"`
	Exit      *int      `json:"exit,omitempty"` // exit status; nil: unknown
	CwdBefore string    `json:"cwd_before,omitempty"`
	CwdAfter  string    `json:"cwd_after,omitempty"`
	Quality   Quality   `json:"quality"` // of this record
}
