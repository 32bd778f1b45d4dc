package canvas

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/internal/screentest"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// TestTypedBytesThatAreNoUTF8 checks that bytes that are not UTF-8 are read as Latin-1, and that the following keys are
// read.
//
// FEATURES: R35
func TestTypedBytesThatAreNoUTF8(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	c, e, _ := emulator(t, 10, 3)
	for _, piece := range []string{"A\xffB", "\xc3", "C", "\xed\xa0\x80D\xf4\x90\x80\x80", "\xe4\xbd", "\xa0E", "caf\xe9!", "\ufffd."} {
		e.Typed <- []byte(piece)
	}
	want, got := "AÿBÃCí\u00a0?Dô???你Ecafé!?.", ""
	for len(got) < len(want) {
		if k, ok := c.screen.PollEvent().(*tcell.EventKey); ok && k.Key() == tcell.KeyRune {
			got += string(k.Rune())
		}
	}
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTypedText_IsRead_WhenTheLocaleIsNotUTF8 checks that text reaches the keys of a viewer whose locale is not UTF-8:
// from a terminal that sends UTF-8 all the same, and from one that sends the locale's encoding.
//
// FAULT: G9
func TestTypedText_IsRead_WhenTheLocaleIsNotUTF8(t *testing.T) {
	for locale, want := range map[string]string{
		"C": "é你😀ñé.", "POSIX": "é你😀ñé.", "de_DE.ISO-8859-1": "é你😀ñé.", "ru_RU.KOI8-R": "é你😀ЯИ.", "xx.nosuch": "é你😀ñé.", "en_US.UTF-8": "é你😀ñé.",
	} {
		t.Run(locale, func(t *testing.T) {
			t.Setenv("LC_ALL", locale)
			screen, e := screenInLocale(t, 20, 3)
			e.Typed <- []byte("é你😀")
			e.Typed <- []byte("\xf1")
			if strings.HasSuffix(locale, "UTF-8") { // it may be half a character
				e.Typed <- []byte("\xe9.")
			} else {
				e.Typed <- []byte("\xe9")
				e.Typed <- []byte(".")
			}
			got := ""
			for !strings.HasSuffix(got, ".") {
				if k, ok := screen.PollEvent().(*tcell.EventKey); ok && k.Key() == tcell.KeyRune {
					got += string(k.Rune())
				}
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// screenInLocale returns the screen of an emulated terminal, in the locale of the environment.
func screenInLocale(t *testing.T, cols, rows int) (tcell.Screen, *screentest.Emulated) {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	e := screentest.NewEmulated(cols, rows)
	screen, err := Terminal(nil, func() (tcell.Tty, error) { return e, nil }, func(theme.Background) {})
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Fini)
	return screen, e
}

// FEATURES: R35
func TestUTF8ByItsNames(t *testing.T) {
	for name, is := range map[string]bool{"UTF-8": true, "utf8": true, "utf-8": true, "US-ASCII": false, "ISO-8859-1": false} {
		if isUTF8(name) != is {
			t.Errorf("%s: %t", name, !is)
		}
	}
}

// FuzzTyped checks that the read input is the same in any pieces, and valid, except for an unfinished sequence.
func FuzzTyped(f *testing.F) {
	f.Add([]byte("a\xff\xe4\xbd\xa0\xc3b"), uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, cut, room uint8) {
		var text typedText
		rest, got := in, []byte(nil)
		p := make([]byte, 1+int(room)%40)
		for {
			n, _ := text.read(p, func(p []byte) (int, error) {
				n := copy(p, rest[:min(len(rest), 1+int(cut)%7)])
				rest = rest[n:]
				return n, nil
			})
			if n == 0 {
				break
			}
			got = append(got, p[:n]...)
		}
		var want strings.Builder
		whole := in[:len(in)-len(text.begun)]
		for len(whole) > 0 {
			r, n := utf8.DecodeRune(whole)
			switch {
			case r == utf8.RuneError && n == 1 && whole[0] >= 0xa0:
				r = rune(whole[0])
			case r == utf8.RuneError:
				r = '?'
			}
			want.WriteRune(r)
			whole = whole[n:]
		}
		if !utf8.Valid(got) || !bytes.HasSuffix(in, text.begun) || string(got) != want.String() || len(text.begun) > 0 && utf8.FullRune(text.begun) {
			t.Errorf("%q of %q, %q is unfinished", got, in, text.begun)
		}
	})
}
