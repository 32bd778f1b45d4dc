package redact

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// asText is output as a reader of text is given it.
func asText(out []byte) string {
	var w plaintext.Writer
	_, _ = w.Write(out)
	var b strings.Builder
	w.Lines(func(l plaintext.Line) { b.Write(l.Text); b.WriteByte('\n') })
	rest, _, _ := w.AppendUnfinished(nil)
	return b.String() + string(rest)
}

// A secret that is printed so that only its letters come together on the terminal is masked all the same, where
// it is, and nothing else is.
//
// FEATURES: R110
func TestSecretAsItReads(t *testing.T) {
	s := vault(t, "hunter22secret", "pässwörd").Set()
	for name, c := range map[string]struct{ out, text string }{
		"overstruck":        {"h\bhu\bun\bnt\bte\ber\br2\b22\b2s\bse\bec\bcr\bre\bet\bt!\n", "**************!\n"},
		"mended":            {"ok huX\bnter22secret!\n", "ok **************!\n"},
		"written over":      {"ok XXXter22secret\rok hun\n", "ok **************\n"},
		"moved left":        {"ok huXX\x1b[2Dnter22secret\n", "ok **************\n"},
		"moved to a column": {"ok \x1b[7Gter22secret\x1b[4Ghun\n", "ok **************\n"},
		"deleted within":    {"ok huXnter22secret\x1b[13D\x1b[P\n", "ok **************\n"},
		"inserted":          {"ok hunsecret\x1b[6D\x1b[5@ter22\n", "ok **************\n"},
		"a title within":    {"ok hun\x1b]0;title\x07ter22secret\n", "ok **************\n"},
		"a string within":   {"ok hun\x1bPq~~\x1b\\ter22secret\n", "ok **************\n"},
		"controls within":   {"ok hun\x0e\x0f\x07\x7fter22secret\n", "ok **************\n"},
		"in colours":        {"ok h\x1b[31mu\x1b[1;38;5;9mn\x1b[0mter22secret\n", "ok **************\n"},
		"of more bytes":     {"ok pX\bäsXs\x1b[2D\x1b[Pswörd\n", "ok **********\n"},
		"gone in the end":   {"huX\bnter22secret\r\x1b[Kok\n", "ok\n"},
		"not it":            {"ok huX\bter22secret\n", "ok huter22secret\n"},
		"progress":          {"10 %\r20 %\r\x1b[Kdone\n", "done\n"},
	} {
		masked := []byte(c.out)
		s.Mask(masked, 0, 0, len(masked))
		if got := asText(masked); got != c.text {
			t.Errorf("%s: %q, want %q", name, got, c.text)
		}
		if name != "not it" && name != "progress" && bytes.ContainsAny(bytes.TrimPrefix(masked, []byte("ok ")), "untr2pd") && name == "overstruck" {
			t.Errorf("%s: letters are left: %q", name, masked)
		}
		if len(masked) != len(c.out) {
			t.Errorf("%s: %d bytes became %d", name, len(c.out), len(masked))
		}
	}
	for _, sign := range []string{"\u200b", "\u202e", "\u2060", "\u00ad", "\ufe0f", "\u0332", "\U000e0041"} {
		if got := s.Text("x hun" + sign + "ter22secret"); got != "x ***"+sign+"***********" {
			t.Errorf("%q: %q", sign, got)
		}
	}
}

// printed is a secret as a program might print it: with detours that leave it readable.
func printed(rnd *rand.Rand, secret string) []byte {
	var b []byte
	for i := range len(secret) {
		switch rnd.IntN(7) {
		case 0:
			b = append(b, "X\b"...)
		case 1:
			b = append(b, secret[i], '\b')
		case 2:
			b = append(b, "\x1b[31m"...)
		case 3:
			b = append(b, "XY\x1b[2D"...)
		case 4:
			b = append(b, "\x1b]2;x\x1b\\"...)
		case 5:
			b = append(b, "\x1b[K"...)
		}
		b = append(b, secret[i])
	}
	return b
}

// Whatever the detours, however long the line and wherever a reading begins: no text has the secret.
//
// FEATURES: R110
func TestDetours(t *testing.T) {
	tier.Full(t)
	const secret = "hunter22secret"
	s := vault(t, secret).Set()
	rnd := rand.New(rand.NewPCG(7, 8))
	for round := range 20 {
		var out []byte
		for len(out) < 3*maxEdited {
			out = append(out, strings.Repeat("word ", rnd.IntN(600))...)
			out = append(out, printed(rnd, secret)...)
			if round%2 == 0 && rnd.IntN(3) == 0 {
				out = append(out, '\r', '\n')
			}
		}
		if !strings.Contains(asText(out), secret) {
			t.Fatalf("round %d: it was not there", round)
		}
		masked := bytes.Clone(out)
		s.Mask(masked, 0, 0, len(masked))
		if strings.Contains(asText(masked), secret) {
			t.Fatalf("round %d: it is there: %q", round, asText(masked))
		}
		step := 700 + rnd.IntN(3000)
		if got := inPieces(s, out, func() int { return step }, false); !bytes.Equal(got, masked) {
			t.Fatalf("round %d: in pieces of %d other bytes are masked", round, step)
		}
	}
}

// A line that goes back all the time is not looked at all the time.
func TestEditedIsBounded(t *testing.T) {
	for _, part := range []string{"ab\b", "\x1b[4000Cx\r\x1b[2K", "x\x1b[@", "a\r", "x\x1b[999b\r", "\x1b]", "\xe2\x80\xae"} {
		out := bytes.Repeat([]byte(part), (64<<10)/len(part))
		looked := 0
		editedLines(out, 12345, looking{at: func(t *text) { looked += len(t.data) }})
		if most := len(out) * 2 * (maxLooked + 4*near); looked > most {
			t.Errorf("%q: %d columns looked at, at most %d", part, looked, most)
		}
	}
}

func BenchmarkMaskEdited(b *testing.B) {
	s := vault(b, "hunter22", "correct horse battery").Set()
	for name, part := range map[string]string{
		"progress": "\r 10 % [======>          ] 12 MB/s\x1b[K",
		"detours":  "ab\bc\x1b[2Dxy",
		"insert":   "x\x1b[@",
	} {
		b.Run(name, func(b *testing.B) {
			out := bytes.Repeat([]byte(part), (1<<20)/len(part))
			b.SetBytes(int64(len(out)))
			for b.Loop() {
				s.Mask(out, 0, 0, len(out))
			}
		})
	}
}
