package listing

import (
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"github.com/longterm-dev/longterm/session/api"
)

func TestTable(t *testing.T) {
	one := 1
	list := []api.Session{
		{ID: "0123456789", Name: "a", State: "running", PID: 12, Duration: 61_000, Cwd: "/x\x1b[1m", Command: strings.Repeat("é", 70), Shell: &api.Shell{Phase: "prompt"}},
		{ID: "1", Name: "longer", State: "exited", ExitCode: &one, Duration: 500, LeftoverPIDs: []int{3}},
		{ID: "2", Name: "c", State: "running", PID: 9, Needs: &api.InputRequest{Kind: "password"}},
	}
	var b strings.Builder
	if err := WriteSessions(&b, list, TableFormat{}, ""); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"ID        NAME    STATE      TIME   PID  CWD     DOING           COMMAND\n" +
		"01234567  a       running    1m01s  12   /x\uFFFD[1m  prompt          " + strings.Repeat("é", 59) + "…\n" +
		"1         longer  exited(1)  0.5s   -            left 1 running\n" +
		"2         c       running    0.0s   9            needs password\n"
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
}

// FEATURES: R128
func TestTable_Ports(t *testing.T) {
	port := func(n int) api.Port { return api.Port{Port: n, Address: "127.0.0.1"} }
	for want, s := range map[string]api.Session{
		":3000":             {State: "running", Ports: []api.Port{port(3000), {Port: 3000, Address: "::"}, {Unix: "/x"}}},
		"prompt :1 :2 +2":   {State: "running", Shell: &api.Shell{Phase: "prompt"}, Ports: []api.Port{port(1), port(2), port(3), port(4)}},
		"needs password":    {State: "running", Needs: &api.InputRequest{Kind: "password"}, Ports: []api.Port{port(1)}},
		"left 1 running :5": {State: "exited", LeftoverPIDs: []int{7}, Ports: []api.Port{port(5)}},
	} {
		if got := doingCell(&s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for want, p := range map[string]api.Port{
		"127.0.0.1:80 (node, pid 7)":          {Port: 80, Address: "127.0.0.1", Program: "node", PID: 7},
		"[::1]:80 (pid 7) inside its sandbox": {Port: 80, Address: "::1", PID: 7, Inside: true},
		"/run/a\uFFFDb.sock (systemd, pid 1)": {Unix: "/run/a\x1bb.sock", Program: "systemd", PID: 1},
	} {
		if got := PortText(&p); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// FEATURES: R124
func TestTable_Draft(t *testing.T) {
	n := func(n int) *int { return new(n) }
	for want, s := range map[string]api.Session{
		"draft(0)":                {State: "running", Draft: &api.DraftSummary{State: "open", Changes: n(0)}},
		"draft":                   {State: "running", Draft: &api.DraftSummary{State: "open"}},
		"-":                       {State: "exited", Draft: &api.DraftSummary{State: "ended", Changes: n(0)}},
		"left 1 running draft(3)": {State: "exited", LeftoverPIDs: []int{7}, Draft: &api.DraftSummary{State: "ended", Changes: n(3)}},
		"prompt :80 draft(2)":     {State: "running", Shell: &api.Shell{Phase: "prompt"}, Ports: []api.Port{{Port: 80}}, Draft: &api.DraftSummary{State: "open", Changes: n(2)}},
		"needs password draft(2)": {State: "running", Needs: &api.InputRequest{Kind: "password"}, Draft: &api.DraftSummary{State: "open", Changes: n(2)}},
	} {
		if got := doingCell(&s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for doing, want := range map[string]Style{"prompt draft(2)": Faint, "claude needs input draft(2)": Waiting, "prompt; error x draft": Bad, "make 2s": Plain} {
		if got := doingStyle(doing); got != want {
			t.Errorf("style %q of %q, want %q", got, doing, want)
		}
	}
}

// TestPrintable checks that control characters and direction marks of names and titles are replaced.
func TestPrintable(t *testing.T) {
	if got := Printable("a\x1b[2Jb\u009bc\u202egnp.exe\u2066 é 你 👩‍👧"); got != "a\uFFFD[2Jb\uFFFDc\uFFFDgnp.exe\uFFFD é 你 👩‍👧" {
		t.Errorf("%q", got)
	}
}

// FAULT: H19
func TestWriteSessions_OneRowEach(t *testing.T) {
	list := []api.Session{
		{ID: "0123456789", Name: "build", State: "running", PID: 1234567, Duration: 61_000, Cwd: "/home/me/projects/longterm/session/listing", Command: strings.Repeat("make all ", 9), Shell: &api.Shell{Phase: "prompt"}},
		{ID: "9876543210", Name: "a-rather-long-name-of-a-session", State: "running", PID: 12, Duration: 500, Cwd: "/home/me", Command: "bash 你好世界你好世界"},
		{ID: "5", Name: "c", State: "running", PID: 9, Cwd: "/home/meadow", Host: "far", Command: "vim"},
	}
	for width := 1; width <= 300; width++ {
		var b strings.Builder
		if err := WriteSessions(&b, list, TableFormat{Width: width, Colour: width%2 == 0}, "/home/me"); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		for _, l := range lines {
			if uniseg.StringWidth(sgr.ReplaceAllString(l, "")) > width || len(lines) != 4 {
				t.Fatalf("at %d: %q", width, l)
			}
		}
	}
	var b strings.Builder
	if err := WriteSessions(&b, list, TableFormat{Width: 80}, "/home/me/"); err != nil {
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
	b.Reset()
	if err := WriteSessions(&b, list, TableFormat{}, "/home/me"); err != nil || !strings.Contains(b.String(), "  /home/me  ") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestWriteSessions_NeedsComeFirst checks that a session that needs the user comes first on a terminal, and each cell
// has its style.
func TestWriteSessions_NeedsComeFirst(t *testing.T) {
	list := []api.Session{
		{ID: "1", Name: "a", State: "exited", ExitCode: new(1)}, {ID: "2", Name: "b", State: "running", PID: 7, Approvals: []string{"A1"}},
	}
	var b strings.Builder
	if err := WriteSessions(&b, list, TableFormat{Width: 80, Colour: true}, ""); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if !strings.HasPrefix(lines[1], "\x1b[2m2\x1b[m   \x1b[1mb\x1b[m") || !strings.Contains(lines[1], "\x1b[1;33mneeds approval A1\x1b[m") ||
		!strings.Contains(lines[2], "\x1b[31mexited(1)\x1b[m") {
		t.Errorf("%q", lines)
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// FAULT: H19
func TestWriteTable_AlignsAndDrops(t *testing.T) {
	columns := []Column{{Head: "N", AlignRight: true, MinWidth: 4}, {Head: "PID", CanDrop: true}, {Head: "TEXT", ShrinkTo: 6}}
	rows := [][]string{{"1", "12345", "a text that is long"}, {"20", "1", "b"}}
	for width, want := range map[int]string{
		0:  "   N  PID    TEXT\n   1  12345  a text that is long\n  20  1      b\n",
		25: "   N  PID    TEXT\n   1  12345  a text that…\n  20  1      b\n",
		14: "   N  TEXT\n   1  a text …\n  20  b\n",
	} {
		var b strings.Builder
		if err := WriteTable(&b, columns, rows, TableFormat{Width: width}); err != nil || b.String() != want {
			t.Errorf("at %d: %v\n%q\n%q", width, err, b.String(), want)
		}
	}
	var b strings.Builder
	if err := WriteTable(&b, WithoutHeads(columns), rows[1:], TableFormat{}); err != nil || b.String() != "  20  1  b\n" {
		t.Errorf("%v %q", err, b.String())
	}
}

// TestWriteSessions_ProgressAndLastError checks that on a terminal progress has a bar, and a failed command its first
// error. Piped, the column stays as it was.
//
// FAULT: H19
func TestWriteSessions_ProgressAndLastError(t *testing.T) {
	eta := int64(90_000)
	list := []api.Session{
		{ID: "1", Name: "a", State: "running", PID: 1, Progress: &api.Progress{State: "normal", Percent: 40}, Activity: &api.Activity{Running: true, ETAMS: &eta, Errors: 2}},
		{ID: "2", Name: "b", State: "running", PID: 1, Shell: &api.Shell{Phase: "prompt"}, Activity: &api.Activity{FirstError: &api.Problem{File: "a.go", Line: 7, Message: "undefined: x\nmore"}}},
		{ID: "3", Name: "c", State: "exited", ExitCode: new(int), Activity: &api.Activity{FirstError: &api.Problem{Message: "no space\x1b[2J"}}},
		{ID: "5", Name: "e", State: "running", PID: 1, Shell: &api.Shell{Phase: "running", Command: "make", Since: time.Now().Add(-61 * time.Second)}, Progress: &api.Progress{State: "normal", Percent: 100}},
		{ID: "4", Name: "d", State: "running", PID: 1, Shell: &api.Shell{Phase: "prompt"}, Activity: &api.Activity{}},
	}
	for width, want := range map[int][]string{
		200: {"[###-----] 40% ETA 1m30s 2 errors", "prompt; error a.go:7: undefined: x", "error no space\uFFFD[2J", "[########] 100% make 1m01s", "prompt"},
		0:   {"40% ETA 1m30s 2 errors", "prompt", "-", "make 1m01s 100%", "prompt"},
	} {
		var b strings.Builder
		if err := WriteSessions(&b, list, TableFormat{Width: width}, ""); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")[1:] {
			if !strings.HasSuffix(line, "  "+want[i]) {
				t.Errorf("at %d: %q does not end in %q", width, line, want[i])
			}
		}
	}
	if got := doingStyle("prompt; error x"); got != Bad {
		t.Errorf("style %q", got)
	}
}

// BenchmarkWriteSessions writes ten thousand sessions, in several scripts.
func BenchmarkWriteSessions(b *testing.B) {
	list := make([]api.Session, 10_000)
	for i := range list {
		list[i] = api.Session{ID: "0123456789", Name: "שלום 你好", State: "running", PID: i, Cwd: "/home/me/projects/a-long-name", Command: strings.Repeat("make ", 20)}
	}
	for b.Loop() {
		if err := WriteSessions(io.Discard, list, TableFormat{Width: 80, Colour: true}, "/home/me"); err != nil {
			b.Fatal(err)
		}
	}
}

// FEATURES: R126
func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 9949: "9.9 kB", 9960: "10 kB", 999_600: "1.0 MB", 2_500_000_000: "2.5 GB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
