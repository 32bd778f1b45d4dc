package canvas

import (
	"testing"

	"github.com/longterm-dev/longterm/render/view/picture"
	"github.com/longterm-dev/longterm/vterm"
)

// TestOnOuter checks that a terminal's answers about itself are forwarded once it has answered all queries, and when
// they change.
//
// FAULT: H10
func TestOnOuter(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("TMUX", "")
	t.Setenv("STY", "")
	screen, e := screenInLocale(t, 20, 3)
	known := make(chan vterm.Outer, 16)
	OnOuter(screen, func(o vterm.Outer) { known <- o })
	e.Typed <- []byte("\x1b]10;rgb:1111/2222/3333\x07\x1b]11;rgb:ffff/ffff/dddd\x1b\\\x1b[?62;22c")
	want := vterm.Outer{Foreground: "rgb:1111/2222/3333", Background: "rgb:ffff/ffff/dddd", Scheme: vterm.SchemeLight, Keys: vterm.KeysPress}
	if got := <-known; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	e.Typed <- []byte("\x1b[?997;1n")
	e.Typed <- []byte("\x1b]10;rgb:eeee/eeee/eeee\x07\x1b]11;rgb:0101/0101/0101\x07\x1b[?62;22c") // queried again
	want = vterm.Outer{Foreground: "rgb:eeee/eeee/eeee", Background: "rgb:0101/0101/0101", Scheme: vterm.SchemeDark, Keys: vterm.KeysPress}
	if got := <-known; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	QueryBackground(screen, false) // our own emulator, which has the keyboard protocol
	QueryImageSupport(screen, func(picture.Support) {})
	for got := range known {
		if got.Keys == vterm.KeysAll && got.Background != want.Background {
			break
		}
	}
}

// TestEffects checks that clipboard writes and notifications reach the terminal in sequences that longterm builds,
// without the program's controls.
//
// FAULT: H11
func TestEffects(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	screen, e := screenInLocale(t, 20, 3)
	for _, c := range []struct {
		do   func()
		want string
	}{
		{func() { Notify(screen, "", "built\x1b]0;x\a") }, "\x1b]9;built?]0;x?\x1b\\"},
		{func() { Notify(screen, "ma;ke", "don\ne") }, "\x1b]777;notify;ma,ke;don?e\x1b\\"},
		{func() { Notify(screen, "title", "") }, "\x1b]9;title\x1b\\"},
		{func() { Notify(screen, "", "4;1;50") }, "\x1b]777;notify;;4;1;50\x1b\\"},
		{func() { Notify(screen, "", "") }, ""},
		{func() { SetClipboard(screen, "p", "text\x1b") }, "\x1b]52;p;dGV4dBs=\x1b\\"},
		{func() { SetClipboard(screen, "c", "text") }, "\x1b]52;c;dGV4dA==\x1b\\"},
		{func() { SetClipboard(screen, "p;?", "text") }, "\x1b]52;c;dGV4dA==\x1b\\"},
	} {
		e.Forget()
		if c.do(); e.Written() != c.want {
			t.Errorf("%q, want %q", e.Written(), c.want)
		}
	}
}
