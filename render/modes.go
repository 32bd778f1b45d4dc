package render

import (
	"strconv"

	"github.com/longterm-dev/longterm/vterm"
)

// mode is a terminal mode that is copied to the terminal on which a session is shown.
type mode struct {
	set string // parameter of SM and RM, with its prefix
	on  func(*vterm.Modes) bool
}

// attachModes are copied to the terminal of an attached user: they determine what its keys and mouse send, and how
// further output is interpreted. The screen comes first, reports of the colour scheme come last.
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

// AppendModes appends sequences that set the given modes on a real terminal, whatever its current modes. It never sets
// synchronized output, because the following output must be visible, or in-band resize, because the session's emulator
// reports sizes itself.
func AppendModes(dst []byte, m *vterm.Modes) []byte { return appendModes(dst, m, attachModes[:]) }

// AppendTerminal appends sequences that bring another terminal to the state of an engine whose frame is f: later output
// then has the same effect on both. behind is the primary screen if f is of the alternate one. Modes precede the
// content that they affect: the alternate screen starts empty, and leaving it moves the cursor. All images use the
// kitty graphics protocol.
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
	if c, ok := e.(interface{ AppendOutputState([]byte) []byte }); ok {
		dst = c.AppendOutputState(dst)
	}
	return dst
}

// Settings is implemented by engines that can export the settings that programs made besides modes (see
// vterm.Terminal).
type Settings interface {
	AppendSettings(dst []byte) []byte
	AppendKeyStack(dst []byte, alternate bool) []byte
}

type noSettings struct{}

func (noSettings) AppendSettings(dst []byte) []byte         { return dst }
func (noSettings) AppendKeyStack(dst []byte, _ bool) []byte { return dst }

// AppendAttachedModes is AppendModes for the terminal of an attached client, without reports of the colour scheme,
// which the client sets itself. With here set, the terminal stays on its current screen, and the wheel sends cursor
// keys only if the program uses the alternate screen.
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

// appendKeyModes appends XTMODKEYS resource 4 and the flags of the kitty keyboard protocol.
func appendKeyModes(dst []byte, m *vterm.Modes) []byte {
	dst = append(dst, "\x1b[>4;"...)
	dst = strconv.AppendInt(dst, int64(m.ModifyOtherKeys), 10)
	dst = append(dst, "m\x1b[="...)
	dst = strconv.AppendInt(dst, int64(m.Kitty), 10)
	return append(dst, ";1u"...)
}

// AppendModesReset appends sequences that restore a real terminal for its user: they reset every mode that an attached
// session may have set, show the primary screen and the cursor, and set the default style. The cursor's position is
// undefined afterwards, because resetting margins and origin mode moves it.
func AppendModesReset(dst []byte) []byte {
	off := vterm.Modes{AltScroll: true} // on is the default of nearly all terminals
	dst = append(dst, "\x1b]8;;\x1b\\\x1b[m\x1b[?69l\x1b[r\x1b[?6l\x1b[4l\x1b[?7h\x1b[?45l\x1b(B\x0f"...)
	dst = append(dst, "\x1b[?42l\x1b[?80l\x1b[?1045l\x1b[?8452l\x1b[?1070h\x1b[>4;0f\x1b[<16u"...)
	dst = appendKeyModes(dst, &off) // kitty keeps the flags per screen: of this one, then of the primary
	dst = AppendModes(dst, &off)
	return append(dst, "\x1b[0 q\x1b[?25h\x1b[m"...)
}

// AppendSettingsReset appends sequences that reset a terminal's colours (OSC 104, 105, 110–119), tab stops (DECST8C)
// and mouse pointer, for terminals on which a program changed some of them. It is not part of AppendModesReset, because
// users set those too.
func AppendSettingsReset(dst []byte) []byte {
	dst = append(dst, "\x1b]104\x1b\\\x1b]105\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\\x1b]113\x1b\\\x1b]114\x1b\\"...)
	return append(dst, "\x1b]117\x1b\\\x1b]119\x1b\\\x1b]22;\x1b\\\x1b[?5W"...)
}
