//go:build unix

package attachclient

import (
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/render/outer"
	"github.com/longterm-dev/longterm/vterm"
)

// TestOuterQuery_DescribesTheTerminal checks that attach queries its terminal. The answers describe the terminal and
// are never typed, also not while the client leaves.
//
// FAULT: H10
func TestOuterQuery_DescribesTheTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("TMUX", "")
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal: %v", err)
	}
	t.Cleanup(func() { _ = tty.Close(); _ = master.Close() })
	term, err := termio.Open(tty, tty)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.Restore(false) })
	expectWritten := func(text string) {
		t.Helper()
		var all strings.Builder
		for buf := make([]byte, 1<<10); !strings.Contains(all.String(), text); {
			n, err := master.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(buf[:n])
		}
	}
	news, typed, stop := make(chan vterm.Outer, 4), make(chan string, 4), make(chan struct{})
	defer close(stop)
	a := queryTerminal(term, func(o vterm.Outer) { news <- o })
	keys := make(chan []byte)
	go term.KeysOr(func(b []byte) bool { typed <- string(b); return true }, keys, stop)

	expectWritten(outer.AskCell + outer.Attributes)
	_, _ = master.WriteString("a\x1b]10;rgb:0/0/0\x1b\\\x1b]11;rgb:f/f/f\x1b\\\x1b[6;18;9t\x1b[?62;22cb")
	want := vterm.Outer{Foreground: "rgb:0/0/0", Background: "rgb:f/f/f", Scheme: vterm.SchemeLight, Keys: vterm.KeysNone, CellWidth: 9, CellHeight: 18}
	if got := <-news; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	var all string
	for len(all) < 2 {
		all += <-typed
	}
	if all != "ab" {
		t.Errorf("typed %q", all)
	}

	_ = term.Draw([]byte("\x1bPq#1")) // the query must not arrive within it
	_, _ = master.WriteString("\x1b[?997;1nc")
	if got := <-typed; got != "c" {
		t.Errorf("typed %q", got)
	}
	_ = term.Draw([]byte("~\x1b\\text"))
	expectWritten("text" + outer.AskColors + outer.Attributes)
	_, _ = master.WriteString("\x1b]10;rgb:e/e/e\a\x1b]11;rgb:1/1/1\a\x1b[?62;22c")
	want.Foreground, want.Background, want.Scheme = "rgb:e/e/e", "rgb:1/1/1", vterm.SchemeDark
	if got := <-news; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}

	left := make(chan struct{})
	go func() { a.leave(keys); close(left) }()
	expectWritten(outer.StopReports + outer.Attributes)
	_, _ = master.WriteString("late\x1b[?62;22c")
	<-left
	select {
	case got := <-typed:
		t.Errorf("typed after leaving: %q", got)
	default:
	}
}
