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

// key is a key of the user while a command is watched.
type key uint8

const (
	keyRerun key = iota + 1
	keyQuit
	// keyFirst opens the editor at the first error, keyNext at the one after the last opened one, keyBefore at the one
	// before
	keyFirst
	keyNext
	keyBefore
)

// view shows runs: on a terminal, as text, or as JSON.
type view interface {
	size() (cols, rows int, ok bool) // size for the session; ok reports whether there is a terminal
	begin(n int, command string, cause []string)
	write(o api.Output)
	status(s progress.State)
	stopped()               // the run was killed, by a change or for good
	report(r *report)       // a run ended
	idle(text string)       // no run is active; text summarizes the last one
	lend(open func() error) // runs open, an editor, on the terminal
	raw(b []byte) int       // writes to the terminal; 0: no terminal
	keys() <-chan key
	resizeSignals() <-chan os.Signal
	close()
}

func newView(p *output.Printer, terminal *os.File, clear bool) (view, error) {
	switch {
	case p.JSON:
		return &jsonView{w: p.Stdout}, nil
	case terminal == nil:
		text := output.NewTextWriter(p.Stdout)
		text.OnBinary = p.PrintBinaryOmitted
		return &textView{w: p.Stdout, text: text}, nil
	}
	t, err := termio.Open(terminal, os.Stdout)
	if err != nil {
		return nil, err
	}
	v := &terminalView{t: t, clear: clear, in: make(chan key), readerResume: make(chan struct{}), stop: make(chan struct{})}
	go v.read()
	v.setRegion()
	return v, nil
}

// noTerminal implements the methods that views without a terminal ignore.
type noTerminal struct{}

func (noTerminal) size() (int, int, bool)          { return 0, 0, false }
func (noTerminal) status(progress.State)           {}
func (noTerminal) stopped()                        {}
func (noTerminal) idle(string)                     {}
func (noTerminal) lend(func() error)               {}
func (noTerminal) raw([]byte) int                  { return 0 }
func (noTerminal) keys() <-chan key                { return nil }
func (noTerminal) resizeSignals() <-chan os.Signal { return nil }
func (noTerminal) close()                          {}

// jsonView prints an object for each run.
type jsonView struct {
	noTerminal
	w io.Writer
}

func (v *jsonView) begin(int, string, []string) {}
func (v *jsonView) write(api.Output)            {}
func (v *jsonView) report(r *report)            { _ = r.json(v.w) }

// textView prints output as text, with a line before and lines after it.
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

// terminalView shows output above a status line in the last row. The rows above it are a scrolling region, set again
// with each status because programs reset it.
type terminalView struct {
	t            *termio.Terminal
	clear        bool
	filter       attach.Filter
	buf          []byte
	in           chan key
	stop         chan struct{}
	line         string        // the status line
	lineSize     [2]int        // terminal size when line was drawn
	readerResume chan struct{} // lets the key reader continue
}

func (v *terminalView) size() (cols, rows int, ok bool) {
	cols, rows = v.t.Size()
	return cols, max(rows-1, 1), true
}

// setRegion sets the scrolling region to all rows but the last, for any position of the cursor.
func (v *terminalView) setRegion() {
	_, rows := v.t.Size()
	_ = v.t.Draw(fmt.Appendf(nil, "\r\n\x1b[A\x1b7\x1b[1;%dr\x1b8", max(rows-1, 1)))
}

func (v *terminalView) begin(n int, command string, cause []string) {
	if v.clear {
		_ = v.t.Draw([]byte("\x1b[H\x1b[2J\x1b[3J"))
	}
	v.filter = attach.Filter{}
	v.printLine("\x1b[2m", headText(n, command, cause))
	v.drawStatus("")
}

// printLine prints a line of longterm among the output.
func (v *terminalView) printLine(look, line string) {
	cols, _ := v.t.Size()
	_ = v.t.Draw([]byte("\x1b[m\r" + look + cut(output.Printable(line), cols) + "\x1b[m\x1b[K\r\n"))
}

func (v *terminalView) write(o api.Output) {
	v.buf = v.filter.Append(v.buf[:0], o.Data)
	_ = v.t.Draw(v.buf)
}

func (v *terminalView) status(s progress.State) { v.drawStatus(statusText(s)) }

// idleText lists the keys while no run is active.
const idleText = "waiting for changes; Enter: run again, q: quit"

func (v *terminalView) idle(text string) {
	if text != "" {
		text += " · "
	}
	v.drawStatus(text + idleText)
}

// lend runs open, an editor, on the terminal. Then it lets the key reader continue, which has blocked since it read the
// key. A nil open only unblocks the reader.
func (v *terminalView) lend(open func() error) {
	defer func() {
		select {
		case v.readerResume <- struct{}{}:
		case <-v.stop:
		}
	}()
	if open == nil {
		return
	}
	err := v.t.Lend(open)
	v.line = ""
	v.setRegion()
	if err != nil {
		v.printLine("\x1b[31m", "── "+err.Error())
	}
}

// afterResize erases the status line of the previous size, which is below the cursor, and moves the cursor out of the
// new last row: output there would not scroll.
const afterResize = "\x1b7\x1b[r\x1b8\x1b[J\x1bD\x1b[A"

// drawStatus draws the status line if it has changed.
func (v *terminalView) drawStatus(text string) {
	cols, rows := v.t.Size()
	if text == v.line && v.lineSize == [2]int{cols, rows} {
		return
	}
	resize := ""
	if v.lineSize != [2]int{cols, rows} {
		resize = afterResize
	}
	v.line, v.lineSize = text, [2]int{cols, rows}
	text = cut(" "+output.Printable(text), cols)
	text += strings.Repeat(" ", max(cols-uniseg.StringWidth(text), 0))
	_ = v.t.Draw(fmt.Appendf(nil, resize+"\x1b7\x1b[1;%dr\x1b[%d;1H\x1b[0;7m%s\x1b[m\x1b8", max(rows-1, 1), rows, text))
}

// cut truncates text to a width in cells and marks the cut.
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

func (v *terminalView) stopped() { v.resetModes() }

// resetModes resets modes that a program may have set.
func (v *terminalView) resetModes() {
	_, rows := v.t.Size()
	b := append([]byte("\x1b[m\x1b[?25h\x1b[?7h"), v.t.Leave(max(rows-1, 1))...)
	_ = v.t.Draw(append(b, "\r\n"...))
}

func (v *terminalView) report(r *report) {
	v.resetModes()
	look := "\x1b[32m"
	if r.run.HasFailed() {
		look = "\x1b[31m"
	}
	for i, l := range r.lines() {
		if i > 0 {
			look = colorOf(l)
		}
		v.printLine(look, "── "+l)
	}
}

func (v *terminalView) raw(b []byte) int {
	_ = v.t.Draw(b)
	return 1
}

func (v *terminalView) keys() <-chan key                { return v.in }
func (v *terminalView) resizeSignals() <-chan os.Signal { return v.t.Resized }

// read turns typed bytes into keys. It ends with the process: a blocked read cannot be canceled.
func (v *terminalView) read() {
	v.t.KeysOr(v.handleInput, make(chan []byte), v.stop)
}

// handleInput turns bytes into keys on the reading goroutine. It does not return while an editor has the terminal.
func (v *terminalView) handleInput(b []byte) bool {
	for _, c := range b {
		k := key(0)
		switch c {
		case '\r', '\n', 'r', ' ':
			k = keyRerun
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
		select { // input now belongs to the editor
		case <-v.readerResume:
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
