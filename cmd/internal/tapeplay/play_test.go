//go:build unix

package tapeplay

import (
	"bytes"
	"encoding/json"
	"image/gif"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/tape"
)

func produce(t *testing.T, src string) (made []string, err error) {
	t.Helper()
	t.Chdir(t.TempDir())
	parsed, err := tape.Read("t.tape", []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := Production{Printer: &output.Printer{Stdout: &out, Stderr: io.Discard, JSON: true}, Tape: parsed, File: "t.tape"}
	if err := p.Check(); err != nil {
		return nil, err
	}
	err = p.Make(t.Context())
	if out.Len() > 0 {
		var v struct{ Made []string }
		if err := json.Unmarshal(out.Bytes(), &v); err != nil {
			t.Errorf("%v: %s", err, &out)
		}
		made = v.Made
	}
	return made, err
}

// events returns the recording's events: the output, with the time since the previous event.
func events(t *testing.T, file string) (text string, seconds float64) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var e []any
		if !strings.HasPrefix(line, "[") {
			continue
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		seconds += e[0].(float64)
		if e[1] == "o" {
			text += e[2].(string)
		}
	}
	return text, seconds
}

// TestTape checks that typed text is shown, hidden parts are neither shown nor counted as time, and screenshots show
// their moment.
//
// FEATURES: R120
func TestTape(t *testing.T) {
	made, err := produce(t, `Output t.cast
Output t.gif
Set Shell sh
Set Columns 40
Set Rows 5
Set TypingSpeed 0
Env GREETING hello
Hide
Type "clear; x=secret" Enter
Wait
Sleep 400ms
Show
Type "echo $GREETING $x" Enter
Wait /^>$/
Screenshot t.txt
Copy "echo $((6*7))" Paste Enter
Wait+Screen /^42$|\n42\n/
Screenshot t.svg
Ctrl+D
`)
	if err != nil || strings.Join(made, " ") != "t.cast t.gif t.txt t.svg" {
		t.Fatalf("%v, %v", made, err)
	}
	text, _ := events(t, "t.cast")
	if !strings.Contains(text, "echo $GREETING $x") || !strings.Contains(text, "hello secret") || strings.Contains(text, "x=secret") {
		t.Errorf("%q", text)
	}
	shot, err := os.ReadFile("t.txt")
	if err != nil || string(shot) != "> echo $GREETING $x\nhello secret\n> \n" {
		t.Errorf("%q, %v", shot, err)
	}
	if b, err := os.ReadFile("t.gif"); err != nil || !bytes.HasPrefix(b, []byte("GIF89a")) {
		t.Errorf("%v, %d bytes", err, len(b))
	}
}

// TestWindowFits checks that Width and Height are those of the whole picture: the cells fit inside the window and its
// margin.
//
// FEATURES: R120
func TestWindowFits(t *testing.T) {
	_, err := produce(t, "Output t.gif\nSet Shell sh\nSet Width 500\nSet Height 300\nSet WindowBar Rings\nSet Margin 30\nCtrl+D\n")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("t.gif")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if c, err := gif.DecodeConfig(f); err != nil || c.Width > 500 || c.Width <= 490 || c.Height > 300 || c.Height <= 280 {
		t.Errorf("got %d×%d pixels, %v; want at most 500×300, less than a cell smaller", c.Width, c.Height, err)
	}
}

// TestHiddenTime checks that a hidden scene takes no time in the recording.
func TestHiddenTime(t *testing.T) {
	_, err := produce(t, "Output t.cast\nSet Shell sh\nSet TypingSpeed 0\nType \"a\"\nHide\nSleep 3s\nShow\nType \"b\"\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, seconds := events(t, "t.cast"); seconds >= 3 {
		t.Errorf("%g s are shown", seconds)
	}
}

// TestTapeThatFails checks that a failing step is named, and that the recording until then is available.
func TestTapeThatFails(t *testing.T) {
	for src, want := range map[string]string{
		"Wait@1ms /never/\n":                `t.tape:4: Wait: /never/ was not shown within 1ms; this was: `,
		"Paste\n":                           "t.tape:4: Paste: nothing copied yet",
		"Type \"exit\" Enter\nWait /no$/\n": "the shell has ended, and /no$/ was not shown",
	} {
		_, err := produce(t, "Output t.cast\nSet Shell sh\nSet TypingSpeed 0\n"+src)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", src, err, want)
		}
		if text, _ := events(t, "t.cast"); !strings.Contains(text, ">") {
			t.Errorf("%q: recorded is %q", src, text)
		}
	}
}

func TestWhatCannotBeMade(t *testing.T) {
	for src, want := range map[string]string{
		"Enter\n":            "writes no file",
		"Output t.doc\n":     "no format is known by the ending",
		"Screenshot t.doc\n": "unknown format",
		"Output t.gif\nRequire no-such-program-x\n": "requires no-such-program-x",
		"Output t.gif\nSet Shell no-such-shell-x\n": "no-such-shell-x was not found",
		"Output t.gif\nSet Padding 499\n":           "",
	} {
		made, err := produce(t, src)
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || len(made) > 0 {
			t.Errorf("%q: %v, %v; want %q", src, made, err, want)
		}
	}
}
