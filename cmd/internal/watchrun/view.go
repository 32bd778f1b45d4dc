//go:build unix

package watchrun

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/output/progress"
)

// watchKey is what a person asks for while a command is watched.
type key uint8

const (
	keyAgain key = iota + 1
	keyQuit
	keyFirst // the editor at the first error, at the one after the last one opened, at the one before
	keyNext
	keyBefore
)

// watchView shows runs: on a terminal, as text, or as JSON.
type view interface {
	size() (cols, rows int, ok bool) // for the session; not ok: no terminal
	begin(n int, command string, cause []string)
	write(o api.Output)
	status(s progress.State)
	stopped()         // the run was ended for another one, or for good
	report(r *report) // a run ended
	idle(text string) // nothing runs; text says how the last run ended
	lend(open func() error)
	raw(b []byte) int // writes to the terminal; 0: there is none
	keys() <-chan key
	resized() <-chan os.Signal
	close()
}

func newView(p *output.Printer, terminal *os.File, clear bool) (view, error) {
	switch {
	case p.JSON:
		return &jsonView{w: p.Stdout}, nil
	case terminal == nil:
		text := output.NewTextWriter(p.Stdout)
		text.LeftOut = p.BinaryLeft
		return &textView{w: p.Stdout, text: text}, nil
	}
	t, err := termio.Open(terminal, os.Stdout)
	if err != nil {
		return nil, err
	}
	v := &terminalView{t: t, clear: clear, in: make(chan key), went: make(chan struct{}), stop: make(chan struct{})}
	go v.read()
	v.region()
	return v, nil
}

// noTerminal is what views without a terminal do not do.
type noTerminal struct{}

func (noTerminal) size() (int, int, bool)    { return 0, 0, false }
func (noTerminal) status(progress.State)     {}
func (noTerminal) stopped()                  {}
func (noTerminal) idle(string)               {}
func (noTerminal) lend(func() error)         {}
func (noTerminal) raw([]byte) int            { return 0 }
func (noTerminal) keys() <-chan key          { return nil }
func (noTerminal) resized() <-chan os.Signal { return nil }
func (noTerminal) close()                    {}

// jsonWatch prints an object for each run.
type jsonView struct {
	noTerminal
	w io.Writer
}

func (v *jsonView) begin(int, string, []string) {}
func (v *jsonView) write(api.Output)            {}
func (v *jsonView) report(r *report)            { _ = r.json(v.w) }

// textWatch prints output as text, with a line before and lines after it.
type textView struct {
	noTerminal
	w    io.Writer
	text *output.TextWriter
}

func (v *textView) begin(n int, command string, cause []string) {
	fmt.Fprintln(v.w, headText(n, command, cause))
}
func (v *textView) write(o api.Output) { _ = v.text.Put(o) }
func (v *textView) stopped() {
	_ = v.text.Flush()
	fmt.Fprintln(v.w, "── ended")
}
func (v *textView) report(r *report) {
	_ = v.text.Flush()
	for _, l := range r.lines() {
		fmt.Fprintln(v.w, "── "+output.Printable(l))
	}
}

func headText(n int, command string, cause []string) string {
	text := fmt.Sprintf("── run %d: %s", n, output.Printable(command))
	if c := causeText(cause); c != "" {
		text += " (" + c + ")"
	}
	return text
}

// terminalWatch shows output as it is, above a status line in the last row. The rows
// above it are a scrolling region, set anew with each status: programs reset it.
type terminalView struct {
	t      *termio.Terminal
	clear  bool
	filter attach.Filter
	buf    []byte
	in     chan key
	stop   chan struct{}
	line   string        // the status line
	at     [2]int        // the size it was drawn at
	went   chan struct{} // the reader may go on
}

func (v *terminalView) size() (cols, rows int, ok bool) {
	cols, rows = v.t.Size()
	return cols, max(rows-1, 1), true
}

// region keeps the last row free, whatever row the cursor is in.
func (v *terminalView) region() {
	_, rows := v.t.Size()
	_ = v.t.Draw(fmt.Appendf(nil, "\r\n\x1b[A\x1b7\x1b[1;%dr\x1b8", max(rows-1, 1)))
}

func (v *terminalView) begin(n int, command string, cause []string) {
	if v.clear {
		_ = v.t.Draw([]byte("\x1b[H\x1b[2J\x1b[3J"))
	}
	v.filter = attach.Filter{}
	v.say("\x1b[2m", headText(n, command, cause))
	v.bottom("")
}

// say prints a line of longterm's own among the output.
func (v *terminalView) say(look, line string) {
	cols, _ := v.t.Size()
	_ = v.t.Draw([]byte("\x1b[m\r" + look + cut(output.Printable(line), cols) + "\x1b[m\x1b[K\r\n"))
}

func (v *terminalView) write(o api.Output) {
	v.buf = v.filter.Append(v.buf[:0], o.Data)
	_ = v.t.Draw(v.buf)
}

func (v *terminalView) status(s progress.State) { v.bottom(statusText(s)) }

// idleText says what can be done while nothing runs.
const idleText = "waiting for changes; Enter: run again, q: quit"

func (v *terminalView) idle(text string) {
	if text != "" {
		text += " · "
	}
	v.bottom(text + idleText)
}

// lend opens an editor on the terminal, and lets who reads keys go on afterwards: it waits since it read the key for it.
// nil opens nothing.
func (v *terminalView) lend(open func() error) {
	defer func() {
		select {
		case v.went <- struct{}{}:
		case <-v.stop:
		}
	}()
	if open == nil {
		return
	}
	err := v.t.Lend(open)
	v.line = ""
	v.region()
	if err != nil {
		v.say("\x1b[31m", "── "+err.Error())
	}
}

// afterResize clears away the status line of another size, which is below the cursor, wherever the terminal has it now, and brings the
// cursor out of the row that will be the last: what is printed there would not scroll.
const afterResize = "\x1b7\x1b[r\x1b8\x1b[J\x1bD\x1b[A"

// bottom draws the status line, if it says something new.
func (v *terminalView) bottom(text string) {
	cols, rows := v.t.Size()
	if text == v.line && v.at == [2]int{cols, rows} {
		return
	}
	resize := ""
	if v.at != [2]int{cols, rows} {
		resize = afterResize
	}
	v.line, v.at = text, [2]int{cols, rows}
	text = cut(" "+output.Printable(text), cols)
	text += strings.Repeat(" ", max(cols-uniseg.StringWidth(text), 0))
	_ = v.t.Draw(fmt.Appendf(nil, resize+"\x1b7\x1b[1;%dr\x1b[%d;1H\x1b[0;7m%s\x1b[m\x1b8", max(rows-1, 1), rows, text))
}

// cut cuts text to a width in cells. What is left out is marked.
func cut(text string, cols int) string {
	if uniseg.StringWidth(text) <= cols {
		return text
	}
	width := 0
	for g := uniseg.NewGraphemes(text); g.Next(); {
		if width += g.Width(); width >= cols {
			from, _ := g.Positions()
			return text[:from] + "…"[:min(cols, 1)*len("…")]
		}
	}
	return text
}

func (v *terminalView) stopped() { v.tidy() }

// tidy undoes what a program may have left behind.
func (v *terminalView) tidy() {
	_, rows := v.t.Size()
	b := append([]byte("\x1b[m\x1b[?25h\x1b[?7h"), v.t.Leave(max(rows-1, 1))...)
	_ = v.t.Draw(append(b, "\r\n"...))
}

func (v *terminalView) report(r *report) {
	v.tidy()
	look := "\x1b[32m"
	if r.run.Failed() {
		look = "\x1b[31m"
	}
	for i, l := range r.lines() {
		if i > 0 {
			look = lookOf(l)
		}
		v.say(look, "── "+l)
	}
}

func (v *terminalView) raw(b []byte) int {
	_ = v.t.Draw(b)
	return 1
}

func (v *terminalView) keys() <-chan key          { return v.in }
func (v *terminalView) resized() <-chan os.Signal { return v.t.Resized }

// read makes keys of what is typed. It ends with the process: a read cannot be ended.
func (v *terminalView) read() {
	v.t.KeysOr(v.typed, make(chan []byte), v.stop)
}

// typed makes keys of what was read, on the goroutine that reads. It does not return while an editor has the terminal.
func (v *terminalView) typed(b []byte) bool {
	for _, c := range b {
		k := key(0)
		switch c {
		case '\r', '\n', 'r', ' ':
			k = keyAgain
		case 'q', 3, 4:
			k = keyQuit
		case 'e':
			k = keyFirst
		case 'n':
			k = keyNext
		case 'p':
			k = keyBefore
		default:
			continue
		}
		select {
		case v.in <- k:
		case <-v.stop:
			return true
		}
		if k < keyFirst {
			continue
		}
		select { // what is typed now is the editor's
		case <-v.went:
		case <-v.stop:
			return true
		}
	}
	return true
}

func (v *terminalView) close() {
	close(v.stop)
	_, rows := v.t.Size()
	_ = v.t.Draw(fmt.Appendf(nil, "\x1b7\x1b[%d;1H\x1b[m\x1b[2K\x1b8\x1b7\x1b[r\x1b8", rows))
	v.t.Restore(false)
}
