package vterm

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// gfx is a command of the kitty graphics protocol.
func gfx(control, payload string) string { return "\x1b_G" + control + ";" + payload + "\x1b\\" }

// picture draws the screen, "#" for image cells, then cursor, stored images and replies.
func picture(t *Terminal) string {
	var f Frame
	t.Frame(&f, Query{})
	var rows []string
	for i := range f.Lines {
		var row []byte
		for _, c := range f.Lines[i].Cells {
			if c&CellImage != 0 {
				row = append(row, '#')
			} else {
				row = f.AppendText(row, c)
			}
		}
		rows = append(rows, string(bytes.TrimRight(row, " ")))
	}
	s := strings.TrimRight(strings.Join(rows, "/"), "/")
	s += fmt.Sprintf(" @%d,%d %d", t.cur.Row, t.cur.Col, len(t.images.Images))
	if r := replies(t); r != "" {
		s += " " + strings.NewReplacer("\x1b_G", "", "\x1b\\", "|").Replace(r)
	}
	return s
}

// TestKittyGraphics goes through the actions of the kitty graphics protocol on a screen of
// 10×4 cells.
//
// FEATURES: R30
func TestKittyGraphics(t *testing.T) {
	const pixel = "f=24,s=1,v=1"
	show := gfx("a=T,i=1,q=2,c=2,r=2,"+pixel, "AAAA") + "\x1b[H" + gfx("a=T,i=2,q=2,z=3,c=2,r=1,"+pixel, "AAAA")
	for _, c := range []struct{ name, input, want string }{
		{"query", gfx("a=q,i=31,"+pixel, "AAAA"), " @0,0 0 i=31;OK|"},
		{"nobody asked", gfx("a=t,"+pixel, "AAAA"), " @0,0 1"},
		{"quiet about success", gfx("a=t,i=1,q=1,"+pixel, "AAAA"), " @0,0 1"},
		{"a file is not read", gfx("a=q,t=f,i=1,"+pixel, "L2V0Yy9wYXNzd2Q="), " @0,0 0 i=1;EINVAL:only direct transmission is supported|"},
		{"nor a temporary one", gfx("a=T,t=t,i=1,"+pixel, "L3RtcC94"), " @0,0 0 i=1;EINVAL:only direct transmission is supported|"},
		{"nor shared memory", gfx("a=T,t=s,i=1,"+pixel, "L3g="), " @0,0 0 i=1;EINVAL:only direct transmission is supported|"},
		{"wrong size", gfx("a=t,i=1,f=32,s=2,v=2", "AAAA"), " @0,0 0 i=1;EINVAL:data does not match the size|"},
		{"bad base64", gfx("a=t,i=1,"+pixel, "*"), " @0,0 0 i=1;EINVAL:bad base64|"},
		{"in chunks", gfx("a=T,i=1,c=2,r=1,m=1,"+pixel, "AA") + gfx("m=1", "A") + gfx("m=0", "A"), "## @0,2 1 i=1;OK|"},
		{"chunks dropped by a deletion", gfx("a=T,i=1,m=1,"+pixel, "AA") + gfx("a=d", "") + gfx("a=q,i=2,"+pixel, "AAAA"), " @0,0 0 i=2;OK|"},
		{"shown", gfx("a=T,i=1,p=7,c=3,r=2,"+pixel, "AAAA") + "x", "###/###x @1,4 1 i=1,p=7;OK|"},
		{"cursor left alone", gfx("a=T,i=1,q=2,C=1,c=3,r=2,"+pixel, "AAAA") + "x", "x##/### @0,1 1"},
		{"sent, then shown", gfx("a=t,i=1,"+pixel, "AAAA") + gfx("a=p,i=1,c=1,r=1", ""), "# @0,1 1 i=1;OK|i=1;OK|"},
		{"no such image", gfx("a=p,i=9", ""), " @0,0 0 i=9;ENOENT:no such image|"},
		{"a number gets an id", gfx("a=t,I=5,"+pixel, "AAAA") + gfx("a=p,I=5,c=1,r=1", ""), "# @0,1 1 i=1073741824,I=5;OK|i=1073741824,I=5;OK|"},
		{"id and number", gfx("a=t,i=1,I=5,"+pixel, "AAAA"), " @0,0 0 i=1,I=5;EINVAL:i and I at once|"},
		{"virtual placement", gfx("a=T,U=1,i=1,c=3,r=2,"+pixel, "AAAA") + "x", "x @0,1 1 i=1;OK|"},
		{"animation", gfx("a=f,i=1,"+pixel, "AAAA"), " @0,0 0 i=1;EINVAL:no such action, or one of animation, which is not supported|"},
		{"both shown", show, "##/## @0,2 2"},
		{"delete all", show + gfx("a=d", ""), " @0,2 2"},
		{"delete all and forget", show + gfx("a=d,d=A", ""), " @0,2 0"},
		{"delete by id", show + gfx("a=d,d=i,i=2", ""), "/## @0,2 2"},
		{"delete by id and forget", show + gfx("a=d,d=I,i=2", ""), "/## @0,2 1"},
		{"delete one placement", show + gfx("a=d,d=I,i=2,p=1", ""), "##/## @0,2 2"},
		{"delete by number", gfx("a=T,I=5,q=2,c=1,r=1,"+pixel, "AAAA") + gfx("a=d,d=N,I=5", ""), " @0,1 0"},
		{"delete a range", show + gfx("a=d,d=R,x=1,y=1", ""), "## @0,2 1"},
		{"delete by layer", show + gfx("a=d,d=z,z=3", ""), "/## @0,2 2"},
		{"delete at the cursor", show + "\x1b[2;2H" + gfx("a=d,d=C", ""), "## @1,1 1"},
		{"delete at a cell", show + gfx("a=d,d=p,x=1,y=1", ""), "/## @0,2 2"},
		{"delete at a cell of a layer", show + gfx("a=d,d=q,x=1,y=1,z=4", ""), "##/## @0,2 2"},
		{"delete in a column", show + gfx("a=d,d=x,x=2", ""), " @0,2 2"},
		{"delete in a row", show + gfx("a=d,d=y,y=2", ""), "## @0,2 2"},
		{"delete what is not known", show + gfx("a=d,d=k", ""), "##/## @0,2 2"},
		{"sixels stay when images are deleted", "\x1bPq\"1;1;8;6~\x1b\\" + gfx("a=d,d=A", ""), "# @0,0 1"},
	} {
		term := newTest(t, 10, 4, c.input)
		if got := picture(term); got != c.want {
			t.Errorf("%s: %q gives\n\t%q, want\n\t%q", c.name, c.input, got, c.want)
		}
		if what := broken(term); what != "" {
			t.Errorf("%s: %s", c.name, what)
		}
	}
}

// TestImageNumbers_SurviveRestart shows an image by its number after a restart, but not after a reset, which also ends
// an incomplete image.
//
// FEATURES: R90
func TestImageNumbers_SurviveRestart(t *testing.T) {
	const pixel, show = "f=24,s=1,v=1", "a=p,I=5,c=1,r=1"
	term := newTest(t, 10, 4, gfx("a=t,q=2,I=4,"+pixel, "AAAA")+gfx("a=t,q=2,I=5,"+pixel, "AAAA"))
	again := New(Options{})
	if err := again.Restore(term.AppendSnapshot(nil)); err != nil {
		t.Fatal(err)
	}
	feed(again, gfx(show, ""))
	if got, want := picture(again), "# @0,1 2 i=1073741825,I=5;OK|"; got != want {
		t.Errorf("after a restart: %q, want %q", got, want)
	}
	feed(again, gfx("a=T,I=6,m=1,"+pixel, "AA")+"\x1bc"+gfx("m=0", "AA")+gfx(show, ""))
	if got := picture(again); strings.HasPrefix(got, "#") || strings.Contains(got, "OK") {
		t.Errorf("after a reset: %q", got)
	}
}
