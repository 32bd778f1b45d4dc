package redact

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// plainText returns output as plain text.
func plainText(out []byte) string {
	var w plaintext.Writer
	_, _ = w.Write(out)
	var b strings.Builder
	w.Lines(func(l plaintext.Line) { b.Write(l.Text); b.WriteByte('\n') })
	rest, _, _ := w.AppendUnfinished(nil)
	return b.String() + string(rest)
}

// TestMask_EditedLines checks that a secret whose letters are adjacent only on the terminal is masked at its position,
// and nothing else is.
//
// FEATURES: R110
func TestMask_EditedLines(t *testing.T) {
	s := newTestVault(t, "hunter22secret", "pässwörd").Set()
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
		s.Redact(masked, 0, 0, len(masked))
		if got := plainText(masked); got != c.text {
			t.Errorf("%s: %q, want %q", name, got, c.text)
		}
		if name != "not it" && name != "progress" && bytes.ContainsAny(bytes.TrimPrefix(masked, []byte("ok ")), "untr2pd") && name == "overstruck" {
			t.Errorf("%s: got unmasked letters: %q", name, masked)
		}
		if len(masked) != len(c.out) {
			t.Errorf("%s: %d bytes became %d", name, len(c.out), len(masked))
		}
	}
	for _, sign := range []string{"\u200b", "\u202e", "\u2060", "\u00ad", "\ufe0f", "\u0332", "\U000e0041"} {
		if got := s.RedactText("x hun" + sign + "ter22secret"); got != "x ***"+sign+"***********" {
			t.Errorf("%q: %q", sign, got)
		}
	}
}

// printWithDetours returns output that displays a secret after random cursor motions and overwrites.
func printWithDetours(rnd *rand.Rand, secret string) []byte {
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

// TestMask_Detours checks that no plain text contains the secret, for any detours, line length and start of the read.
//
// FEATURES: R110
func TestMask_Detours(t *testing.T) {
	tier.Full(t)
	const secret = "hunter22secret"
	s := newTestVault(t, secret).Set()
	rnd := rand.New(rand.NewPCG(7, 8))
	for round := range 20 {
		var out []byte
		for len(out) < 3*maxEdited {
			out = append(out, strings.Repeat("word ", rnd.IntN(600))...)
			out = append(out, printWithDetours(rnd, secret)...)
			if round%2 == 0 && rnd.IntN(3) == 0 {
				out = append(out, '\r', '\n')
			}
		}
		if !strings.Contains(plainText(out), secret) {
			t.Fatalf("round %d: got output without the secret", round)
		}
		masked := bytes.Clone(out)
		s.Redact(masked, 0, 0, len(masked))
		if strings.Contains(plainText(masked), secret) {
			t.Fatalf("round %d: got the secret in %q", round, plainText(masked))
		}
		step := 700 + rnd.IntN(3000)
		if got := maskInPieces(s, out, func() int { return step }, false); !bytes.Equal(got, masked) {
			t.Fatalf("round %d: in pieces of %d other bytes are masked", round, step)
		}
	}
}

// TestEditedLine_BoundedChecks checks that the checks of a line with many cursor motions are bounded.
func TestEditedLine_BoundedChecks(t *testing.T) {
	for _, part := range []string{"ab\b", "\x1b[4000Cx\r\x1b[2K", "x\x1b[@", "a\r", "x\x1b[999b\r", "\x1b]", "\xe2\x80\xae"} {
		out := bytes.Repeat([]byte(part), (64<<10)/len(part))
		looked := 0
		searchEditedLines(out, 12345, lineSearch{found: func(t *text) { looked += len(t.data) }})
		if most := len(out) * 2 * (maxColumnChecks + 4*nearColumns); looked > most {
			t.Errorf("%q: got %d column checks, want at most %d", part, looked, most)
		}
	}
}

func BenchmarkMaskEdited(b *testing.B) {
	s := newTestVault(b, "hunter22", "correct horse battery").Set()
	for name, part := range map[string]string{
		"progress": "\r 10 % [======>          ] 12 MB/s\x1b[K",
		"detours":  "ab\bc\x1b[2Dxy",
		"insert":   "x\x1b[@",
	} {
		b.Run(name, func(b *testing.B) {
			out := bytes.Repeat([]byte(part), (1<<20)/len(part))
			b.SetBytes(int64(len(out)))
			for b.Loop() {
				s.Redact(out, 0, 0, len(out))
			}
		})
	}
}
