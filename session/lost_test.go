package session

import (
	"testing"
	"testing/synctest"

	"github.com/longterm-dev/longterm/store/journal"
)

// Who waits for output, or for the screen, until the session has ended is told at once when its keeper is gone, as of an end
// that was seen: nothing will come.
//
// FAULT: A14
// FEATURES: R93
func TestLostIsToldToWhoFollows(t *testing.T) {
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
		f.Lost()
		synctest.Wait()
		for name, done := range over {
			select {
			case <-done:
			default:
				t.Errorf("who waits for %s is not told", name)
			}
		}
		f.Stop()
		signal(w.out) // who was not told ends
		signal(w.fr)
	})
}
