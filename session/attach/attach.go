// Package attach is the conversation between the daemon and a person's terminal: the
// messages of an attached client's WebSocket, and what must be taken out of a raw
// stream before it reaches a real terminal.
//
// Binary messages are bytes: the terminal's input one way, what to draw the other.
// Text messages are the JSON of Control and Info.
package attach

// Headers of the answer that opens the conversation: the session's id, and its name, escaped as in a URL's path.
const (
	IDHeader   = "Longterm-Session"
	NameHeader = "Longterm-Name"
)

// Control is what an attached client says besides typing.
type Control struct {
	Cols int `json:"cols,omitempty"` // new size, cells
	Rows int `json:"rows,omitempty"`
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
}
