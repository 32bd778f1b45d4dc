//go:build unix

package viewsource

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// TestJoinEntries checks that entries of several hosts form one list: blocked programs first, with ids and commands for
// their hosts.
//
// FEATURES: R130
func TestJoinEntries(t *testing.T) {
	at := time.Unix(1000, 0)
	m := multiHostSource{{}, {host: "build", prefix: "build"}}
	list := m.joinEntries([][]api.InboxItem{
		{{ID: "I1", Kind: api.InboxPort, Session: "s", Name: "web", Since: at, Do: []string{"longterm open web 80"}}},
		{
			{ID: "I1", Kind: api.InboxFailed, Since: at.Add(time.Second), Do: []string{"longterm why 12"}},
			{ID: "A1", Kind: api.InboxApproval, Session: "s", Name: "x", Since: at.Add(time.Minute), Answerable: true, Do: []string{"longterm inbox answer A1 once"}},
			{ID: "I2", Kind: api.InboxQuestion, Session: "s", Name: "x", Since: at, Answerable: true, Do: []string{"longterm inbox answer I2 y"}},
		},
	})
	var got []string
	for _, e := range list {
		got = append(got, fmt.Sprint(e.ID, " ", e.Session, " ", e.Name, " ", e.Answerable, " ", e.Command))
	}
	want := []string{
		"build/I2 build/s build/x true longterm -H build inbox answer I2 y", "build/A1 build/s build/x false longterm -H build inbox answer A1 once",
		"build/I1  - false longterm -H build why 12", "I1 s web false longterm open web 80",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
