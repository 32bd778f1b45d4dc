//go:build unix

package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/longterm-dev/longterm/session/api"
)

// storesFile replies as the daemon does after it stored a file.
func storesFile(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	sum := sha256.Sum256(b)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(api.StoredFile{Name: r.URL.Query().Get("name"), Size: int64(len(b)), SHA256: hex.EncodeToString(sum[:])})
}

// FEATURES: R136
func TestPutFile(t *testing.T) {
	t.Parallel()
	info := replyOf("")
	for name, c := range map[string]struct {
		size    int64
		content io.Reader
		answer  http.HandlerFunc
		want    string
	}{
		"of known size":   {3, strings.NewReader("abc"), storesFile, ""},
		"of unknown size": {-1, strings.NewReader("abc"), storesFile, ""},
		"empty":           {0, strings.NewReader(""), storesFile, ""},
		"unreadable":      {3, iotest.ErrReader(errors.New("bad disk")), storesFile, "bad disk"},
		"grown":           {3, strings.NewReader("abcdef"), storesFile, ""},
		"changed":         {3, strings.NewReader("abc"), replyOf(`{"sha256":"00"}`), "differs"},
		"refused":         {3, strings.NewReader("abc"), rejects(api.Errorf(api.CodeLimit, "too large")), "too large"},
		"cut":             {3, strings.NewReader("abc"), disconnects(""), "look whether it was done"},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := newFakeDaemon(t, info, c.answer)
			f, err := client.Session("s").PutFile(testContext(t), "f", c.size, c.content)
			if c.want == "" && (err != nil || f.Name != "f") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %+v, error %v, want %q", f, err, c.want)
			}
		})
	}
}

// TestGetFile_Incomplete_IsAnError checks that a file without its digest is incomplete.
// FEATURES: R136
func TestGetFile_Incomplete_IsAnError(t *testing.T) {
	t.Parallel()
	content := bytes.Repeat([]byte("content "), 1000)
	sum := sha256.Sum256(content)
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	sends := func(digest string, cut bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", api.DigestTrailer)
			w.Header().Set(api.FileNameHeader, "a%20b")
			w.Header().Set(api.FileModeHeader, "0755")
			_, _ = w.Write(content)
			if cut {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			w.Header().Set(api.DigestTrailer, digest)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"whole": {sends(digest, false), ""}, "without digest": {sends("", false), "incomplete"},
		"damaged": {sends("sha-256=:AAAA:", false), "damaged"}, "cut": {sends(digest, true), "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := newFakeDaemon(t, c.answer)
			f, err := client.Session("s").GetFile(testContext(t), "x")
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(f)
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || c.want == "" && (err != nil || !bytes.Equal(got, content)) {
				t.Errorf("got %d bytes, error %v, want %q", len(got), err, c.want)
			}
			if f.Name != "a b" || f.Mode != 0o755 || f.Size() != int64(len(got)) {
				t.Errorf("got name %q, mode %v, %d bytes", f.Name, f.Mode, f.Size())
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
