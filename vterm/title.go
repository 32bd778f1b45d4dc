package vterm

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// titles holds the window title and icon label with their stack (CSI 22/23 t).
type titles struct {
	window, icon string
	stack        [][2]string // icon, window
	// modes of XTSMTITLE: set and query titles in hex. UTF-8 modes are always on.
	setHex, queryHex bool
}

const (
	titleMax      = 4096 // bytes
	titleStackMax = 10   // as in xterm
)

// oscSun handles dtterm's form: OSC l title, OSC L icon label.
func (t *Terminal) oscSun(kind byte, s string) {
	switch kind {
	case 'l':
		t.setTitle(t.title.text(s))
	case 'L':
		t.setIcon(t.title.text(s))
	}
}

func (t *Terminal) oscTitle(n int, s string) {
	s = t.title.text(s)
	if n != 2 {
		t.setIcon(s)
	}
	if n != 1 {
		t.setTitle(s)
	}
}

// reportTitle reports text that output chose, so it does nothing unless Options.ReportTitle is set.
func (t *Terminal) reportTitle(kind byte, s string) {
	if !t.opts.ReportTitle {
		s = ""
	} else if t.title.queryHex {
		s = toHex(s)
	}
	t.reply(']', string(kind)+s+t.terminator())
}

// push implements CSI 22 ; which t: 0 both, 1 icon label, 2 window title.
func (w *titles) push(which int) {
	if which > 2 {
		return
	}
	if len(w.stack) == titleStackMax {
		w.stack = slices.Delete(w.stack, 0, 1)
	}
	w.stack = append(w.stack, [2]string{w.icon, w.window})
}

// popTitle implements CSI 23 ; which t.
func (t *Terminal) popTitle(which int) {
	n := len(t.title.stack)
	if n == 0 || which > 2 {
		return
	}
	top := t.title.stack[n-1]
	t.title.stack = t.title.stack[:n-1]
	if which != 2 {
		t.setIcon(top[0])
	}
	if which != 1 {
		t.setTitle(top[1])
	}
}

func (t *Terminal) setTitle(s string) {
	t.title.window = s
	t.emit(Event{Kind: EventTitle, Text: s})
}

func (t *Terminal) setIcon(s string) {
	t.title.icon = s
	t.emit(Event{Kind: EventIconLabel, Text: s})
}

// setModes implements XTSMTITLE and XTRMTITLE.
func (w *titles) setModes(s *parse.Seq, on bool) {
	if s.N == 0 {
		w.setHex, w.queryHex = false, false
	}
	for i := range s.N {
		switch s.Param(i, -1) {
		case 0:
			w.setHex = on
		case 1:
			w.queryHex = on
		}
	}
}

// text decodes, truncates and cleans a new title.
func (w *titles) text(s string) string {
	if w.setHex {
		s = fromHex(s)
	}
	return clip(strings.Map(printable, s), titleMax)
}
