// Package attach is the conversation between the daemon and a person's terminal: the
// messages of an attached client's WebSocket, and what must be taken out of a raw
// stream before it reaches a real terminal.
//
// Binary messages are bytes: the terminal's input one way, what to draw the other.
// Text messages are the JSON of Control and Info.
package attach

import "github.com/longterm-dev/longterm/vterm"

// Headers of the answer that opens the conversation: the session's id, its name, escaped as in a URL's path, and its state
// where it has ended.
const (
	IDHeader    = "Longterm-Session"
	NameHeader  = "Longterm-Name"
	EndedHeader = "Longterm-Ended"
)

// Control is what an attached client says besides typing.
type Control struct {
	Cols int `json:"cols,omitempty"` // new size, cells
	Rows int `json:"rows,omitempty"`
	// Outer describes the client's terminal, for answers to the program.
	Outer *vterm.Outer `json:"outer,omitempty"`
}

// CloseDetached is the status with which a stream is closed of a client that another one had leave.
const CloseDetached = 4001

// Info is what the daemon says besides drawing. It is sent first, and when something
// of it changes.
type Info struct {
	Cols   int    `json:"cols"` // of the session
	Rows   int    `json:"rows"`
	Offset uint64 `json:"offset"` // of the output the drawing stands at
	Ended  bool   `json:"ended,omitempty"`
	State  string `json:"state"`
	Code   *int   `json:"exit_code,omitempty"`
	Signal string `json:"signal,omitempty"`
	// To who resumes (Resume): the offset behind the bytes of the next message, 0 where it is a drawing; and how many
	// messages of what was typed were taken.
	Next  uint64 `json:"next,omitempty"`
	Taken uint64 `json:"taken,omitempty"`
}

// Resume is what a client says that goes on where its connection was lost: what it types is typed once, what it had
// is not sent again.
type Resume struct {
	Key   string // of the client, its own for as long as it is attached: 1 to 64 letters, digits and hyphens
	Typed uint64 // messages of what was typed that the daemon has told to have taken: the next one follows them
	From  uint64 // offset that its terminal shows; 0: it needs a drawing
	// Late has the client be told a moment later what was taken, many messages at once, and not at all of offsets: it asks only
	// so that nothing it typed is lost.
	Late bool
}

// ValidKey says whether a Resume may have a key.
func ValidKey(key string) bool {
	for _, c := range key {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return key != "" && len(key) <= 64
}
