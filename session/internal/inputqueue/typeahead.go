package inputqueue

import "time"

// A secret may be typed only while echo is off. Earlier input that is still unread matters: the kernel echoes input when
// it leaves the terminal's queue, not when it is written. So a secret is written when our queue and the terminal's are
// empty and echo is off at that moment.

const (
	// UnreadTimeout is how long a secret waits for the program to read earlier input.
	UnreadTimeout = 5 * time.Second
	// minQueueRoom is the size that every terminal's queue has. Input beyond it waits in another queue, which the kernel
	// does not report, and follows when there is room.
	minQueueRoom = 2048
	// requiredChecks is how many consecutive checks, one poll apart, must find no input: bytes that move between two
	// queues are in neither for a moment. requiredChecksFull is that number after more than minQueueRoom bytes.
	requiredChecks, requiredChecksFull = 2, 6
)

// TypeAhead detects whether typed input may still be unread. The zero value has not checked yet.
type TypeAhead struct {
	cleanChecks int // consecutive checks that found nothing
}

// MayBeUnread checks once. unread returns the number of bytes in the terminal's queue.
func (a *TypeAhead) MayBeUnread(q *Queue, unread func() int) bool {
	sent, idle := q.AcceptedBytes()
	if !idle || sent > 0 && unread() > 0 {
		a.cleanChecks = 0
		return true
	}
	a.cleanChecks++
	looks := requiredChecks
	if sent > minQueueRoom {
		looks = requiredChecksFull
	}
	if sent > 0 && a.cleanChecks < looks {
		return true
	}
	a.cleanChecks = 0
	q.NoteAllRead()
	return false
}
