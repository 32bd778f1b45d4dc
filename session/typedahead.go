package session

import (
	"errors"
	"fmt"
	"time"
)

// A secret is typed for a program that reads with the echo off. That is so only if nothing
// that was typed before is still on its way: the kernel shows input when it comes out of the
// line that it waits in, and not when it was written. So a secret is written when our own
// queue is empty, the terminal's is, and the echo is off at that very moment.

// ErrTypedAhead is returned for a secret before which other input waits to be read.
var ErrTypedAhead = errors.New("what was typed before it has not been read")

const (
	// unreadTime is how long a secret waits for what was typed before it to be read.
	unreadTime = 5 * time.Second
	// aheadRoom is what surely fits a terminal's own queue, of which it tells. What is more
	// waits behind it, unseen, and follows when there is room.
	aheadRoom = 2048
	// aheadLooks are how many looks in a row, a poll apart, have to find nothing: what moves
	// from one queue to the next is for a moment in neither. More after more than aheadRoom.
	aheadLooks, aheadLooksMore = 2, 6
)

// typedAhead says whether input that was typed may still wait to be read.
func (s *Session) typedAhead() bool {
	if s.cfg.Device == nil || s.streams.apart { // pipes show nothing
		return false
	}
	sent, idle := s.inputs.sentSince()
	unread := 0
	if idle && sent > 0 {
		_ = s.cfg.Device.Control(func(fd int) (err error) {
			unread, err = unreadInput(fd)
			return err
		})
	}
	if !idle || unread > 0 {
		s.aheadClean = 0
		return true
	}
	s.aheadClean++
	looks := aheadLooks
	if sent > aheadRoom {
		looks = aheadLooksMore
	}
	if sent > 0 && s.aheadClean < looks {
		return true
	}
	s.aheadClean = 0
	s.inputs.allRead()
	return false
}

// sentSince is how many bytes the terminal took since they were last known to be read, and
// whether none wait here.
func (q *inputQueue) sentSince() (bytes int, idle bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sent, !q.writing && len(q.queue) == 0
}

// allRead notes that everything the terminal took has been read.
func (q *inputQueue) allRead() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = 0
}

// addNow is addNoted that types what the terminal takes at once, or fails: nothing is queued.
func (q *inputQueue) addNow(data []byte, note func()) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed || q.device == nil:
		return ErrEnded
	case q.writing || len(q.queue) > 0:
		return ErrTypedAhead
	}
	if rest := q.tryLocked(data, note); len(rest) > 0 {
		return fmt.Errorf("the terminal did not take it as a whole, but %d of %d bytes", len(data)-len(rest), len(data))
	}
	return nil
}
