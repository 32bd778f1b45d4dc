package vterm

import "testing"

// Sources: xterm ctlseqs, "Mouse Tracking": "X10 compatibility mode", "Normal tracking mode",
// "Button-event tracking", "Any-event tracking", "Extended coordinates".
func TestMouse(t *testing.T) {
	press, release, motion := MousePress, MouseRelease, MouseMotion
	for _, tt := range []struct {
		name  string
		track MouseTracking
		enc   MouseEncoding
		ev    Mouse
		want  string
	}{
		{"off", MouseOff, 0, Mouse{Button: ButtonLeft}, ""},
		{"X10 press", MouseX10, 0, Mouse{Button: ButtonLeft, Row: 1, Col: 2}, "\x1b[M #\""},
		{"X10 has no modifiers", MouseX10, 0, Mouse{Button: ButtonRight, Mods: Ctrl}, "\x1b[M\"!!"},
		{"X10 has no release", MouseX10, 0, Mouse{Button: ButtonLeft, Action: release}, ""},
		{"X10 has no wheel", MouseX10, 0, Mouse{Button: ButtonWheelUp}, ""},
		{"press", MouseNormal, 0, Mouse{Button: ButtonMiddle}, "\x1b[M!!!"},
		{"release", MouseNormal, 0, Mouse{Button: ButtonMiddle, Action: release}, "\x1b[M#!!"},
		{"modifiers", MouseNormal, 0, Mouse{Button: ButtonLeft, Mods: Shift | Alt | Ctrl | CapsLock}, "\x1b[M<!!"},
		{"release with modifiers", MouseNormal, 0, Mouse{Button: ButtonLeft, Action: release, Mods: Ctrl}, "\x1b[M3!!"},
		{"wheel", MouseNormal, 0, Mouse{Button: ButtonWheelDown}, "\x1b[Ma!!"},
		{"wheel has no release", MouseNormal, 0, Mouse{Button: ButtonWheelDown, Action: release}, ""},
		{"no motion", MouseNormal, 0, Mouse{Button: ButtonLeft, Action: motion}, ""},
		{"drag", MouseButton, 0, Mouse{Button: ButtonLeft, Action: motion}, "\x1b[M@!!"},
		{"no motion without button", MouseButton, 0, Mouse{Action: motion}, ""},
		{"any motion", MouseAny, 0, Mouse{Action: motion}, "\x1b[MC!!"},
		{"drag in any motion", MouseAny, MouseEncodingSGR, Mouse{Button: ButtonRight, Action: motion, Row: 3, Col: 4}, "\x1b[<34;5;4M"},
		{"press of nothing", MouseAny, 0, Mouse{}, ""},
		{"far", MouseNormal, 0, Mouse{Button: ButtonLeft, Col: 222, Row: 222}, "\x1b[M \xff\xff"},
		{"too far", MouseNormal, 0, Mouse{Button: ButtonLeft, Col: 223}, ""},
		{"UTF-8 near", MouseNormal, MouseEncodingUTF8, Mouse{Button: ButtonLeft, Col: 94}, "\x1b[M \x7f!"},
		{"UTF-8 far", MouseNormal, MouseEncodingUTF8, Mouse{Button: ButtonLeft, Col: 95, Row: 2014}, "\x1b[M \u0080\u07ff"},
		{"UTF-8 too far", MouseNormal, MouseEncodingUTF8, Mouse{Button: ButtonLeft, Col: 2015}, ""},
		{"SGR", MouseNormal, MouseEncodingSGR, Mouse{Button: ButtonLeft, Col: 4000, Row: 9}, "\x1b[<0;4001;10M"},
		{"SGR release", MouseNormal, MouseEncodingSGR, Mouse{Button: ButtonMiddle, Action: release, Mods: Shift}, "\x1b[<5;1;1m"},
		{"SGR wheel left", MouseNormal, MouseEncodingSGR, Mouse{Button: ButtonWheelLeft}, "\x1b[<66;1;1M"},
		{"SGR back", MouseNormal, MouseEncodingSGR, Mouse{Button: ButtonBack}, "\x1b[<128;1;1M"},
		{"urxvt", MouseNormal, MouseEncodingURXVT, Mouse{Button: ButtonRight, Col: 299}, "\x1b[34;300;1M"},
		{"urxvt release", MouseNormal, MouseEncodingURXVT, Mouse{Button: ButtonRight, Action: release}, "\x1b[35;1;1M"},
		{"pixels", MouseNormal, MouseEncodingPixel, Mouse{Button: ButtonLeft, PixelX: 99, PixelY: 7}, "\x1b[<0;100;8M"},
		{"pixels from cells", MouseNormal, MouseEncodingPixel, Mouse{Button: ButtonLeft, Col: 2, Row: 1}, "\x1b[<0;26;31M"},
		{"nowhere", MouseAny, MouseEncodingSGR, Mouse{Button: ButtonLeft, Col: -1}, ""},
		{"unknown button", MouseAny, MouseEncodingSGR, Mouse{Button: 99, Action: press}, ""},
	} {
		m := &Modes{Mouse: tt.track, MouseEncoding: tt.enc, CellWidth: 10, CellHeight: 20}
		if got := string(AppendMouse(nil, tt.ev, m)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Source: xterm ctlseqs, "Alternate Scroll Mode".
func TestAlternateScroll(t *testing.T) {
	up, down := Mouse{Button: ButtonWheelUp}, Mouse{Button: ButtonWheelDown}
	on := Modes{AltScroll: true, AltScreen: true}
	app, primary, tracking := on, on, on
	app.AppCursor, primary.AltScreen = true, false
	tracking.Mouse, tracking.MouseEncoding = MouseNormal, MouseEncodingSGR
	for _, tt := range []struct {
		ev   Mouse
		m    Modes
		want string
	}{
		{up, on, "\x1b[A\x1b[A\x1b[A"},
		{down, app, "\x1bOB\x1bOB\x1bOB"},
		{up, primary, ""},
		{up, Modes{AltScreen: true}, ""},
		{up, tracking, "\x1b[<64;1;1M"},
		{Mouse{Button: ButtonLeft}, on, ""},
		{Mouse{Button: ButtonWheelUp, Action: MouseRelease}, on, ""},
	} {
		if got := string(AppendMouse(nil, tt.ev, &tt.m)); got != tt.want {
			t.Errorf("%+v under %+v: %q, want %q", tt.ev, tt.m, got, tt.want)
		}
	}
}

// Source: xterm ctlseqs, "FocusIn/FocusOut".
func TestFocus(t *testing.T) {
	on := &Modes{FocusEvents: true}
	if in, out := string(AppendFocus(nil, true, on)), string(AppendFocus(nil, false, on)); in != "\x1b[I" || out != "\x1b[O" {
		t.Errorf("sends %q and %q", in, out)
	}
	if got := AppendFocus(nil, true, &Modes{}); len(got) > 0 {
		t.Errorf("unasked, sends %q", got)
	}
}

func FuzzAppendMouse(f *testing.F) {
	f.Add(uint8(1), uint8(0), uint8(0), 5, 6, 0, 0, uint16(1000), uint16(1006))
	f.Fuzz(func(t *testing.T, button, action, mods uint8, row, col, px, py int, track, enc uint16) {
		m := &Modes{Mouse: MouseTracking(track), MouseEncoding: MouseEncoding(enc), AltScroll: true, AltScreen: true}
		ev := Mouse{MouseButtonCode(button), MouseAction(action % 3), Mods(mods), row, col, px, py}
		if got := AppendMouse(nil, ev, m); len(got) > 80 || len(got) > 0 && got[0] != 0x1b {
			t.Fatalf("%+v sends %q", ev, got)
		}
	})
}
