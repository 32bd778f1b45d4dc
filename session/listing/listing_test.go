package listing

import (
	"errors"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"github.com/longterm-dev/longterm/session/api"
)

func TestTable(t *testing.T) {
	one := 1
	list := []api.Session{
		{ID: "0123456789", Name: "a", State: "running", PID: 12, Duration: 61_000, Cwd: "/x\x1b[1m", Command: strings.Repeat("é", 70), Shell: &api.Shell{Phase: "prompt"}},
		{ID: "1", Name: "longer", State: "exited", ExitCode: &one, Duration: 500, Left: []int{3}},
		{ID: "2", Name: "c", State: "running", PID: 9, Needs: &api.Needs{Kind: "password"}},
	}
	var b strings.Builder
	if err := Table(&b, list); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"ID        NAME    STATE      TIME   PID  CWD     DOING           COMMAND\n" +
		"01234567  a       running    1m01s  12   /x\uFFFD[1m  prompt          " + strings.Repeat("é", 59) + "…\n" +
		"1         longer  exited(1)  0.5s   -            left 1 running  \n" +
		"2         c       running    0.0s   9            needs password  \n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

// A name or a title moves no cursor, and turns no row round.
func TestPrintable(t *testing.T) {
	if got := Printable("a\x1b[2Jb\u009bc\u202egnp.exe\u2066 é 你 👩‍👧"); got != "a\uFFFD[2Jb\uFFFDc\uFFFDgnp.exe\uFFFD é 你 👩‍👧" {
		t.Errorf("%q", got)
	}
}

// FAULT: H19
func TestFit_OneRowASession(t *testing.T) {
	list := []api.Session{
		{ID: "0123456789", Name: "build", State: "running", PID: 1234567, Duration: 61_000, Cwd: "/home/me/projects/longterm/session/listing", Command: strings.Repeat("make all ", 9), Shell: &api.Shell{Phase: "prompt"}},
		{ID: "9876543210", Name: "a-rather-long-name-of-a-session", State: "running", PID: 12, Duration: 500, Cwd: "/home/me", Command: "bash 你好世界你好世界"},
		{ID: "5", Name: "c", State: "running", PID: 9, Cwd: "/home/meadow", Host: "far", Command: "vim"},
	}
	for width := 1; width <= 300; width++ {
		var b strings.Builder
		if err := Fit(&b, list, width, "/home/me"); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		for _, l := range lines {
			if uniseg.StringWidth(l) > width || len(lines) != 4 {
				t.Fatalf("at %d: %q", width, l)
			}
		}
	}
	var b strings.Builder
	if err := Fit(&b, list, 80, "/home/me/"); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"ID        NAME         STATE    TIME   PID      CWD          DOING   COMMAND\n" +
		"01234567  build        running  1m01s  1234567  …on/listing  prompt  make all m…\n" +
		"98765432  a-rather-l…  running  0.5s   12       ~            -       bash 你好…\n" +
		"5         c            running  0.0s   9        …ome/meadow  -       vim\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	var wide, table strings.Builder
	if err := errors.Join(Fit(&wide, list, 0, "/home/me"), Table(&table, list)); err != nil || wide.String() != table.String() {
		t.Errorf("%s\n%v", wide.String(), err)
	}
}

// FAULT: H19
func TestWrite_AlignsAndDrops(t *testing.T) {
	columns := []Column{{Head: "N", Right: true, Wide: 4}, {Head: "PID", Drops: true}, {Head: "TEXT", Least: 6}}
	rows := [][]string{{"1", "12345", "a text that is long"}, {"20", "1", "b"}}
	for width, want := range map[int]string{
		0:  "   N  PID    TEXT\n   1  12345  a text that is long\n  20  1      b\n",
		25: "   N  PID    TEXT\n   1  12345  a text that…\n  20  1      b\n",
		14: "   N  TEXT\n   1  a text …\n  20  b\n",
	} {
		var b strings.Builder
		if err := Write(&b, columns, rows, width); err != nil || b.String() != want {
			t.Errorf("at %d: %v\n%q\n%q", width, err, b.String(), want)
		}
	}
	var b strings.Builder
	if err := Write(&b, WithoutHeads(columns), rows[1:], 0); err != nil || b.String() != "  20  1  b\n" {
		t.Errorf("%v %q", err, b.String())
	}
}
