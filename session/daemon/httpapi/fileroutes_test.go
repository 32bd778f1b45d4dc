//go:build unix

package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/identity"
)

// fileHouse returns a house whose session own has the stored files note and key, one with a secret, and a file outside of it.
func fileHouse(t *testing.T) (h *house, outside string) {
	t.Helper()
	h = openHouse(t, everySession)
	outside = filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"note": "noted", "key": "token ghp_" + strings.Repeat("a1B2", 9)} {
		w := h.ask(t, "POST", api.Version+"/sessions/own/files?name="+name, text)
		var f api.StoredFile
		if err := json.Unmarshal(w.Body.Bytes(), &f); err != nil || f.Name != name || f.Size != int64(len(text)) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	return h, outside
}

func filePath(session, path string) string {
	return api.Version + "/sessions/" + session + "/file?path=" + url.QueryEscape(path)
}

// TestGetFile_ByCaller checks that the user copies any file; agents and tokens copy stored files without secrets.
//
// FEATURES: R136
func TestGetFile_ByCaller(t *testing.T) {
	h, outside := fileHouse(t)
	h.token(t, apitoken.Token{Name: "all", Level: "all"})
	h.token(t, apitoken.Token{Name: "looks", May: []string{"look"}})
	h.token(t, apitoken.Token{Name: "reads", Level: "read"})
	h.token(t, apitoken.Token{Name: "types", May: []string{"type"}})
	h.token(t, apitoken.Token{Name: "share-1", May: []string{"look", "type"}, Session: ownID, Page: true, Masked: true})
	stored := filepath.Join(h.files.Dir(ownID), "note")
	user, agent := []string{}, []string{identity.Header, "claude"}
	token := func(name string) []string { return []string{identity.TokenHeader, name} }
	for _, c := range []struct {
		who  []string
		path string
		want api.Code
		text string
	}{
		{user, "note", "", "noted"}, {user, stored, "", "noted"}, {user, outside, "", "outside"}, {user, "key", "", "ghp_"},
		{user, "none", api.CodeNotFound, ""}, {user, filepath.Dir(outside), api.CodeInvalid, "tar"}, {user, "/dev/null", api.CodeInvalid, "device"},
		{agent, "note", "", "noted"}, {agent, stored, "", "noted"}, {agent, "key", api.CodeDenied, "secrets"},
		{agent, outside, api.CodeDenied, "longterm exec"}, {agent, "../note", api.CodeDenied, ""}, {agent, "..", api.CodeNotFound, ""},
		{token("all"), "note", "", "noted"}, {token("all"), outside, api.CodeDenied, ""}, {token("all"), "key", "", "ghp_"},
		{token("types"), "note", "", "noted"}, {token("types"), "key", api.CodeDenied, "secrets"},
		{token("looks"), "note", api.CodeDenied, "type"}, {token("reads"), "note", api.CodeDenied, "change"},
		{token("share-1"), "note", api.CodeDenied, "guests"}, {token("share-1"), outside, api.CodeDenied, "guests"},
	} {
		w := h.ask(t, "GET", filePath("own", c.path), "", c.who...)
		if code := codeOf(t, w); code != c.want || !strings.Contains(w.Body.String(), c.text) {
			t.Errorf("%q gets %s: %d %s, want %q with %q", c.who, c.path, w.Code, w.Body, c.want, c.text)
		}
		if digest := w.Result().Trailer.Get(api.DigestTrailer); (digest == "") != (c.want != "") {
			t.Errorf("%s: trailer %q", c.path, digest)
		}
	}
	for _, name := range []string{"share-1", "looks", "reads"} {
		if w := h.ask(t, "POST", api.Version+"/sessions/own/files?name=x", "x", token(name)...); codeOf(t, w) != api.CodeDenied {
			t.Errorf("%s puts a file: %d %s", name, w.Code, w.Body)
		}
	}
	if w := h.ask(t, "GET", api.Version+"/sessions/own/files", "", token("share-1")...); codeOf(t, w) != api.CodeDenied {
		t.Errorf("a guest lists files: %d %s", w.Code, w.Body)
	}
	if w := h.ask(t, "GET", filePath("other", "note"), ""); codeOf(t, w) != api.CodeNotFound {
		t.Errorf("a file of another session: %d %s", w.Code, w.Body)
	}
}

// TestFiles_OfOwnSession_WhenCallerIsHeld checks that an agent under rules or in a sandbox uses the files of its own
// session.
//
// FEATURES: R136
func TestFiles_OfOwnSession_WhenCallerIsHeld(t *testing.T) {
	h := openHouse(t, everySession)
	own, err := h.reg.Resolve("own")
	if err != nil {
		t.Fatal(err)
	}
	for session, want := range map[string]api.Code{ownID: "", otherID: api.CodeDenied, "": api.CodeDenied} {
		c := &client{session: callerSession{agent: "claude", session: session}}
		c.once.Do(func() {})
		ctx := identity.WithActor(context.WithValue(t.Context(), callerKey{}, c), identity.Actor{Agent: "claude"})
		var e *api.Error
		if err := mayUseFiles(ctx, own); errors.As(err, &e) != (want != "") || e != nil && e.Code != want {
			t.Errorf("held in %q: %v, want %q", session, err, want)
		}
		if _, _, err := h.openFile(ctx, own, "/etc/hostname"); !errors.As(err, &e) || e.Code != api.CodeDenied {
			t.Errorf("held in %q, it opens a path: %v", session, err)
		}
	}
}
