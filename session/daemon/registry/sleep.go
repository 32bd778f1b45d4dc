//go:build unix

package registry

import "time"

// A program that prints nothing can run for days, and there may be thousands of them. After a while its watcher has no
// goroutine and no machine any more, if that read nothing: output, the end of the task or of the session's owner has
// it go on.

// silence is how long nothing is printed by then.
const silence = 5 * time.Second

// sleep has wake called once there is something to do. The watcher is whoever's is woken as soon as it begins: its caller
// touches it no more.
func (f *watcher) sleep(wake func()) {
	if f.pos == f.task.from {
		f.m, f.feed = nil, nil // nothing was read
	}
	f.asleep.Store(true)
	once := func() {
		if f.asleep.CompareAndSwap(true, false) {
			f.e.activity.awake(f.ends)
			wake()
		}
	}
	if !f.asked {
		time.AfterFunc(f.pastIn(), once)
	}
	s, read := f.e.Session, f.pos
	over := !f.e.activity.atEnd(f.ends, read, once)
	s.NextOutput(once)
	if _, end := s.OutputRange(); over || end != read { // meanwhile
		once()
	}
}
