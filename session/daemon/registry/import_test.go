//go:build unix

package registry

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
)

// TestNonce_ImportedWithSession checks that the nonce that a session's output hides is imported with it from host to
// host. An impossible nonce of another host is rejected.
//
// FEATURES: R94
func TestNonce_ImportedWithSession(t *testing.T) {
	t.Parallel()
	const nonce = "0123456789abcdef0123456789abcdef"
	for given, kept := range map[string]string{nonce: nonce, "": "", "a": "", "\x1b]0;x": ""} {
		id := uuid.NewString()
		rec := store.Session{ID: id, Name: "n", State: "exited", Cols: 80, Rows: 24, Created: time.Now(), Ended: time.Now()}
		b, err := json.Marshal(replicaRecord{Session: rec, Nonce: given})
		if err != nil {
			t.Fatal(err)
		}
		for hop := range 2 {
			r, _ := hosted(t, nil)
			top := filepath.Join(r.dirs.Sessions(), "coming")
			j, _, err := journal.Open(filepath.Join(top, "journal"), journal.Options{})
			if err == nil {
				err = j.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Import(t.Context(), "there", id, b, filepath.Join(top, "journal"), time.Now()); err != nil {
				t.Fatal(err)
			}
			e, err := r.Resolve(id)
			if err != nil {
				t.Fatal(err)
			}
			if b, err = r.ReplicaRecord(t.Context(), e, 1<<20); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(b), nonce); got != (kept != "") || kept == "" && strings.Contains(string(b), `"nonce"`) {
				t.Errorf("%q, hop %d: %s", given, hop, b)
			}
		}
	}
}
