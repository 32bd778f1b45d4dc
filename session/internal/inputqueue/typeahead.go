package inputqueue

import "time"

// A secret is typed for a program that reads with the echo off. That is so only if nothing
// that was typed before is still on its way: the kernel shows input when it comes out of the
// line that it waits in, and not when it was written. So a secret is written when our own
// queue is empty, the terminal's is, and the echo is off at that very moment.

const (
	// UnreadTime is how long a secret waits for what was typed before it to be read.
	UnreadTime = 5 * time.Second
	// aheadRoom is what surely fits a terminal's own queue, whose length is known. More input waits behind it,
	// uncounted, and follows when it has room.
	aheadRoom = 2048
	// aheadLooks are how many looks in a row, a poll apart, have to find nothing: what moves
	// from one queue to the next is for a moment in neither. More after more than aheadRoom.
	aheadLooks, aheadLooksMore = 2, 6
)

// TypeAhead detects whether typed input may still be unread. The zero value has not checked yet.
type TypeAhead struct {
	clean int // looks in a row that found nothing
}

// Waits checks once. unread returns the number of bytes in the terminal's own queue.
func (a *TypeAhead) Waits(q *Queue, unread func() int) bool {
	sent, idle := q.AcceptedBytes()
	if !idle || sent > 0 && unread() > 0 {
		a.clean = 0
		return true
	}
	a.clean++
	looks := aheadLooks
	if sent > aheadRoom {
		looks = aheadLooksMore
	}
	if sent > 0 && a.clean < looks {
		return true
	}
	a.clean = 0
	q.AllRead()
	return false
}
