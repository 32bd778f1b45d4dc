package vt10x

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/internal/replyform"
)

// FuzzReplies checks that no output gets into a reply, except numbers.
//
// FAULT: A13
func FuzzReplies(f *testing.F) {
	for _, q := range samples {
		f.Add([]byte(q))
	}
	for _, q := range []string{
		"\x1b[c\x1b[>c\x1b[=c\x1bZ\x1b[>q\x1b[?u", "\x1b[5n\x1b[6n\x1b[?6n\x1b[?15n\x1b[?996n",
		"\x1b[14t\x1b[16t\x1b[18t\x1b[19t\x1b]2;touch PWN\x07\x1b[20t\x1b[21t\x1b[?2048h", "\x1b[4$p\x1b[?25$p\x1b[?65535$p",
		"\x1bP$qtouch PWN\x1b\\\x1bP+q544e\x1b\\", "\x1b]4;+07;?;x;touch PWN\x07\x1b]10;?;?;?\x1b\\\x1b]21;x;touch PWN #=?\x1b\\",
		"\x1b]52;touch PWN;?\x07\x1b]5;0;?\x07\x1b]7;?\x07",
	} {
		f.Add([]byte(q))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			return
		}
		e := New(vterm.Options{Cols: 10, Rows: 5})
		_, _ = e.Write(data)
		r := e.Replies(nil)
		if _, err := replyform.CountByForm(r); err != nil || strings.Contains(string(r), "PWN") {
			t.Fatalf("%q: %q, %v", data, r, err)
		}
	})
}
