package vterm

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm/internal/replyform"
)

// queries lists queries for every kind of reply.
var queries = []string{
	"\x1b[c", "\x1b[61\"p\x1b[c\x1b[65\"p", "\x1b[>c", "\x1b[=c", "\x1b[>q", "\x1b[?2l\x1bZ\x1b<",
	"\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1b[?15n\x1b[?25n\x1b[?26n\x1b[?53n\x1b[?56n\x1b[?75n\x1b[?85n", "\x1b[?996n",
	"\x1b[?62n", "\x1b[?63;7n", "\x1b[x\x1b[1x", "\x1b['|", "\x1b[4$p\x1b[?2026$p\x1b[?65535$p",
	"\x1b[?0m\x1b[?4m", "\x1b[>31u\x1b[?u",
	"\x1b[1;3;4;31;48:2::1:2:3mab\x1b[1;1;1;2#|", "\x1b[#P\x1b[#R", "\x1b[?1;1S\x1b[?2;1S\x1b[?9;1S",
	"\x1b[11t\x1b[13t", "\x1b[14t\x1b[15t\x1b[16t\x1b[18t\x1b[19t", "\x1b]2;touch PWN\x07\x1b[20t\x1b[21t", "\x1b[?2048h",
	"\x1b[&u", "\x1b[1$w\x1b(>\x1b)%5\x1b[1$w", "\x1b[2$w",
	"\x1bP$qm\x1b\\\x1bP$qr\x1b\\\x1bP$qs\x1b\\\x1bP$q q\x1b\\\x1bP$q\"q\x1b\\\x1bP$q\"p\x1b\\\x1bP$q$|\x1b\\\x1bP$q*|\x1b\\\x1bP$q*x\x1b\\",
	"\x1bP$q\"t\x1b\\\x1bP$q,|\x1b\\\x1bP$q>4m\x1b\\\x1bP$qt\x1b\\\x1bP$q$}\x1b\\\x1bP$qx;touch PWN\x1b\\",
	"\x1bP+q544e;436f\x1b\\\x1bP+q746f756368\x1b\\\x1bP+q;touch PWN;\x1b\\\x1bP+q546e\x1b\\",
	"\x1b]4;1;?;300;?\x07\x1b]4;+07;?\x1b\\\x1b]5;0;?\x07", "\x1b]10;?;?;?;?;?;?;?;?;?;?\x1b\\",
	"\x1b]21;foreground=?;7=?;+08=?;cursor_text=?;x;touch PWN #=?;visual_bell=red\x1b\\",
	"\x1b]52;c;?\x07\x1b]52;;touch PWN;?\x07", "\x1b[1;1;1;1;2;2*y",
	"\x1b_Gi=1,a=q,t=f;touch PWN\x1b\\\x1b_Gi=4294967295,I=9,p=3,a=zzz;AA\x1b\\\x1b_GI=9,f=24,s=1,v=1;AAAA\x1b\\",
	"\x1b G\x1b[c\x1bP$qm\x1b\\\x1b]4;1;?\x1b\\\x1b_Gi=1,a=p;\x1b\\\x1b F",
}

// TestReplies checks that every reply has a form of the table, and that each form occurs.
//
// FAULT: A13
func TestReplies(t *testing.T) {
	seen := make(map[string]int)
	for _, q := range append(functionInputs(), queries...) {
		term := New(Options{Cols: 10, Rows: 4})
		feed(term, q)
		r := replies(term)
		kinds, err := replyform.CountByForm([]byte(r))
		if err != nil {
			t.Errorf("%q: %v", q, err)
		}
		if strings.Contains(r, "PWN") {
			t.Errorf("%q is answered with its own output: %q", q, r)
		}
		for k := range kinds {
			seen[k]++
		}
	}
	for _, k := range replyform.Kinds {
		if seen[k.Name] == 0 {
			t.Errorf("no query is answered with %s", k.Name)
		}
	}
}

func functionInputs() []string {
	var list []string
	for _, c := range functionCases {
		list = append(list, c.input)
	}
	return list
}

// FuzzReplies checks that no output gets into a reply, except numbers.
//
// FAULT: A13
func FuzzReplies(f *testing.F) {
	for _, q := range append(functionInputs(), queries...) {
		f.Add([]byte(q))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			return
		}
		term := New(Options{Cols: 10, Rows: 5, ScrollbackLines: 50})
		feed(term, string(data))
		if _, err := replyform.CountByForm([]byte(replies(term))); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
	})
}
