//go:build unix

package pagesocket

import (
	"testing"
	"time"
)

// TestPaceOfFrames checks that frames of a flood start at their rate, however long each takes. Output that arrives
// meanwhile waits for the next frame, and is as old as its first byte.
func TestPaceOfFrames(t *testing.T) {
	const rate = 50
	begin := time.Unix(1_000_000, 0)
	var p frameTimer
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	p.noteChange(at(0))
	p.noteChange(at(5))
	if since := p.begin(at(10), rate); !since.Equal(at(0)) || !p.since.IsZero() {
		t.Errorf("the frame has output since %v, and %v waits", since, p.since)
	}
	p.noteChange(at(25)) // while the frame was made, or written
	if want := at(10).Add(time.Second/rate - timerSlack); !p.next.Equal(want) {
		t.Errorf("the next frame may start at %v, want %v", p.next, want)
	}
	if since := p.begin(p.next, 1); !since.Equal(at(25)) || p.next.Sub(at(28)) != time.Second-timerSlack {
		t.Errorf("the frame has output since %v, the next starts at %v", since, p.next)
	}
}
