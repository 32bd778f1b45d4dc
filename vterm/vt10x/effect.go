package vt10x

import "github.com/longterm-dev/longterm/vterm"

const (
	// maxEventBytes bounds the text held in events that are not drained.
	maxEventBytes = 4 << 20
	// maxReplyBytes bounds the answers that are not fetched.
	maxReplyBytes = 64 << 10
)

// effects are what goes out of the terminal besides the screen.
type effects struct {
	events     []vterm.Event
	eventBytes int
	lost       int
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

// Events appends what happened since the last call. What did not fit is counted last.
func (e *Engine) Events(dst []vterm.Event) []vterm.Event {
	dst = append(dst, e.events...)
	if e.lost > 0 {
		dst = append(dst, vterm.Event{Kind: vterm.EventLost, At: e.read, Num: e.lost})
	}
	e.events, e.eventBytes, e.lost = nil, 0, 0
	return dst
}

// reply queues an answer to the program. Answers to a program that never reads are
// dropped whole.
func (e *Engine) reply(s string) {
	if len(e.replies)+len(s) <= maxReplyBytes {
		e.replies = append(e.replies, s...)
	}
}

// Replies appends the answers and forgets them.
func (e *Engine) Replies(dst []byte) []byte {
	dst = append(dst, e.replies...)
	e.replies = nil
	return dst
}
