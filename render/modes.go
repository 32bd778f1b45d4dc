package render

import (
	"strconv"

	"github.com/longterm-dev/longterm/vterm"
)

// mode is a mode that matters to a terminal a session is shown on.
type mode struct {
	set string // parameter of SM and RM, with its prefix
	on  func(*vterm.Modes) bool
}

// attachModes are carried over to the terminal of an attached person: they decide what
// its keys and mouse send, and how the output that follows is taken. The screen is first, reports of the colour scheme are last.
var attachModes = [...]mode{
	{"?1049", func(m *vterm.Modes) bool { return m.AltScreen }},
	{"?1", func(m *vterm.Modes) bool { return m.AppCursor }},
	{"?5", func(m *vterm.Modes) bool { return m.ReverseVideo }},
	{"?67", func(m *vterm.Modes) bool { return m.BackarrowBS }},
	{"20", func(m *vterm.Modes) bool { return m.NewLine }},
	{"?9", func(m *vterm.Modes) bool { return m.Mouse == vterm.MouseX10 }},
	{"?1000", func(m *vterm.Modes) bool { return m.Mouse == vterm.MouseNormal }},
	{"?1002", func(m *vterm.Modes) bool { return m.Mouse == vterm.MouseButton }},
	{"?1003", func(m *vterm.Modes) bool { return m.Mouse == vterm.MouseAny }},
	{"?1005", func(m *vterm.Modes) bool { return m.MouseEncoding == vterm.MouseEncodingUTF8 }},
	{"?1006", func(m *vterm.Modes) bool { return m.MouseEncoding == vterm.MouseEncodingSGR }},
	{"?1015", func(m *vterm.Modes) bool { return m.MouseEncoding == vterm.MouseEncodingURXVT }},
	{"?1016", func(m *vterm.Modes) bool { return m.MouseEncoding == vterm.MouseEncodingPixel }},
	{"?1004", func(m *vterm.Modes) bool { return m.FocusEvents }},
	{"?1007", func(m *vterm.Modes) bool { return m.AltScroll }},
	{"?2004", func(m *vterm.Modes) bool { return m.BracketedPaste }},
	{"?2031", func(m *vterm.Modes) bool { return m.SchemeReports }},
}

// AppendModes appends sequences that put a real terminal, in whatever of these modes it
// may be, into the modes given. Two are never carried over: synchronized output, because
// what follows is meant to be seen, and in-band resize, because the session's emulator
// reports sizes itself.
func AppendModes(dst []byte, m *vterm.Modes) []byte { return appendModes(dst, m, attachModes[:]) }

// AppendTerminal appends what brings another terminal, whatever it shows, to where an engine stands, of which f is the
// frame: what is printed next does the same on both. behind is the primary screen where f is of the alternate one. Modes are
// before what they are of: the alternate screen begins empty, and to leave it moves the cursor. Images are said by the kitty
// graphics protocol, whichever they came by.
func AppendTerminal(dst []byte, e vterm.Engine, f, behind *vterm.Frame) []byte {
	m := e.Modes()
	settings, ok := e.(Settings)
	if !ok {
		settings = noSettings{}
	}
	dst = settings.AppendSettings(dst)
	if f.Alt {
		primary := m
		primary.AltScreen = false
		dst = settings.AppendKeyStack(AppendModes(dst, &primary), false)
		dst = AppendANSI(dst, behind, ANSIOptions{Repaint: true, Exact: true, images: imagesUnnamed})
	}
	dst = settings.AppendKeyStack(AppendModes(dst, &m), f.Alt)
	dst = AppendANSI(dst, f, ANSIOptions{Repaint: true, Exact: true, images: imagesNamed})
	if c, ok := e.(interface{ AppendCarry([]byte) []byte }); ok {
		dst = c.AppendCarry(dst)
	}
	return dst
}

// Settings is implemented by engines that can restore what programs set besides modes. See vterm.Terminal for the methods.
type Settings interface {
	AppendSettings(dst []byte) []byte
	AppendKeyStack(dst []byte, alternate bool) []byte
}

type noSettings struct{}

func (noSettings) AppendSettings(dst []byte) []byte         { return dst }
func (noSettings) AppendKeyStack(dst []byte, _ bool) []byte { return dst }

// AppendAttachedModes is AppendModes for the terminal of an attached client, without reports of the colour scheme: the client
// sets these itself. With here set, the terminal stays on the screen that it shows, and the wheel sends cursor keys only if the
// program is on an alternate screen.
func AppendAttachedModes(dst []byte, m *vterm.Modes, here bool) []byte {
	all := attachModes[:len(attachModes)-1]
	if !here {
		return appendModes(dst, m, all)
	}
	own := *m
	own.AltScroll = m.AltScroll && m.AltScreen
	return appendModes(dst, &own, all[1:])
}

func appendModes(dst []byte, m *vterm.Modes, modes []mode) []byte {
	dst = append(dst, "\x1b[?2026l\x1b[?2048l"...)
	for i := range modes {
		if !modes[i].on(m) {
			dst = appendMode(dst, modes[i].set, 'l')
		}
	}
	for i := range modes { // after the resets: mouse modes undo each other
		if modes[i].on(m) {
			dst = appendMode(dst, modes[i].set, 'h')
		}
	}
	if m.AppKeypad {
		dst = append(dst, "\x1b="...)
	} else {
		dst = append(dst, "\x1b>"...)
	}
	return appendKeyModes(dst, m)
}

func appendMode(dst []byte, set string, final byte) []byte {
	dst = append(dst, "\x1b["...)
	dst = append(dst, set...)
	return append(dst, final)
}

// appendKeyModes are XTMODKEYS resource 4 and the flags of the kitty keyboard protocol.
func appendKeyModes(dst []byte, m *vterm.Modes) []byte {
	dst = append(dst, "\x1b[>4;"...)
	dst = strconv.AppendInt(dst, int64(m.ModifyOtherKeys), 10)
	dst = append(dst, "m\x1b[="...)
	dst = strconv.AppendInt(dst, int64(m.Kitty), 10)
	return append(dst, ";1u"...)
}

// AppendModesReset appends sequences that give a real terminal back to its user: every
// mode that an attached session may have set is reset, the primary screen shown, the
// cursor visible, the style default. Where the cursor is left is undefined: what resets
// margins and origin moves it.
func AppendModesReset(dst []byte) []byte {
	off := vterm.Modes{AltScroll: true} // on is the default of nearly all terminals
	dst = append(dst, "\x1b]8;;\x1b\\\x1b[m\x1b[?69l\x1b[r\x1b[?6l\x1b[4l\x1b[?7h\x1b[?45l\x1b(B\x0f"...)
	dst = append(dst, "\x1b[?42l\x1b[?80l\x1b[?1045l\x1b[?8452l\x1b[?1070h\x1b[>4;0f\x1b[<16u"...)
	dst = appendKeyModes(dst, &off) // kitty keeps the flags per screen: of this one, then of the primary
	dst = AppendModes(dst, &off)
	return append(dst, "\x1b[0 q\x1b[?25h\x1b[m"...)
}

// AppendSettingsReset appends the sequences that reset a terminal's colours (OSC 104, 105, 110–119), tab stops (DECST8C) and mouse pointer,
// for terminals on which a program has set some of them. AppendModesReset does not include it, because users set those too.
func AppendSettingsReset(dst []byte) []byte {
	dst = append(dst, "\x1b]104\x1b\\\x1b]105\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\\x1b]113\x1b\\\x1b]114\x1b\\"...)
	return append(dst, "\x1b]117\x1b\\\x1b]119\x1b\\\x1b]22;\x1b\\\x1b[?5W"...)
}
