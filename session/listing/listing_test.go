package listing

import (
	"strings"
	"testing"

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
