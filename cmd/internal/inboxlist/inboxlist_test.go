//go:build unix

package inboxlist

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

// TestList_OfSeveralHosts checks that entries of several hosts form one list in the order of one, with commands for
// their hosts, and are counted by project.
//
// FEATURES: R130
func TestList_OfSeveralHosts(t *testing.T) {
	now := time.Now()
	list := []api.InboxItem{
		{ID: "I1", Kind: api.InboxMessage, State: "open", Name: "a", Cwd: "/src/site", Text: "done", Since: now.Add(-time.Hour), Do: []string{"longterm attach a"}},
		{ID: "I2", Kind: api.InboxFailed, State: "open", Name: "b", Labels: map[string]string{api.ProjectLabel: "/src/app"}, Text: "make failed", Since: now, Do: []string{"longterm why b"}},
		{ID: "I1", Kind: api.InboxQuestion, State: "open", Host: "far", Name: "c", Labels: map[string]string{"project": "app"}, Text: "asks: Go on? " + strings.Repeat("x ", 50), Since: now,
			Do: []string{"longterm inbox answer I1 y", "longterm inbox answer I1 n"}, Answers: []string{"y", "n"}},
	}
	Join(list)
	var b bytes.Buffer
	List(&b, list, listing.TableFormat{Width: 60})
	lines := strings.Split(b.String(), "\n")
	if lines[0] != "I1   question  far/c, 0.0s ago" || !strings.Contains(b.String(), "     longterm -H far inbox answer I1 y (or n)\n") {
		t.Errorf("%s", b.String())
	}
	for _, l := range lines {
		if len(l) > 60 {
			t.Errorf("%q is too wide", l)
		}
	}
	if got, want := fmt.Sprint(By(list, ByProject)), "[{app 1 1 0 I1} {site 0 0 1 I1}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
