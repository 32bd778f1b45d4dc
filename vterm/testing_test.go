package vterm

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"
)

// newTest is a small terminal that was fed some output.
func newTest(t testing.TB, cols, rows int, input ...string) *Terminal {
	t.Helper()
	term := New(Options{Cols: cols, Rows: rows})
	for _, s := range input {
		feed(term, s)
	}
	return term
}

func feed(t *Terminal, s string) { _, _ = t.Write([]byte(s)) }

func word(r *rand.Rand, n int) string {
	w := make([]byte, n)
	for i := range w {
		w[i] = byte('a' + r.IntN(26))
	}
	return string(w)
}

// text is the screen with trailing blanks cut.
func text(t *Terminal) string {
	var f Frame
	t.Frame(&f, Query{})
	return frameText(&f)
}

func frameText(f *Frame) string {
	var b strings.Builder
	for i := range f.Lines {
		b.WriteString(lineText(f, &f.Lines[i]))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

func lineText(f *Frame, l *Line) string {
	var b []byte
	for _, c := range l.Cells {
		b = f.AppendText(b, c)
	}
	return strings.TrimRight(string(b), " ")
}

// historyText is the history, a line a line.
func historyText(t *Terminal) string {
	h := t.History()
	var l Line
	var lines []string
	for i := range h.Len() {
		h.Line(i, &l)
		var f Frame
		t.Frame(&f, Query{})
		lines = append(lines, lineText(&f, &l))
	}
	return strings.Join(lines, "\n")
}

func replies(t *Terminal) string { return string(t.Replies(nil)) }

// functionSeeds are inputs that touch much of the terminal.
func functionSeeds() []string {
	return []string{
		"\x1b[2;4r\x1b[?69h\x1b[3;8s\x1b[?6h\x1b[Habc\x1bM\x1b[L\x1b[3M\x1b['}\x1b['~",
		"\u4f60\u597d\x1b[2G\x1b[@\x1b[P\x1b[Xa\x1b[3b\x1b[4h\u4f60\x1b[4l",
		"\x1b[?40h\x1b[?3h\x1b[?3l\x1b#3\x1b#6ab\x1b#8\x1b[1\"q\x1b[?J",
		"\x1b[1;1;3;3;1;2;2;1$v\x1b[65;1;1;2;2$x\x1b[1;1;2;2$z\x1b[1;1;2;2${\x1b[1;1;2;2;1;7$r\x1b[1;1;2;2;0$t",
		"\x1b_Ga=T,f=24,s=1,v=1,c=3,r=2,i=1;AAAA\x1b\\\x1bP0;0;0q\"1;1;9;9~~-~~\x1b\\\x1b_Ga=d;\x1b\\",
		"a\x1b]1337;File=inline=1;width=3:R0lGODlhCAAQAAAAADs=\x07b\x1b]1337;MultipartFile=inline=1\x07\x1b]1337;FilePart=R0lGODlhCAAQ\x07\x1b]1337;FileEnd\x07",
		"\x1b]4;1;#fff\x07\x1b[#P\x1b[38;5;1m\x1b]8;id=x;http://h\x07l\x1b]8;;\x07\x1b[?1049hA\x1b[?1049l",
		"\x1b[?2l\x1bY$$a\x1bA\x1bJ\x1b<\x1b7\x1b[5;5H\x1b8\x1b[!p\x1bc",
		"123456789012\r\n\u2764\ufe0f\U0001F1E9\U0001F1EA\U0001F469\u200d\U0001F4BB\r\n\n\n\n\n\n\n",
		"\x1b[?2027l\U0001F469\u200d\U0001F4BBe\u0301\x1b[?7l1234567890\u4f60\x1b[?45h\x1b[?7h\x08\x08",
	}
}

// resum gives a damaged snapshot a valid checksum, so that its body is read.
func resum(b []byte) []byte {
	if len(b) < 9 {
		return b
	}
	n := len(b) - 4
	return binary.LittleEndian.AppendUint32(append([]byte(nil), b[:n]...), crc32.ChecksumIEEE(b[:n]))
}
