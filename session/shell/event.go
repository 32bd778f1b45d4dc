package shell

import "time"

// EventKind is the kind of an Event.
type EventKind uint8

// Events; the comment names the fields of Event in use besides At and Time.
const (
	EventMark       EventKind = iota + 1 // Mark
	EventCwd                             // Cwd: by a program, and not trusted
	EventAltScreen                       // On: the alternate screen was entered or left
	EventLost                            // events were dropped: anything may have happened
	EventTyped                           // Text: a whole line was typed for the shell to run, with Enter
	EventSentinel                        // Text: the token of a line made by Wrap, about to be typed
	EventForeground                      // On: the foreground process group is the shell's; Text: the shell's executable, if known
	EventReads                           // the shell itself reads its terminal for a line, by the kernel's word
	EventExit                            // Exit: the shell's process ended, nil by a signal
)

// Event is something that happened at output offset At.
type Event struct {
	Kind EventKind
	At   uint64
	Time time.Time
	Mark Mark
	Cwd  Cwd
	Text string
	On   bool
	Exit *int
}

// ChangeKind is the kind of a Change.
type ChangeKind uint8

// Changes. For each ChangeStarted there is one ChangeFinished, in order.
const (
	ChangeStarted  ChangeKind = iota + 1 // Command: it runs
	ChangeDone                           // Command: its output has ended and its status is known; the shell prepares its prompt
	ChangeFinished                       // Command: all that will ever be known of it
	ChangePrompt                         // the shell waits for a line
	ChangeInput                          // the shell waits for the rest of the line (PS2)
	ChangePhase                          // State.Phase or Quality changed otherwise
	ChangeCwd                            // State.Cwd changed
)

// Change is what the tracker's owner may want to act on.
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
	TextTyped TextSource = "typed" // it was typed through the session
	TextGuess TextSource = "guess" // the shell's newest history entry, perhaps another line's
)

// Command is one line that a shell ran.
type Command struct {
	Number     uint64     `json:"number"` // from 1
	Text       string     `json:"text,omitempty"`
	TextSource TextSource `json:"text_source,omitempty"`
	TextCut    bool       `json:"text_cut,omitempty"` // Text is only the beginning
	// Start and End are the offsets of its output, End exclusive; 0 while it runs.
	Start     uint64    `json:"start"`
	End       uint64    `json:"end,omitempty"`
	Echoed    bool      `json:"echoed,omitempty"` // Start is before the echo of Text: it was never run
	Began     time.Time `json:"began"`
	Ended     time.Time `json:"ended,omitzero"`
	Exit      *int      `json:"exit,omitempty"` // nil: not known
	CwdBefore string    `json:"cwd_before,omitempty"`
	CwdAfter  string    `json:"cwd_after,omitempty"`
	Quality   Quality   `json:"quality"` // of all this
}
