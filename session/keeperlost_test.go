package session

import (
	"testing"
	"testing/synctest"

	"github.com/longterm-dev/longterm/store/journal"
)

// TestFollowers_EndAtOnce_WhenLost checks that waits for output, the screen or the end return at once when the keeper
// has died, as for a normal end: no output will follow.
//
// FAULT: A14
// FEATURES: R93
func TestFollowers_EndAtOnce_WhenLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, journal.Options{})
		f.print(f.Session, "begun")
		over := map[string]chan struct{}{}
		follow := func(name string, next func()) {
			done := make(chan struct{})
			over[name] = done
			go func() {
				defer close(done)
				for f.Status().State == Running {
					next()
				}
			}()
		}
		w := f.Watch()
		defer w.Close()
		follow("output", func() { <-w.Output })
		follow("the screen", func() { <-w.Frames })
		follow("the next output", func() {
			told := make(chan struct{})
			f.NextOutput(func() { close(told) })
			<-told
		})
		synctest.Wait()
		f.KeeperLost()
		synctest.Wait()
		for name, done := range over {
			select {
			case <-done:
			default:
				t.Errorf("watcher of %s not notified", name)
			}
		}
		f.Stop()
		signal(w.out) // ends a watcher that was not notified
		signal(w.fr)
	})
}
