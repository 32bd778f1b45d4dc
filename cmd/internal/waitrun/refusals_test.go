//go:build unix

package waitrun

import (
	"bytes"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// FAULT: G20
func TestRefusals_PrintedOnce(t *testing.T) {
	var out bytes.Buffer
	r := refusals{w: &out}
	for _, f := range []api.RespondFiring{
		{Rule: "1", Error: "env:PW not sent: the terminal echoes"},
		{Rule: "1", Error: "env:PW not sent: the terminal echoes"}, // in the result, too
		{Rule: "1"},
		{Rule: "1", Name: "pw", Time: time.Unix(9, 0), Error: "gone"},
	} {
		r.print(&f)
	}
	if want := "longterm: rule 1: env:PW not sent: the terminal echoes\nlongterm: rule pw: gone\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}
