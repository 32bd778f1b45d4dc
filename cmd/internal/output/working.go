package output

import (
	"fmt"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/listing"
)

// workingAfter is the delay before a terminal shows the progress line of a slow operation; the line is updated every
// workingEvery.
const workingAfter, workingEvery = time.Second, time.Second

// Working shows text and the elapsed time on standard error, if that is a terminal, while an operation takes long. The
// caller calls stop at the end, which removes the line. It shows nothing with --json.
func (p *Printer) Working(text string) (stop func()) {
	if p.JSON || !termio.IsTerminal(p.Stderr) {
		return func() {}
	}
	return p.showWorking(text, time.Now)
}

func (p *Printer) showWorking(text string, now func() time.Time) (stop func()) {
	style := listing.StyleIf(p.TableLook().Colour, listing.Faint)
	began := now()
	var lock sync.Mutex
	var timer *time.Timer
	isShown, hasEnded := false, false
	show := func() {
		lock.Lock()
		defer lock.Unlock()
		if hasEnded {
			return
		}
		isShown = true
		fmt.Fprintf(p.Stderr, "\r%s\x1b[K", style.Apply(text+" … "+listing.Elapsed(now().Sub(began).Milliseconds())))
		timer.Reset(workingEvery)
	}
	lock.Lock()
	timer = time.AfterFunc(workingAfter, show)
	lock.Unlock()
	return func() {
		lock.Lock()
		defer lock.Unlock()
		timer.Stop()
		if isShown && !hasEnded {
			fmt.Fprint(p.Stderr, "\r\x1b[K")
		}
		hasEnded = true
	}
}
