package input

import (
	"testing"

	"github.com/longterm-dev/longterm/vterm"
)

// TestMouse checks the mouse modes and encodings. Sources: xterm ctlseqs, "Mouse Tracking": "X10 compatibility mode",
// "Normal tracking mode", "Button-event tracking", "Any-event tracking", "Extended coordinates".
func TestMouse(t *testing.T) {
	press, release, motion := MousePress, MouseRelease, MouseMotion
	for _, tt := range []struct {
		name  string
		track vterm.MouseTracking
		enc   vterm.MouseEncoding
		ev    Mouse
		want  string
	}{
		{"off", vterm.MouseOff, 0, Mouse{Button: ButtonLeft}, ""},
		{"X10 press", vterm.MouseX10, 0, Mouse{Button: ButtonLeft, Row: 1, Col: 2}, "\x1b[M #\""},
		{"X10 has no modifiers", vterm.MouseX10, 0, Mouse{Button: ButtonRight, Mods: Ctrl}, "\x1b[M\"!!"},
		{"X10 has no release", vterm.MouseX10, 0, Mouse{Button: ButtonLeft, Action: release}, ""},
		{"X10 has no wheel", vterm.MouseX10, 0, Mouse{Button: ButtonWheelUp}, ""},
		{"press", vterm.MouseNormal, 0, Mouse{Button: ButtonMiddle}, "\x1b[M!!!"},
		{"release", vterm.MouseNormal, 0, Mouse{Button: ButtonMiddle, Action: release}, "\x1b[M#!!"},
		{"modifiers", vterm.MouseNormal, 0, Mouse{Button: ButtonLeft, Mods: Shift | Alt | Ctrl | CapsLock}, "\x1b[M<!!"},
		{"release with modifiers", vterm.MouseNormal, 0, Mouse{Button: ButtonLeft, Action: release, Mods: Ctrl}, "\x1b[M3!!"},
		{"wheel", vterm.MouseNormal, 0, Mouse{Button: ButtonWheelDown}, "\x1b[Ma!!"},
		{"wheel has no release", vterm.MouseNormal, 0, Mouse{Button: ButtonWheelDown, Action: release}, ""},
		{"no motion", vterm.MouseNormal, 0, Mouse{Button: ButtonLeft, Action: motion}, ""},
		{"drag", vterm.MouseButton, 0, Mouse{Button: ButtonLeft, Action: motion}, "\x1b[M@!!"},
		{"no motion without button", vterm.MouseButton, 0, Mouse{Action: motion}, ""},
		{"any motion", vterm.MouseAny, 0, Mouse{Action: motion}, "\x1b[MC!!"},
		{"drag in any motion", vterm.MouseAny, vterm.MouseEncodingSGR, Mouse{Button: ButtonRight, Action: motion, Row: 3, Col: 4}, "\x1b[<34;5;4M"},
		{"press of nothing", vterm.MouseAny, 0, Mouse{}, ""},
		{"far", vterm.MouseNormal, 0, Mouse{Button: ButtonLeft, Col: 222, Row: 222}, "\x1b[M \xff\xff"},
		{"too far", vterm.MouseNormal, 0, Mouse{Button: ButtonLeft, Col: 223}, ""},
		{"UTF-8 near", vterm.MouseNormal, vterm.MouseEncodingUTF8, Mouse{Button: ButtonLeft, Col: 94}, "\x1b[M \x7f!"},
		{"UTF-8 far", vterm.MouseNormal, vterm.MouseEncodingUTF8, Mouse{Button: ButtonLeft, Col: 95, Row: 2014}, "\x1b[M \u0080\u07ff"},
		{"UTF-8 too far", vterm.MouseNormal, vterm.MouseEncodingUTF8, Mouse{Button: ButtonLeft, Col: 2015}, ""},
		{"SGR", vterm.MouseNormal, vterm.MouseEncodingSGR, Mouse{Button: ButtonLeft, Col: 4000, Row: 9}, "\x1b[<0;4001;10M"},
		{"SGR release", vterm.MouseNormal, vterm.MouseEncodingSGR, Mouse{Button: ButtonMiddle, Action: release, Mods: Shift}, "\x1b[<5;1;1m"},
		{"SGR wheel left", vterm.MouseNormal, vterm.MouseEncodingSGR, Mouse{Button: ButtonWheelLeft}, "\x1b[<66;1;1M"},
		{"SGR back", vterm.MouseNormal, vterm.MouseEncodingSGR, Mouse{Button: ButtonBack}, "\x1b[<128;1;1M"},
		{"urxvt", vterm.MouseNormal, vterm.MouseEncodingURXVT, Mouse{Button: ButtonRight, Col: 299}, "\x1b[34;300;1M"},
		{"urxvt release", vterm.MouseNormal, vterm.MouseEncodingURXVT, Mouse{Button: ButtonRight, Action: release}, "\x1b[35;1;1M"},
		{"pixels", vterm.MouseNormal, vterm.MouseEncodingPixel, Mouse{Button: ButtonLeft, PixelX: 99, PixelY: 7}, "\x1b[<0;100;8M"},
		{"pixels from cells", vterm.MouseNormal, vterm.MouseEncodingPixel, Mouse{Button: ButtonLeft, Col: 2, Row: 1}, "\x1b[<0;26;31M"},
		{"nowhere", vterm.MouseAny, vterm.MouseEncodingSGR, Mouse{Button: ButtonLeft, Col: -1}, ""},
		{"unknown button", vterm.MouseAny, vterm.MouseEncodingSGR, Mouse{Button: 99, Action: press}, ""},
	} {
		m := &vterm.Modes{Mouse: tt.track, MouseEncoding: tt.enc, CellWidth: 10, CellHeight: 20}
		if got := string(AppendMouse(nil, tt.ev, m)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestAlternateScroll checks the wheel on the alternate screen. Source: xterm ctlseqs, "Alternate Scroll Mode".
func TestAlternateScroll(t *testing.T) {
	up, down := Mouse{Button: ButtonWheelUp}, Mouse{Button: ButtonWheelDown}
	on := vterm.Modes{AltScroll: true, AltScreen: true}
	app, primary, tracking := on, on, on
	app.AppCursor, primary.AltScreen = true, false
	tracking.Mouse, tracking.MouseEncoding = vterm.MouseNormal, vterm.MouseEncodingSGR
	for _, tt := range []struct {
		ev   Mouse
		m    vterm.Modes
		want string
	}{
		{up, on, "\x1b[A\x1b[A\x1b[A"},
		{down, app, "\x1bOB\x1bOB\x1bOB"},
		{up, primary, ""},
		{up, vterm.Modes{AltScreen: true}, ""},
		{up, tracking, "\x1b[<64;1;1M"},
		{Mouse{Button: ButtonLeft}, on, ""},
		{Mouse{Button: ButtonWheelUp, Action: MouseRelease}, on, ""},
	} {
		if got := string(AppendMouse(nil, tt.ev, &tt.m)); got != tt.want {
			t.Errorf("%+v under %+v: %q, want %q", tt.ev, tt.m, got, tt.want)
		}
	}
}

// TestFocus checks focus reports. Source: xterm ctlseqs, "FocusIn/FocusOut".
func TestFocus(t *testing.T) {
	on := &vterm.Modes{FocusEvents: true}
	if in, out := string(AppendFocus(nil, true, on)), string(AppendFocus(nil, false, on)); in != "\x1b[I" || out != "\x1b[O" {
		t.Errorf("sends %q and %q", in, out)
	}
	if got := AppendFocus(nil, true, &vterm.Modes{}); len(got) > 0 {
		t.Errorf("unasked, sends %q", got)
	}
}

func FuzzAppendMouse(f *testing.F) {
	f.Add(uint8(1), uint8(0), uint8(0), 5, 6, 0, 0, uint16(1000), uint16(1006))
	f.Fuzz(func(t *testing.T, button, action, mods uint8, row, col, px, py int, track, enc uint16) {
		m := &vterm.Modes{Mouse: vterm.MouseTracking(track), MouseEncoding: vterm.MouseEncoding(enc), AltScroll: true, AltScreen: true}
		ev := Mouse{Button(button), MouseAction(action % 3), Mods(mods), row, col, px, py}
		if got := AppendMouse(nil, ev, m); len(got) > 80 || len(got) > 0 && got[0] != 0x1b {
			t.Fatalf("%+v sends %q", ev, got)
		}
	})
}
