// Package attach is the protocol between the daemon and a user's terminal: the messages of an attached client's WebSocket, and
// the filter of a raw stream before it reaches a real terminal.
//
// Binary messages are bytes: input of the terminal in one direction, output to draw in the other. Text messages are the JSON
// of Control and Info.
package attach

import "github.com/longterm-dev/longterm/vterm"

// Headers of the response that opens the stream: the session's id, its name, escaped as in a URL's path, and its state if it
// has ended.
const (
	IDHeader    = "Longterm-Session"
	NameHeader  = "Longterm-Name"
	EndedHeader = "Longterm-Ended"
)

// Control is a message of an attached client other than input.
type Control struct {
	Cols int `json:"cols,omitempty"` // new size, cells
	Rows int `json:"rows,omitempty"`
	// Outer describes the client's terminal, for answers to the program.
	Outer *vterm.Outer `json:"outer,omitempty"`
}

// CloseDetached is the close status of a stream that another client detached.
const CloseDetached = 4001

// Info is a message of the daemon other than output. It is sent first, and on changes.
type Info struct {
	Cols   int    `json:"cols"` // of the session
	Rows   int    `json:"rows"`
	Offset uint64 `json:"offset"` // output offset of the drawing
	Ended  bool   `json:"ended,omitempty"`
	State  string `json:"state"`
	Code   *int   `json:"exit_code,omitempty"`
	Signal string `json:"signal,omitempty"`
	// For a resuming client (Resume): the offset after the bytes of the next message, 0 for a drawing; and the number
	// of accepted input messages.
	Next     uint64 `json:"next,omitempty"`
	Accepted uint64 `json:"taken,omitempty"`
}

// Resume continues after a lost connection: input is typed once, and known output is not sent again.
type Resume struct {
	Key          string // unique for the time of the attachment: 1 to 64 letters, digits and hyphens
	Acknowledged uint64 // number of acknowledged input messages
	From         uint64 // offset that its terminal shows; 0: it needs a full drawing
	// AcksLate acknowledges input later, many messages at once, without offsets: for a client that only protects its input.
	AcksLate bool
}

// ValidKey reports whether a Resume key is valid.
func ValidKey(key string) bool {
	for _, c := range key {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return key != "" && len(key) <= 64
}
