package canvas

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/picture"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm"
)

// What the terminal is asked and told: its background (OSC 11), and that it tell when its colours become light or dark
// (mode 2031). Inside of tmux the question is put to the terminal around it too, where that is allowed.
const (
	askGround     = "\x1b]10;?\x1b\\\x1b]11;?\x1b\\"
	askGroundTmux = "\x1bPtmux;\x1b\x1b]11;?\x1b\x1b\\\x1b\\"
	askKeys       = "\x1b[?u" // kitty keyboard protocol
	tellChanges   = "\x1b[?2031h"
	tellNoChanges = "\x1b[?2031l"
)

// hearing is the terminal, with an ear for what it says of its background. The screen gets all the same bytes: it leaves
// out what it does not know.
type hearing struct {
	tcell.Tty
	screen  tcell.Screen // that draws on it
	settled atomic.Bool  // cells of the screen are locked
	anew    atomic.Bool  // it asked to be drawn anew
	scan    groundScan
	typed   typedText
	keys    keyTap
	fence   fence
	leaving atomic.Bool // input is dropped, answers are counted
	tell    func(theme.Ground)

	mu      sync.Mutex // guards answers
	answers picture.Answers
	onOuter func(vterm.Outer)   // receives the answers; may be nil
	newest  vterm.Outer         // the value that onOuter received last
	able    func(picture.Means) // nil: nobody wants to know what images it can draw

	writing sync.Mutex // guards drawing
	drawing []byte     // has begun with beginSync, and waits for its endSync
}

// A drawing that a terminal shows as one (mode 2026). The screen writes its end by itself.
const (
	beginSync = "\x1b[?2026h"
	endSync   = "\x1b[?2026l"
)

// Write has a drawing go with its end, in one call of the system: else a terminal that shows it as one waits for the second,
// which comes when this process had its next turn.
func (h *hearing) Write(p []byte) (int, error) {
	h.fence.countQueries(p, time.Now())
	h.writing.Lock()
	defer h.writing.Unlock()
	begins := bytes.HasPrefix(p, []byte(beginSync)) && !bytes.HasSuffix(p, []byte(endSync))
	if len(h.drawing) == 0 && !begins {
		return h.Tty.Write(p)
	}
	h.drawing = append(h.drawing, p...)
	if begins {
		return len(p), nil
	}
	_, err := h.Tty.Write(h.drawing)
	h.drawing = h.drawing[:0]
	return len(p), err
}

func (h *hearing) Read(p []byte) (int, error) {
	return h.keys.read(p, func(p []byte) (int, error) { return h.typed.read(p, h.hear) })
}

// hear reads what comes from the terminal, and takes notice of its answers.
func (h *hearing) hear(p []byte) (int, error) {
	for {
		n, err := h.hearOnce(p)
		if n <= 0 || err != nil || !h.leaving.Load() {
			return n, err
		}
	}
}

func (h *hearing) hearOnce(p []byte) (int, error) {
	n, err := h.Tty.Read(p)
	h.mu.Lock()
	h.scan.feed(p[:max(n, 0)], h.tell)
	before := h.answers.Attributes
	news, means, able := h.answers.Feed(p[:max(n, 0)]), h.answers.Means(), h.able
	attributes := h.answers.Attributes - before
	if attributes > 0 && h.scan.outer.Keys == "" { // it has no kitty protocol: its answer would come first
		h.scan.outer.Keys = vterm.KeysPress
	}
	outer, onOuter := h.scan.outer, h.onOuter
	changed := h.answers.Attributes > 0 && outer != h.newest && onOuter != nil
	if changed {
		h.newest = outer
	}
	h.mu.Unlock()
	if changed {
		onOuter(outer)
	}
	if attributes > 0 {
		h.fence.countAnswers(attributes)
	}
	if news && able != nil {
		able(means)
	}
	return n, err
}

// AskGround asks a terminal for its background; what it answers comes where Terminal was told. Other screens do not know.
func AskGround(screen tcell.Screen, insideTmux bool) (asked bool) {
	text := askGround + askKeys + tellChanges
	if insideTmux {
		text = askGroundTmux + text
	}
	return write(screen, text)
}

// SetKeyboard sets the flags of the kitty keyboard protocol by which a terminal reports keys. They replace those of the screen
// library. It returns false for other screens than terminals.
func SetKeyboard(screen tcell.Screen, flags uint8) bool {
	return write(screen, "\x1b[="+strconv.Itoa(int(flags))+";1u")
}

// OnOuter calls known with what a terminal answers about itself, and again when an answer changes. known runs on the goroutine that
// reads the terminal. Call OnOuter before AskMeans, whose query comes last.
func OnOuter(screen tcell.Screen, known func(vterm.Outer)) {
	tty, _ := screen.Tty()
	if h, ok := tty.(*hearing); ok {
		h.mu.Lock()
		h.onOuter = known
		h.mu.Unlock()
	}
}

// note stores an answer in s.outer.
func (s *groundScan) note(answer []byte) {
	text := string(answer)
	switch {
	case text == "\x1b[?997;1n":
		s.outer.Scheme = vterm.SchemeDark
	case text == "\x1b[?997;2n":
		s.outer.Scheme = vterm.SchemeLight
	case strings.HasPrefix(text, "\x1b[?") && strings.HasSuffix(text, "u"):
		s.outer.Keys = vterm.KeysAll
	case strings.HasPrefix(text, "\x1b]10;rgb"):
		s.outer.Foreground = colourOf(text)
	case strings.HasPrefix(text, "\x1b]11;rgb"):
		s.outer.Background = colourOf(text)
		if g, _ := groundOf(answer); g != theme.UnknownGround {
			s.outer.Scheme = map[bool]string{true: vterm.SchemeLight, false: vterm.SchemeDark}[g == theme.LightGround]
		}
	}
}

// colourOf returns the colour of an answer to OSC 10 or 11.
func colourOf(answer string) string {
	return strings.TrimRight(answer[len("\x1b]11;"):], "\x07\x1b\\")
}

// LeaveGround undoes what AskGround asked for.
func LeaveGround(screen tcell.Screen) { _ = write(screen, tellNoChanges) }

func write(screen tcell.Screen, text string) bool {
	tty, _ := screen.Tty()
	h, ok := tty.(*hearing)
	if ok {
		_, _ = h.Write([]byte(text)) // a terminal that is gone is noticed where it is drawn
	}
	return ok
}

// groundScan finds what a terminal says of its background among all that is typed, which comes in pieces.
type groundScan struct {
	held  []byte
	outer vterm.Outer // from the answers so far
}

// maxAnswer is longer than any such answer.
const maxAnswer = 64

func (s *groundScan) feed(p []byte, tell func(theme.Ground)) {
	for _, b := range p {
		inString := len(s.held) > 1 && s.held[1] == ']'
		switch {
		case b == 0x1b && !inString:
			s.held = s.held[:0]
		case inString && s.held[len(s.held)-1] == 0x1b && b != '\\': // it was broken off
			s.held = append(s.held[:0], 0x1b)
			if b == 0x1b {
				continue
			}
		}
		if len(s.held) == 0 && b != 0x1b {
			continue
		}
		if s.held = append(s.held, b); len(s.held) > maxAnswer || len(s.held) == 2 && b != '[' && b != ']' {
			s.held = s.held[:0]
			continue
		}
		if g, done := groundOf(s.held); done {
			s.note(s.held)
			s.held = s.held[:0]
			if g != theme.UnknownGround {
				tell(g)
			}
		}
	}
}

// groundOf reads an answer, once all of it is there.
func groundOf(text []byte) (g theme.Ground, done bool) {
	if rest, ok := bytes.CutPrefix(text, []byte("\x1b[")); ok {
		if len(rest) == 0 || rest[len(rest)-1] < 0x40 {
			return g, false
		}
		switch string(rest) {
		case "?997;1n":
			g = theme.DarkGround
		case "?997;2n":
			g = theme.LightGround
		}
		return g, true
	}
	rest, ok := bytes.CutPrefix(text, []byte("\x1b]"))
	if !ok {
		return g, false
	}
	body, ended := bytes.CutSuffix(rest, []byte("\x07"))
	if !ended {
		if body, ended = bytes.CutSuffix(rest, []byte("\x1b\\")); !ended {
			return g, false
		}
	}
	return GroundOfColour(string(body)), true
}

// GroundOfColour says whether an answer to OSC 11 is a light colour: one whose luminance (ITU-R BT.709) is nearer to
// white than to black. It is that of xterm, as in 11;rgb:ffff/ffff/dddd.
func GroundOfColour(answer string) theme.Ground {
	spec, ok := strings.CutPrefix(answer, "11;rgb:")
	if !ok {
		if spec, ok = strings.CutPrefix(answer, "11;rgba:"); !ok {
			return theme.UnknownGround
		}
	}
	parts := strings.Split(spec, "/")
	if len(parts) < 3 {
		return theme.UnknownGround
	}
	luminance := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil || len(parts[i]) > 4 {
			return theme.UnknownGround
		}
		luminance += weight * float64(v) / float64(uint64(1)<<(4*len(parts[i]))-1)
	}
	if luminance > 0.5 {
		return theme.LightGround
	}
	return theme.DarkGround
}
