package input

import (
	"unicode/utf8"

	"github.com/longterm-dev/longterm/vterm"
)

// Mouse reports: xterm ctlseqs, "Mouse Tracking" and "Extended coordinates".

// alternateScrollLines is the number of cursor keys for one wheel step on the alternate screen (mode 1007).
const alternateScrollLines = 3

// mouseCodes maps buttons to the codes in reports.
var mouseCodes = [...]int{
	ButtonNone: 3, ButtonLeft: 0, ButtonMiddle: 1, ButtonRight: 2,
	ButtonWheelUp: 64, ButtonWheelDown: 65, ButtonWheelLeft: 66, ButtonWheelRight: 67,
	ButtonBack: 128, ButtonForward: 129,
}

// Additions to the button code.
const (
	mouseShift  = 4
	mouseAlt    = 8
	mouseCtrl   = 16
	mouseMotion = 32
)

// Largest positions of the old encodings, 1-based.
const (
	maxMouseX10  = 255 - 32
	maxMouseUTF8 = 2015
)

// AppendMouse appends the bytes of a mouse event under modes m, or nothing if the program did not enable it or the
// encoding cannot express the position.
func AppendMouse(dst []byte, ev Mouse, m *vterm.Modes) []byte {
	if int(ev.Button) >= len(mouseCodes) || ev.Row < 0 || ev.Col < 0 {
		return dst
	}
	wheel := ev.Button >= ButtonWheelUp && ev.Button <= ButtonWheelRight
	if m.Mouse == vterm.MouseOff {
		return appendAlternateScroll(dst, &ev, m)
	}
	if !mouseWanted(&ev, wheel, m.Mouse) {
		return dst
	}
	code := mouseCodes[ev.Button]
	if ev.Action == MouseMotion {
		code += mouseMotion
	}
	if m.Mouse != vterm.MouseX10 {
		code += mouseMods(ev.Mods)
	}
	return appendMouseReport(dst, code, &ev, m)
}

// mouseWanted reports whether a tracking mode includes an event. The wheel only has presses.
func mouseWanted(ev *Mouse, wheel bool, t vterm.MouseTracking) bool {
	switch {
	case ev.Action == MouseMotion && (t == vterm.MouseX10 || t == vterm.MouseNormal || wheel):
		return false
	case ev.Action == MouseMotion:
		return t == vterm.MouseAny || ev.Button != ButtonNone
	case ev.Button == ButtonNone || ev.Action == MouseRelease && wheel:
		return false
	case t == vterm.MouseX10:
		return ev.Action == MousePress && ev.Button <= ButtonRight
	}
	return true
}

func mouseMods(mods Mods) (code int) {
	if mods&Shift != 0 {
		code |= mouseShift
	}
	if mods&(Alt|Meta) != 0 {
		code |= mouseAlt
	}
	if mods&Ctrl != 0 {
		code |= mouseCtrl
	}
	return code
}

func appendMouseReport(dst []byte, code int, ev *Mouse, m *vterm.Modes) []byte {
	x, y := ev.Col+1, ev.Row+1
	final := byte('M')
	release := ev.Action == MouseRelease
	switch m.MouseEncoding {
	case vterm.MouseEncodingSGR, vterm.MouseEncodingPixel:
		if m.MouseEncoding == vterm.MouseEncodingPixel {
			x, y = mousePixels(ev, m)
		}
		if release {
			final = 'm'
		}
		dst = append(dst, "\x1b[<"...)
		return appendNumbers(dst, final, code, x, y)
	}
	if release { // the encoding has no button number for releases
		code = code&(mouseShift|mouseAlt|mouseCtrl) | mouseCodes[ButtonNone]
	}
	switch {
	case m.MouseEncoding == vterm.MouseEncodingURXVT:
		dst = append(dst, "\x1b["...)
		return appendNumbers(dst, final, code+32, x, y)
	case m.MouseEncoding == vterm.MouseEncodingUTF8 && max(x, y) <= maxMouseUTF8:
		dst = append(dst, "\x1b[M"...)
		for _, v := range [...]int{code, x, y} {
			dst = utf8.AppendRune(dst, rune(32+v))
		}
	case m.MouseEncoding == vterm.MouseEncodingX10 && max(x, y) <= maxMouseX10:
		dst = append(dst, '\x1b', '[', 'M', byte(32+code), byte(32+x), byte(32+y))
	}
	return dst
}

// mousePixels returns the position in pixels, 1-based: the middle of the cell if only that is known.
func mousePixels(ev *Mouse, m *vterm.Modes) (x, y int) {
	if ev.PixelX > 0 || ev.PixelY > 0 {
		return max(ev.PixelX, 0) + 1, max(ev.PixelY, 0) + 1
	}
	w, h := max(m.CellWidth, 1), max(m.CellHeight, 1)
	return ev.Col*w + w/2 + 1, ev.Row*h + h/2 + 1
}

// appendAlternateScroll converts wheel steps to cursor keys, for programs such as pagers that do not track the mouse.
func appendAlternateScroll(dst []byte, ev *Mouse, m *vterm.Modes) []byte {
	if !m.AltScroll || !m.AltScreen || ev.Action != MousePress {
		return dst
	}
	code := KeyUp
	switch ev.Button {
	case ButtonWheelUp:
	case ButtonWheelDown:
		code = KeyDown
	default:
		return dst
	}
	for range alternateScrollLines {
		dst = AppendKey(dst, Key{Code: code}, m)
	}
	return dst
}
