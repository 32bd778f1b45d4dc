package vt10x

import "github.com/longterm-dev/longterm/vterm"

const (
	// maxEventBytes limits the text in undelivered events.
	maxEventBytes = 4 << 20
	// maxReplyBytes limits the undelivered answers.
	maxReplyBytes = 64 << 10
)

// effects holds the terminal's output besides the screen: events and answers.
type effects struct {
	events     []vterm.Event
	eventBytes int
	lost       int // number of dropped events
	replies    []byte
}

// emit queues an event at the end of the sequence being run.
func (e *Engine) emit(ev vterm.Event) {
	if len(e.events) >= vterm.EventQueueMax-1 || e.eventBytes+len(ev.Text)+len(ev.Name) > maxEventBytes {
		e.lost++
		return
	}
	e.flush()
	ev.At = e.read
	ev.Line, ev.Col = uint64(e.grid.cur.Y), e.grid.cur.X
	e.eventBytes += len(ev.Text) + len(ev.Name)
	e.events = append(e.events, ev)
}

// Events appends the events since the last call. The number of dropped events is appended last.
func (e *Engine) Events(dst []vterm.Event) []vterm.Event {
	dst = append(dst, e.events...)
	if e.lost > 0 {
		dst = append(dst, vterm.Event{Kind: vterm.EventDropped, At: e.read, Num: e.lost})
	}
	e.events, e.eventBytes, e.lost = nil, 0, 0
	return dst
}

// reply queues an answer to the program. If the queue is full, the answer is dropped completely.
func (e *Engine) reply(s string) {
	if len(e.replies)+len(s) <= maxReplyBytes {
		e.replies = append(e.replies, s...)
	}
}

// Replies appends and clears the answers.
func (e *Engine) Replies(dst []byte) []byte {
	dst = append(dst, e.replies...)
	e.replies = nil
	return dst
}
